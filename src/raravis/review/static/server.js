// Talks to the server, and keeps decisions until it has confirmed them.

import { remember, remembered } from "./settings.js";

const WAITS_MS = [500, 1000, 2000, 4000, 8000];

export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export class Server {
  constructor(writeToken) {
    this.writeToken = writeToken;
  }

  async get(path, query) {
    const text = new URLSearchParams(query).toString();
    return this.#answer(await fetch(`${path}?${text}`, { credentials: "same-origin" }));
  }

  async post(path, body) {
    const answer = await fetch(path, {
      method: "POST",
      credentials: "same-origin",
      headers: { "content-type": "application/json", "x-raravis-review": this.writeToken },
      body: JSON.stringify(body),
    });
    return this.#answer(answer);
  }

  async #answer(answer) {
    const text = await answer.text();
    if (!answer.ok) {
      let message = text.trim();
      try {
        message = JSON.parse(text).error;
      } catch {
        // plain text it is
      }
      throw new Refused(message, answer.status);
    }
    return JSON.parse(text);
  }
}

// Sends writes one after the other, in order, and again until the server answers. Every write has
// a ticket, so that one that arrived although its answer was lost is not carried out twice.
export class Outbox {
  constructor(server, study, { confirmed, refused, changed }) {
    this.server = server;
    this.name = `outbox:${study}`;
    this.tell = { confirmed, refused, changed };
    this.waiting = remembered(this.name, []);
    this.failures = 0;
    this.sending = false;
    this.timer = null;
  }

  get offline() {
    return this.failures > 0;
  }

  add(path, body) {
    const write = { path, body: { ...body, ticket: crypto.randomUUID() } };
    this.waiting.push(write);
    this.#keep();
    this.flush();
    return write.body.ticket;
  }

  // Takes back the last decision if it has not been sent; says whether it could.
  takeBack() {
    const last = this.waiting.length - 1;
    if (last < 0 || (last === 0 && this.sending)) return null;
    const [write] = this.waiting.splice(last, 1);
    this.#keep();
    return write;
  }

  // Ends when all is sent, or when it has turned out that the server does not answer.
  flush() {
    if (!this.sending) {
      this.sending = true;
      this.ongoing = this.#flush();
    }
    return this.ongoing;
  }

  async #flush() {
    clearTimeout(this.timer);
    try {
      while (this.waiting.length) await this.#send(this.waiting[0]);
      if (this.failures) {
        this.failures = 0;
        this.tell.changed();
      }
    } catch {
      const wait = WAITS_MS[Math.min(this.failures, WAITS_MS.length - 1)];
      this.failures += 1;
      this.timer = setTimeout(() => this.flush(), wait);
      this.tell.changed();
    } finally {
      this.sending = false;
    }
  }

  async #send(write) {
    let answer;
    try {
      answer = await this.server.post(write.path, write.body);
    } catch (error) {
      // 403: another token. The decision waits for the page to be opened with the right one.
      const final = error instanceof Refused && error.status !== 403 && error.status < 500;
      if (!final) {
        this.why = error instanceof Refused && error.status === 403 ? "token" : "silence";
        throw error;
      }
      this.waiting.shift();
      this.#keep();
      this.tell.refused(write, error);
      return;
    }
    this.waiting.shift();
    this.#keep();
    this.tell.confirmed(write, answer);
  }

  #keep() {
    remember(this.name, this.waiting);
    this.tell.changed();
  }
}
