// The words and figures around a call: where it is from, how novel, what others said, how far it is.

import { byId, fill, make, place, plural, seconds, verdictText } from "./dom.js";

const STANDINGS = {
  single: "decided",
  agreed: "reviewers agree",
  conflict: "reviewers differ",
  uncertain: "uncertain",
};

export function showCaption(card, media) {
  caption().hidden = false;
  byId("recording").textContent = card.recording;
  byId("where").textContent = media === "sound" ? where(card) : `number ${card.begin_s + 1} in its bag`;
  const badges = [];
  if (card.group) {
    badges.push(make("span", { className: "badge" },
      `${card.group.name}: ${card.group.place + 1} of ${card.group.size}`));
  }
  badges.push(make("span", { className: `badge ${card.label === "novel" ? "novel" : ""}` },
    card.label === "novel" ? "model: novel" : `model: ${card.label}`));
  if (card.standing !== "open") {
    badges.push(make("span", { className: `badge ${card.standing}` }, STANDINGS[card.standing]));
  }
  if (card.mine) badges.push(make("span", { className: "badge said" }, `you: ${verdictText(card.mine)}`));
  for (const said of card.others) {
    badges.push(make("span", { className: "badge said" }, `${said.reviewer}: ${verdictText(said)}`));
  }
  fill(byId("badges"), ...badges);
  fill(byId("notes"), ...card.notes.map((n) => make("li", {}, `${n.reviewer}: ${n.note}`)));
}

const caption = () => byId("recording").parentElement;

export function clearCaption() {
  caption().hidden = true;
  for (const name of ["recording", "where", "novelty", "listed"]) byId(name).textContent = "";
  fill(byId("badges"));
  fill(byId("notes"));
}

// A decision on a group is for all of it: what the model says of one of its calls would mislead.
export function showGroupCaption(group) {
  const recordings = new Set(group.tiles.map((tile) => tile.call.recording));
  byId("recording").textContent = group.name;
  byId("where").textContent = `${plural(group.tiles.length, "call", "calls")} in ` +
    plural(recordings.size, "recording", "recordings");
  fill(byId("badges"));
  fill(byId("notes"));
}

function where(card) {
  const parts = [`${seconds(card.begin_s)} to ${seconds(card.end_s)}`];
  if (card.low_hz !== null && card.high_hz !== null) {
    parts.push(`${(card.low_hz / 1000).toFixed(1)} to ${(card.high_hz / 1000).toFixed(1)} kHz`);
  }
  return parts.join(" · ");
}

export function showNovelty(card, state) {
  const [low, high] = state.novelty_range;
  const at = (value) => `${100 * Math.min(1, Math.max(0, (value - low) / (high - low || 1)))}%`;
  place(byId("needle"), { left: at(card.novelty ?? low) });
  place(byId("threshold"), { left: at(state.threshold ?? low) });
  byId("novelty").textContent = card.novelty === null
    ? "unknown" : `${card.novelty.toFixed(2)}, ${card.label === "novel" ? "novel" : "known"}`;
  const listed = byId("listed");
  if (card.listed === null) listed.textContent = "Nobody has listed what is in this recording.";
  else if (!card.listed.length) listed.textContent = "Listed for this recording: none of the classes.";
  else {
    fill(listed, "Listed for this recording: ",
      ...card.listed.map((name) => make("span", { className: "chip" }, name)));
  }
}

export function showProgress(state, queue) {
  const found = state.queues.find((one) => one.key === queue);
  if (!found) return;
  const done = found.total - found.left;
  const settled = queue === "conflicts" || queue === "decided";
  byId("bar").max = Math.max(1, found.total);
  byId("bar").value = settled ? found.total : done;
  byId("progress").textContent = settled
    ? plural(found.total, "call", "calls")
    : `${done.toLocaleString("en")} of ${found.total.toLocaleString("en")}`;
  byId("why").textContent = queue === "control" ? controlWords(state.control) : found.why;
  const counts = state.counts;
  const parts = [`${counts.decided.toLocaleString("en")} decided`];
  if (counts.conflicts) parts.push(plural(counts.conflicts, "conflict", "conflicts"));
  if (state.pace) parts.push(`${state.pace}/min`);
  byId("counts").textContent = parts.join(" · ");
  byId("counts").title = "decided in all queues, by all reviewers; your pace";
}

