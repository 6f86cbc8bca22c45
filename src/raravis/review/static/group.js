// All calls of a candidate class side by side: those that are selected are decided on at once.

import { byId, fill, make, plural } from "./dom.js";
import { bars, image } from "./picture.js";

export class Group {
  constructor(server, { listen }) {
    this.server = server;
    this.listen = listen;
    this.open = false;
    byId("all").addEventListener("click", () => this.#select(() => true));
    byId("none").addEventListener("click", () => this.#select(() => false));
  }

  async show(name, media) {
    const answer = await this.server.get("/api/group", { name });
    this.name = name;
    this.run = answer.run;
    this.tiles = answer.calls.map((call) => this.#tile(call, media));
    fill(byId("members"), ...this.tiles.map((tile) => tile.button));
    this.open = true;
    byId("single").hidden = true;
    byId("group").hidden = false;
    // What somebody has decided on is left alone, unless it is selected by hand.
    this.#select((tile) => tile.call.standing === "open");
    this.tiles[0]?.button.focus();
  }

  close() {
    this.open = false;
    byId("group").hidden = true;
    byId("single").hidden = false;
  }

  // The focus goes from tile to tile as the arrows point.
  move(key) {
    const places = this.tiles.map((tile) => tile.button);
    const at = places.indexOf(document.activeElement);
    const across = Math.max(1, places.filter((one) => one.offsetTop === places[0].offsetTop).length);
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across }[key];
    places[Math.min(places.length - 1, Math.max(0, at + by))]?.focus();
  }

  get selected() {
    return this.tiles.filter((tile) => tile.on).map((tile) => tile.call.id);
  }

  #tile(call, media) {
    const told = call.standing === "open" ? "" : ", decided";
    const name = `${call.recording}, ${call.begin_s.toFixed(1)} s${told}`;
    const seen = media === "features" ? bars(call.vector) : image(call, this.run, "near", "");
    seen.loading = "lazy";
    const button = make(
      "button",
      { type: "button", className: "member", "aria-label": name, title: name },
      seen,
      make("span", { className: "tick", "aria-hidden": "true" }),
    );
    if (call.standing !== "open") button.classList.add("decided");
    const tile = { call, button, on: false };
    button.addEventListener("click", () => this.#toggle(tile));
    button.addEventListener("focus", () => this.listen({ ...call, run: this.run }));
    return tile;
  }

  #toggle(tile) {
    tile.on = !tile.on;
    this.#draw();
  }

  #select(rule) {
    for (const tile of this.tiles) tile.on = rule(tile);
    this.#draw();
  }

  #draw() {
    for (const tile of this.tiles) tile.button.setAttribute("aria-pressed", String(tile.on));
    const n = this.selected.length;
    const text = `${n} of ${plural(this.tiles.length, "call", "calls")} selected; a decision is for all of them.`;
    byId("selected").textContent = text;
  }
}
