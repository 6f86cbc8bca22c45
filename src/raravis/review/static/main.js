// The page: what is shown, what keys and buttons do, and what is sent.

import { Chooser } from "./chooser.js";
import { Compare } from "./compare.js";
import { Deck } from "./deck.js";
import { byId, fill, make, plural } from "./dom.js";
import { Group } from "./group.js";
import { clearCaption, movedTable, showCaption, showGroupCaption, showNotice, showNovelty, showProgress, showQueues, showRecent } from "./panel.js";
import { bars, boxOf, drawAxes, framed, image, soundUrl } from "./picture.js";
import { Player } from "./player.js";
import { Outbox, Server } from "./server.js";
import { remember, remembered, theme } from "./settings.js";

const start = JSON.parse(byId("start").textContent);
const server = new Server(start.write_token);
let state = start.state;
let reviewer = remembered("reviewer", null) ?? state.reviewer;
let others = remembered("others", true);
let notified = null;
const seenPictures = new Map();

// ---------------------------------------------------------------------- parts

const player = new Player(soundUrl);
const deck = new Deck(server, {
  query: () => ({ reviewer, others: others ? 1 : 0 }),
  warm,
  shown: showCall,
  failed: () => offlineNotice(),
});
const chooser = new Chooser({
  chosen: (found) => decide(found.kind === "new" ? "new" : "known", found.name),
  named: (name) => decide("new", name),
});
const compare = new Compare(server, { media: () => state.media });
const group = new Group(server, { listen: (call) => compare.listen(call) });
const outbox = new Outbox(server, state.title, {
  confirmed: (write, answer) => {
    take(answer.state);
    if (write.body.kind === "new") compareAnew();
  },
  refused: (write, error) => {
    notified = { kind: "error", text: `A decision was not taken: ${error.message}` };
    notice();
    if (write.path === "/api/decide" && error.status === 409) refresh({ reopen: true });
  },
  changed: () => {
    notice();
    showRecent(state, outbox?.waiting ?? [], openCall);
  },
});

// ---------------------------------------------------------------------- showing a call

function pictureOf(card) {
  if (!seenPictures.has(card.id)) {
    const found = image(card, card.run, "context", "");
    // Decoded before it is needed, so that it is there at once.
    found.ready = found.decode().catch(() => {});
    seenPictures.set(card.id, found);
    if (seenPictures.size > 24) seenPictures.delete(seenPictures.keys().next().value);
  }
  return seenPictures.get(card.id);
}

const media = () => state.media;

function warm(card) {
  if (media() !== "features") pictureOf(card);
  if (media() === "sound") fetch(soundUrl(card, player.view), { credentials: "same-origin" }).catch(() => {});
  compare.warm(card);
}

function showCall(card) {
  byId("end").hidden = card !== null;
  byId("single").hidden = card === null || group.open;
  byId("compare").hidden = byId("single").hidden;
  byId("deciding").classList.toggle("idle", card === null);
  byId("deciding").classList.toggle("many", group.open);
  for (const name of ["accept", "new", "nothing", "unsure"]) byId(name).disabled = card === null;
  for (const button of byId("classes").children) button.disabled = card === null;
  if (card === null) {
    delete document.documentElement.dataset.call;
    clearCaption();
    player.load(null, null);
    showEnd();
    return;
  }
  showCaption(card, media());
  showNovelty(card, state);
  chooser.showScores(card, state.score_range);
  byId("best").textContent = card.scores.length ? card.scores[0][0] : "Accept";
  byId("accept").disabled = !card.scores.length;
  byId("whole").hidden = !card.group;
  byId("note").value = "";
  drawPicture(card);
  compare.draw(card, () => deck.current === card);
  document.documentElement.dataset.call = card.id;
}

// A class that was just named is an example for calls that were fetched before.
function compareAnew() {
  const card = deck.current;
  compare.forget();
  if (card && !group.open) compare.draw(card, () => deck.current === card);
}