// What the decided part of the control sample implies for all calls.
function controlWords(found) {
  if (!found.n_decided) {
    return "Drawn at random and never learned from: it says how far the model can be trusted.";
  }
  const share = (one) => `${Math.round((100 * one.hits) / one.n)}% ` +
    `(${Math.round(100 * one.low)} to ${Math.round(100 * one.high)}%)`;
  const parts = [`${found.n_decided} of ${found.n_sample} settled.`];
  if (found.precision.n) parts.push(`Precision: ${share(found.precision)} of what is called novel is of no known class.`);
  if (found.recall.n) parts.push(`Recall: ${share(found.recall)} of the calls of new classes are called novel.`);
  if (found.labels.n) parts.push(`${share(found.labels)} of the labels are right.`);
  return parts.join(" ");
}

export function showQueues(state, current) {
  const select = byId("queue");
  const option = (one) => make("option", { value: one.key, selected: one.key === current },
    `${one.title} (${one.left.toLocaleString("en")})`);
  const queues = state.queues.filter((one) => one.about === "queue");
  const classes = state.queues.filter((one) => one.about === "class");
  const weakest = make("optgroup", { label: "Weakest of a class" });
  weakest.append(...classes.map(option));
  fill(select, ...queues.map(option), classes.length ? weakest : null);
  select.value = current;
}

export function showRecent(state, pending, onOpen) {
  const waiting = pending.filter((write) => write.path === "/api/decide").map((write) => {
    const n = write.body.calls.length;
    const text = `${verdictText({ kind: write.body.kind, class: write.body.class })}${n > 1 ? ` × ${n}` : ""}`;
    return make("li", { className: "waiting" }, `${text} (not saved yet)`);
  }).reverse();
  const made = state.recent.map((act) => {
    const text = `${verdictText(act)}${act.n > 1 ? ` × ${act.n}` : ""}`;
    const note = act.note ? make("span", { className: "soft" }, ` ${act.note}`) : null;
    if (act.first === null) return make("li", {}, text, note);
    const button = make("button", { type: "button", className: "link" }, text);
    button.addEventListener("click", () => onOpen(act.first));
    return make("li", {}, button, note);
  });
  fill(byId("recent"), ...waiting, ...made);
  byId("undo").disabled = !waiting.length && !state.recent.length;
}

export function showNotice(kind, ...content) {
  const notice = byId("notice");
  notice.hidden = kind === null;
  notice.className = `notice ${kind ?? ""}`;
  fill(notice, ...content);
}

export function movedTable(found) {
  const rows = found.moves.map(([from, to, n]) => make("tr", {},
    make("td", {}, from), make("td", {}, to),
    make("td", { className: "number" }, n.toLocaleString("en"))));
  const share = found.n_calls ? (100 * found.n_changed) / found.n_calls : 0;
  const words = make("p", {}, `${found.n_changed.toLocaleString("en")} of ` +
    `${plural(found.n_calls, "call", "calls")} (${share.toFixed(1)}%) changed what the model takes ` +
    `them for. Novel calls: ${found.novel_before.toLocaleString("en")} before, ` +
    `${found.novel_after.toLocaleString("en")} now. It took ${found.seconds} s.`);
  const fresh = found.new_classes.length
    ? make("p", {}, `New among the known classes: ${found.new_classes.join(", ")}.`) : null;
  const head = make("tr", {}, make("th", { scope: "col" }, "was"), make("th", { scope: "col" }, "is"),
    make("th", { scope: "col", className: "number" }, "calls"));
  const table = rows.length ? make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)) : null;
  return [words, fresh, table];
}
