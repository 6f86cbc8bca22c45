// Known examples beside a call: fetched ahead, shown as tiles, heard by a click.

import { byId, fill, make } from "./dom.js";
import { bars, framed, image, soundUrl } from "./picture.js";

const MOST_KEPT = 60;

export class Compare {
  constructor(server, { media }) {
    this.server = server;
    this.media = media;
    this.seen = new Map();
    this.sound = new Audio();
  }

  forget() {
    this.seen.clear();
  }

  warm(card) {
    this.#ask(card).catch(() => {});
  }

  #ask(card) {
    if (!this.seen.has(card.id)) {
      const asked = this.server.get("/api/examples", { run: card.run, id: card.id });
      asked.then(
        (found) => found.forEach((one) => this.media() !== "features" && image(one, card.run, "near", "")),
        () => this.seen.delete(card.id),
      );
      this.seen.set(card.id, asked);
      if (this.seen.size > MOST_KEPT) this.seen.delete(this.seen.keys().next().value);
    }
    return this.seen.get(card.id);
  }

  async draw(card, current) {
    let found = [];
    try {
      found = await this.#ask(card);
    } catch {
      // the offline notice says so
    }
    if (!current()) return;
    fill(byId("examples"), ...found.map((one) => this.#tile(card, one)));
    byId("examples-title").textContent = found.length
      ? "Nearest known examples" : "There are no known examples yet";
  }

  #tile(card, one) {
    const media = this.media();
    const seen = media === "features" ? bars(one.vector, card.vector) : image(one, card.run, "near", "");
    const picture = media === "sound" ? framed(one.frames.near, one.box, seen) : seen;
    const told = one.confirmed ? "decided" : "model";
    const caption = make("span", { className: "caption" }, make("b", {}, one.class), " ",
      make("span", { className: "soft" }, told));
    const button = make("button", { type: "button", className: "tile", title: one.recording },
      picture, caption);
    button.addEventListener("click", () => this.listen({ ...one, run: card.run }));
    return button;
  }

  listen(call) {
    if (this.media() !== "sound") return;
    if (!byId("audio").paused) byId("audio").pause();
    this.sound.src = soundUrl(call, "near");
    this.sound.play().catch(() => {});
  }
}