function drawPicture(card) {
  const plot = byId("plot");
  const figure = byId("figure");
  figure.className = `spectrogram ${media()}`;
  if (media() === "features") {
    fill(plot, bars(card.vector));
    player.load(null, null);
    announce(card);
    return;
  }
  const picture = pictureOf(card);
  picture.alt = media() === "sound" ? `Spectrogram of a call in ${card.recording}` : `Instance of ${card.recording}`;
  if (media() === "sound") {
    const head = make("div", { className: "head", hidden: true });
    const frame = framed(card.frames.context, boxOf(card), picture);
    frame.append(head);
    fill(plot, frame);
    drawAxes(card.frames.context, byId("times"), byId("levels"));
    player.load(card, head);
  } else {
    fill(plot, picture);
    player.load(null, null);
  }
  (picture.ready ?? Promise.resolve()).then(() => announce(card));
}

// Tells tests and measurements that a call is to be seen.
function announce(card) {
  requestAnimationFrame(() => {
    document.documentElement.dataset.shown = card.id;
    performance.mark("raravis-call", { detail: card.id });
  });
}

function showEnd() {
  const left = state.queues.find((one) => one.key === deck.queue);
  const skipped = left?.left ?? 0;
  const again = make("button", { type: "button" }, "From the beginning");
  again.addEventListener("click", () => openQueue(deck.queue));
  const words = deck.total === 0
    ? "There is nothing in this queue." : skipped
      ? `The end of this queue. ${plural(skipped, "call was", "calls were")} skipped.`
      : "All of this queue is decided.";
  fill(byId("end"), make("h2", {}, words), make("p", {}, "Choose another queue above, or go back with ←."),
    skipped && deck.total ? again : null);
}

// ---------------------------------------------------------------------- deciding

function decide(kind, name = null) {
  if (group.open) {
    decideGroup(kind, name);
    return;
  }
  const card = deck.current;
  if (!card) return;
  const note = byId("note").value.trim();
  const said = { reviewer, kind, class: name, note };
  card.mine = said;
  card.standing = card.others.length ? card.standing : "single";
  send(kind, name, note, [card.id], card.run);
  addClass(kind, name);
  if (kind === "note") {
    card.notes.push({ reviewer, note });
    card.mine = null;
    showCall(card);
  } else {
    deck.forward();
  }
}

function decideGroup(kind, name) {
  const ids = group.selected;
  if (!ids.length) {
    notified = { kind: "error", text: "No call of the group is selected; select some first." };
    notice();
    return;
  }
  send(kind, name, byId("note").value.trim(), ids, group.run);
  addClass(kind, name);
  deck.drop(ids);
  group.close();
  byId("deciding").classList.remove("many");
  byId("note").value = "";
  if (ids.includes(deck.current?.id)) deck.forward();
  else showCall(deck.current);
}

function send(kind, name, note, calls, run) {
  notified = null;
  outbox.add("/api/decide", {
    reviewer, kind, class: name, note, calls, run, queue: deck.queue, others: others ? "1" : "0",
  });
}

// A new class is offered at once, whatever the server's state.
function addClass(kind, name) {
  if (kind !== "new" || state.classes.some((found) => found.name === name)) return;
  state.classes.push({ name, kind: "new", count: 0 });
  chooser.setClasses([...state.classes]);
}

async function undo() {
  let unsent = outbox.takeBack();
  if (!unsent) {
    await outbox.flush(); // what was on its way may wait again now
    unsent = outbox.takeBack();
  }
  if (unsent) {
    if (unsent.path === "/api/decide") showAgain(unsent.body.calls);
    return;
  }
  const last = state.recent[0];
  if (!last || outbox.waiting.length) return;
  outbox.add("/api/undo", { reviewer, undoes: last.act, others: others ? "1" : "0" });
  state.recent.shift();
  if (last.first !== null) await showAgain([last.first]);
}

async function showAgain([id]) {
  const seen = deck.behind.findIndex((card) => card.id === id);
  if (seen >= 0) {
    const [card] = deck.behind.splice(seen, 1);
    card.mine = null;
    if (!card.others.length) card.standing = "open";
    deck.show(card);
  } else {
    await openCall(id);
  }
}

async function openCall(id) {
  try {
    const answer = await server.get("/api/cards", { reviewer, queue: deck.queue, call: id });
    if (group.open) group.close();
    if (answer.cards[0]) deck.show({ ...answer.cards[0], run: answer.run });
  } catch {
    offlineNotice();
  }
}

