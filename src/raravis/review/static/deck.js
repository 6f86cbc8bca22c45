// The calls of a queue: the one that is shown, those behind it and those to come, fetched ahead.

const AHEAD = 8;
const REFILL = 5;
const WARM = 3;

export class Deck {
  constructor(server, { query, warm, shown, failed }) {
    this.server = server;
    this.query = query;
    this.tell = { warm, shown, failed };
    this.reset("novel");
  }

  reset(queue) {
    this.queue = queue;
    this.total = 0;
    this.run = null;
    this.current = null;
    this.behind = [];
    this.ahead = [];
    this.after = 0; // the place that further calls are asked from
    this.complete = false;
    this.filling = null;
    this.generation = (this.generation ?? 0) + 1;
  }

  // Takes in calls that the server has sent.
  take(answer) {
    this.run = answer.run;
    this.total = answer.total;
    const known = new Set([...this.ahead, ...this.behind, this.current].map((card) => card?.id));
    for (const card of answer.cards) {
      this.after = Math.max(this.after, card.place + 1);
      if (!known.has(card.id)) this.ahead.push({ ...card, run: answer.run });
    }
    if (!answer.cards.length) this.complete = true;
    this.#warm();
  }

  async open(queue) {
    this.reset(queue);
    const generation = this.generation;
    await this.fill();
    // Opened anew in the meantime: the later one shows the first call, not both of them two.
    if (generation !== this.generation) return null;
    return this.forward({ keep: false });
  }

  async fill() {
    if (this.complete || this.ahead.length >= REFILL) return;
    const generation = this.generation;
    this.filling ??= this.server
      .get("/api/cards", { ...this.query(), queue: this.queue, start: this.after, n: AHEAD })
      .then((answer) => {
        if (generation === this.generation) this.take(answer);
      })
      .finally(() => {
        if (generation === this.generation) this.filling = null;
      });
    await this.filling;
  }

  // Shows the next call; the present one stays within reach if it is to be kept.
  async forward({ keep = true } = {}) {
    if (this.current && keep) this.behind.push(this.current);
    this.current = null;
    if (!this.ahead.length) {
      try {
        await this.fill();
      } catch (error) {
        this.tell.failed(error);
        return null;
      }
    }
    this.current = this.ahead.shift() ?? null;
    this.tell.shown(this.current);
    this.#warm();
    this.fill().catch(() => {}); // tried again when it is needed
    return this.current;
  }

  async back() {
    let card = this.behind.pop() ?? null;
    if (!card && this.current && this.current.place > 0) {
      const query = { ...this.query(), queue: this.queue, step: -1, n: 1, every: 1 };
      const answer = await this.server.get("/api/cards", { ...query, start: this.current.place - 1 });
      card = answer.cards[0] ? { ...answer.cards[0], run: answer.run } : null;
    }
    if (card) this.show(card);
    return card;
  }

  // Shows a call that was seen before; the present one comes next.
  show(card) {
    if (this.current) this.ahead.unshift(this.current);
    this.current = card;
    this.tell.shown(card);
  }

  drop(ids) {
    const gone = new Set(ids);
    this.ahead = this.ahead.filter((card) => !gone.has(card.id));
  }

  #warm() {
    for (const card of this.ahead.slice(0, WARM)) this.tell.warm(card);
  }
}
