// The classes with their scores, and the field in which one is searched or a new one named.

import { byId, fill, kbd, make, place } from "./dom.js";

const MOST_MATCHES = 8;

export class Chooser {
  constructor({ chosen, named }) {
    this.tell = { chosen, named };
    this.classes = [];
    this.matches = [];
    this.at = 0;
    this.naming = false;
    this.input = byId("search");
    this.list = byId("matches");
    this.input.addEventListener("input", () => this.#search());
    this.input.addEventListener("focus", () => this.#search());
    this.input.addEventListener("blur", () => this.#close());
    this.input.addEventListener("keydown", (event) => this.#key(event));
  }

  setClasses(classes) {
    const same = classes.length === this.classes.length &&
      classes.every((found, k) => found.name === this.classes[k].name);
    this.classes = classes;
    if (!same) this.#build();
    this.rows?.forEach((row, k) => {
      row.count.textContent = classes[k].count ? classes[k].count.toLocaleString("en") : "";
    });
  }

  #build() {
    this.rows = this.classes.map((found, k) => {
      const bar = make("i", { className: "score" });
      const count = make("span", { className: "count", title: "calls decided" });
      const key = k < 9 ? kbd(String(k + 1)) : make("kbd", { className: "none", "aria-hidden": "true" });
      const name = make("span", { className: "name" }, found.name);
      const button = make("button", { type: "button", className: "class" }, bar, key, name, count);
      if (found.kind === "new") button.classList.add("new");
      button.addEventListener("click", () => this.choose(found));
      return { name: found.name, button, bar, count };
    });
    fill(byId("classes"), ...this.rows.map((row) => row.button));
  }

  // Shows what the model says of a call, and what was decided on it.
  showScores(card, [low, high]) {
    const scores = new Map(card?.scores ?? []);
    const best = card?.scores[0]?.[0];
    const mine = card?.mine?.class ?? null;
    for (const row of this.rows ?? []) {
      const score = scores.get(row.name);
      const share = score === undefined || score === null ? 0 : (score - low) / (high - low);
      place(row.bar, { width: `${100 * Math.min(1, Math.max(0, share))}%` });
      row.button.classList.toggle("best", row.name === best);
      row.button.setAttribute("aria-pressed", String(row.name === mine));
      row.button.title = score === undefined || score === null ? "" : `score ${score}`;
    }
  }

  byNumber(number) {
    const found = this.classes[number - 1];
    if (found) this.choose(found);
  }

  choose(found) {
    this.input.value = "";
    this.#close();
    this.tell.chosen(found);
  }

  open({ naming = false } = {}) {
    this.naming = naming;
    this.input.placeholder = naming ? "Name the new class" : "Type a class";
    this.input.focus();
    this.#search();
  }

  #search() {
    const text = this.input.value.trim();
    const folded = text.toLocaleLowerCase();
    const found = text === "" ? [] : this.classes.filter((c) => c.name.toLocaleLowerCase().includes(folded));
    found.sort((one, other) => rank(one.name, folded) - rank(other.name, folded));
    this.matches = found.slice(0, MOST_MATCHES).map((c) => ({ label: c.name, found: c }));
    const exact = this.classes.some((c) => c.name === text);
    if (text !== "" && !exact) {
      const fresh = { label: `New class: ${text}`, fresh: text };
      if (this.naming) this.matches.unshift(fresh);
      else this.matches.push(fresh);
    }
    this.at = 0;
    this.#draw();
  }

  #draw() {
    const open = this.matches.length > 0 && document.activeElement === this.input;
    this.list.hidden = !open;
    this.input.setAttribute("aria-expanded", String(open));
    fill(
      this.list,
      ...this.matches.map((match, k) => {
        const row = make("li", {
          id: `match-${k}`,
          role: "option",
          "aria-selected": String(k === this.at),
          className: match.fresh ? "fresh" : "",
        }, match.label);
        row.addEventListener("pointerdown", (event) => {
          event.preventDefault(); // the field keeps the focus until the choice is made
          this.#take(match);
        });
        return row;
      }),
    );
    if (open) this.input.setAttribute("aria-activedescendant", `match-${this.at}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  #take(match) {
    this.input.value = "";
    this.input.blur();
    if (match.fresh) this.tell.named(match.fresh);
    else this.choose(match.found);
  }

  #close() {
    this.list.hidden = true;
    this.naming = false;
    this.input.placeholder = "Type a class";
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  #key(event) {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move && this.matches.length) {
      this.at = (this.at + move + this.matches.length) % this.matches.length;
      this.#draw();
      event.preventDefault();
    } else if (event.key === "Enter") {
      event.preventDefault();
      const match = this.matches[this.at];
      if (match) this.#take(match);
    } else if (event.key === "Escape") {
      this.input.value = "";
      this.input.blur();
    }
  }
}

// Names that begin with what was typed come before those that hold it.
function rank(name, folded) {
  const text = name.toLocaleLowerCase();
  if (text === folded) return 0;
  return text.startsWith(folded) ? 1 : 2;
}