// ---------------------------------------------------------------------- state

function take(found) {
  state = found;
  chooser.setClasses([...state.classes]);
  showQueues(state, deck.queue);
  showProgress(state, deck.queue);
  showRecent(state, outbox.waiting, openCall);
  showLearning();
  if (!byId("end").hidden) showEnd();
}

async function refresh({ reopen = false } = {}) {
  try {
    const before = state.run;
    take(await server.get("/api/state", { reviewer, others: others ? 1 : 0 }));
    if (reopen || state.run !== before) await openQueue(deck.queue);
  } catch {
    offlineNotice();
  }
}

async function openQueue(queue) {
  if (group.open) group.close();
  byId("deciding").classList.remove("many");
  compare.forget();
  history.replaceState(null, "", `#${queue}`);
  // What is drawn is no longer what the keys are for, until the first call of the queue is there.
  delete document.documentElement.dataset.call;
  try {
    await deck.open(queue);
  } catch {
    offlineNotice();
  }
  showProgress(state, queue);
  showQueues(state, queue);
}

async function showGroup() {
  if (group.open) {
    group.close();
    showCall(deck.current);
    return;
  }
  if (!deck.current?.group) return;
  try {
    await group.show(deck.current.group.name, media());
    byId("compare").hidden = true;
    byId("deciding").classList.add("many");
    byId("accept").disabled = true;
    showGroupCaption(group);
    byId("audio").pause();
  } catch {
    offlineNotice();
  }
}

// ---------------------------------------------------------------------- notices

function offlineNotice() {
  outbox.failures = Math.max(1, outbox.failures);
  notice();
  clearTimeout(outbox.timer);
  outbox.timer = setTimeout(probe, 1000);
}

// Asks whether the server is back, where there is nothing to send.
async function probe() {
  try {
    const found = await server.get("/api/state", { reviewer });
    outbox.failures = 0;
    take(found);
    notice();
    if (!deck.current) await deck.forward();
    outbox.flush();
  } catch {
    outbox.failures += 1;
    outbox.timer = setTimeout(probe, 2000);
    notice();
  }
}

function notice() {
  const n = outbox?.waiting.length ?? 0;
  const kept = n ? ` ${plural(n, "decision waits", "decisions wait")} in this browser, and will be sent.` : "";
  if (outbox?.offline && outbox.why === "token") {
    showNotice("error", `The server was started with another address: open the one that it printed.${kept}`);
  } else if (outbox?.offline) {
    showNotice("offline", `The server does not answer; asking again.${kept}`);
  } else if (notified) {
    showNotice(notified.kind, notified.text);
  } else if (state.retraining.state === "running") {
    showNotice("working", learningWords());
  } else {
    showNotice(null);
  }
}

// ---------------------------------------------------------------------- learning

let watching = null;

function learningWords() {
  const found = state.retraining;
  const share = found.total ? ` ${found.done} of ${found.total}` : "";
  return `Learning from all decisions: ${found.stage}${share}. Go on meanwhile.`;
}

function showLearning() {
  const found = state.retraining;
  byId("learn").hidden = found.state === "none";
  byId("learn").disabled = found.state === "running";
  notice();
  if (found.state === "running") {
    watching = found.state;
    clearTimeout(showLearning.timer);
    showLearning.timer = setTimeout(() => refresh(), 700);
  } else if (watching) {
    watching = null;
    if (found.state === "failed") {
      notified = { kind: "error", text: `Nothing was learned: ${found.error}` };
      notice();
    } else {
      fill(byId("moves"), ...movedTable(found));
      byId("moved").showModal();
    }
  }
}

async function learn() {
  await outbox.flush();
  try {
    await server.post("/api/retrain", {});
    watching = "running";
    await refresh();
  } catch (error) {
    notified = { kind: "error", text: `Nothing was learned: ${error.message}` };
    notice();
  }
}

// ---------------------------------------------------------------------- keys

