// Plays a call in a loop, and shows on the picture where it is.

import { byId, place } from "./dom.js";
import { remember, remembered } from "./settings.js";

export class Player {
  constructor(sourceOf) {
    this.sourceOf = sourceOf;
    this.audio = byId("audio");
    this.card = null;
    this.view = "context";
    this.head = null;
    this.autoplay = remembered("autoplay", true);
    byId("play").addEventListener("click", () => this.toggle());
    byId("view").addEventListener("click", () => this.toggleView());
    byId("slow").addEventListener("click", () => this.toggleSpeed());
    for (const event of ["play", "pause", "error"]) {
      this.audio.addEventListener(event, () => this.#showState());
    }
  }

  setAutoplay(on) {
    this.autoplay = on;
    remember("autoplay", on);
  }

  load(card, head) {
    this.card = card;
    this.head = head;
    this.audio.pause();
    const frame = card?.frames[this.view];
    byId("player").classList.toggle("silent", !frame);
    for (const name of ["play", "view", "slow"]) byId(name).disabled = !frame;
    if (!frame) {
      this.audio.removeAttribute("src");
      return;
    }
    this.audio.src = this.sourceOf(card, this.view);
    this.audio.playbackRate = this.slow ? 0.5 : 1;
    if (this.autoplay) this.start();
    this.#moveHead();
  }

  // A browser may want a key or a click before the first sound; then there is none until then.
  start() {
    this.audio.play().catch(() => this.#showState());
  }

  toggle() {
    if (!this.card) return;
    if (this.audio.paused) this.start();
    else this.audio.pause();
  }

  toggleView() {
    this.view = this.view === "context" ? "near" : "context";
    byId("view").setAttribute("aria-pressed", String(this.view === "near"));
    if (this.card) {
      const playing = !this.audio.paused;
      this.audio.src = this.sourceOf(this.card, this.view);
      this.audio.playbackRate = this.slow ? 0.5 : 1;
      if (playing || this.autoplay) this.start();
    }
  }

  toggleSpeed() {
    this.slow = !this.slow;
    byId("slow").setAttribute("aria-pressed", String(this.slow));
    this.audio.playbackRate = this.slow ? 0.5 : 1;
  }

  #showState() {
    const playing = !this.audio.paused;
    const button = byId("play");
    button.setAttribute("aria-pressed", String(playing));
    button.querySelector(".text").textContent = playing ? "Pause" : "Play";
    if (playing) requestAnimationFrame(() => this.#moveHead());
  }

  #moveHead() {
    const frames = this.card?.frames;
    if (!this.head || !frames?.context) return;
    const [begin, end] = frames.context;
    const at = frames[this.view][0] + this.audio.currentTime;
    place(this.head, { left: `${(100 * (at - begin)) / (end - begin)}%` });
    this.head.hidden = this.audio.paused && this.audio.currentTime === 0;
    if (!this.audio.paused) requestAnimationFrame(() => this.#moveHead());
  }
}