const KEYS = {
  Enter: () => accept(),
  ArrowRight: () => deck.forward(),
  ArrowDown: () => deck.forward(),
  ArrowLeft: () => deck.back().catch(offlineNotice),
  ArrowUp: () => deck.back().catch(offlineNotice),
  " ": () => player.toggle(),
  "/": () => chooser.open(),
  "?": () => byId("keys").showModal(),
  n: () => chooser.open({ naming: true }),
  x: () => decide("not_target"),
  u: () => decide("uncertain"),
  z: () => undo(),
  m: () => byId("note").focus(),
  v: () => player.toggleView(),
  s: () => player.toggleSpeed(),
  g: () => showGroup(),
};

function accept() {
  if (group.open) return; // what the model thinks of one call is not meant for all
  const best = deck.current?.scores[0]?.[0];
  if (best !== undefined) decide("known", best);
}

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]") || event.altKey || event.metaKey) return;
  const target = event.target;
  if (target.matches("input:not([type=checkbox]), select, textarea")) return;
  if (event.ctrlKey && event.key !== "z") return;
  // A button in the focus answers to Enter and Space itself.
  if (target.matches("button, a") && (event.key === "Enter" || event.key === " ")) return;
  if (group.open && event.key.startsWith("Arrow")) {
    group.move(event.key);
    event.preventDefault();
    return;
  }
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (/^[1-9]$/.test(key)) chooser.byNumber(Number(key));
  else if (KEYS[key]) KEYS[key]();
  else return;
  event.preventDefault();
});

const clicks = {
  accept,
  new: () => chooser.open({ naming: true }),
  nothing: () => decide("not_target"),
  unsure: () => decide("uncertain"),
  undo,
  next: () => deck.forward(),
  previous: () => deck.back().catch(offlineNotice),
  whole: showGroup,
  back: showGroup,
  learn,
  help: () => byId("keys").showModal(),
  more: () => byId("exports").showModal(),
  theme: () => {
    remember("theme", theme() === "dark" ? "light" : "dark");
    applyTheme();
  },
  fresh: () => openQueue(deck.queue),
};
for (const [id, act] of Object.entries(clicks)) {
  byId(id).addEventListener("click", (event) => {
    act();
    // The keys are for the call again, unless a field took the focus.
    if (event.detail > 0 && document.activeElement === event.currentTarget) event.currentTarget.blur();
  });
}
byId("classes").addEventListener("click", (event) => event.detail > 0 && document.activeElement.blur());

byId("note").addEventListener("keydown", (event) => {
  if (event.key === "Escape") byId("note").blur();
  if (event.key !== "Enter") return;
  event.preventDefault();
  byId("note").blur();
  if (byId("note").value.trim()) decide("note");
});
byId("queue").addEventListener("change", (event) => {
  openQueue(event.target.value);
  event.target.blur();
});
byId("reviewer").addEventListener("change", (event) => {
  reviewer = event.target.value.trim() || start.state.reviewer;
  event.target.value = reviewer;
  remember("reviewer", reviewer);
  refresh({ reopen: true });
});
byId("reviewer").addEventListener("keydown", (event) => {
  if (event.key === "Enter" || event.key === "Escape") event.target.blur();
});
byId("autoplay").addEventListener("change", (event) => player.setAutoplay(event.target.checked));
byId("others").addEventListener("change", (event) => {
  others = event.target.checked;
  remember("others", others);
  refresh({ reopen: true });
});
addEventListener("beforeunload", (event) => {
  if (outbox.waiting.length) event.preventDefault();
});

function applyTheme() {
  document.documentElement.dataset.theme = theme();
  seenPictures.clear();
  if (deck.current && !group.open) showCall(deck.current);
}

// ---------------------------------------------------------------------- begin

async function begin() {
  document.documentElement.dataset.theme = theme();
  byId("reviewer").value = reviewer;
  byId("autoplay").checked = player.autoplay;
  byId("others").checked = others;
  const wanted = location.hash.slice(1);
  const queue = state.queues.some((one) => one.key === wanted) ? wanted : "novel";
  deck.reset(queue);
  // What came with the page is what is asked for, unless somebody else sits here.
  if (queue === "novel" && reviewer === state.reviewer && others) deck.take(start.first);
  take(state);
  if (reviewer !== state.reviewer || !others) refresh();
  await deck.forward({ keep: false });
  showProgress(state, queue);
  outbox.flush();
}

begin();
