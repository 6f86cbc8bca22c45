// What there is to see of a call: a spectrogram with its box, a picture, or its features as bars.

import { fill, make, makeSvg, place } from "./dom.js";
import { theme } from "./settings.js";

export function pictureUrl(card, run, view) {
  const query = new URLSearchParams({ run, view, colours: theme() });
  return `/picture/${card.id}?${query}`;
}

export function soundUrl(card, view) {
  return `/sound/${card.id}?${new URLSearchParams({ run: card.run, view })}`;
}

export function bars(vector, other) {
  const n = Math.max(1, vector.length);
  const svg = makeSvg("svg", {
    class: "bars",
    viewBox: `0 0 ${n} 1`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": `${n} features, each from its least to its greatest value`,
  });
  vector.forEach((value, k) => {
    const height = Math.max(value, 0.004);
    svg.append(makeSvg("rect", { x: k + 0.1, y: 1 - height, width: 0.8, height }));
  });
  for (const [k, value] of (other ?? []).entries()) {
    svg.append(makeSvg("path", { d: `M${k} ${1 - value}h1`, class: "other" }));
  }
  return svg;
}

// Where a box stands within a frame, in parts of a hundred.
function boxStyle(box, frame) {
  const [begin, end, low, high] = box;
  const [first, last, bottom, top] = frame;
  const x = (value) => (100 * (value - first)) / (last - first);
  const y = (value) => (100 * (top - value)) / (top - bottom);
  const left = Math.max(0, x(begin));
  const upper = high === null ? 0 : Math.max(0, y(high));
  const lower = low === null ? 100 : Math.min(100, y(low));
  return {
    left: `${left}%`,
    width: `${Math.max(0.4, Math.min(100, x(end)) - left)}%`,
    top: `${upper}%`,
    height: `${Math.max(0.8, lower - upper)}%`,
  };
}

export function boxOf(card) {
  return [card.begin_s, card.end_s, card.low_hz, card.high_hz];
}

export function framed(frame, box, picture) {
  const mark = make("div", { className: "box" });
  place(mark, boxStyle(box, frame));
  return make("div", { className: "frame" }, seen(picture), mark);
}

// The picture, or words where there is none.
export function seen(picture) {
  return picture.gone
    ? make("p", { className: "missing" }, "There is no picture: the file is gone.") : picture;
}

export function image(card, run, view, alt) {
  const found = make("img", { alt, decoding: "async", draggable: false });
  found.addEventListener("error", () => {
    found.gone = true; // fetched ahead, it may stand nowhere yet
    found.replaceWith(seen(found));
  });
  found.src = pictureUrl(card, run, view);
  return found;
}

// Marks at round numbers, at most so many.
export function ticks(first, last, most) {
  const rough = (last - first) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((size) => size >= rough);
  const found = [];
  for (let k = Math.ceil(first / step - 1e-9); k * step <= last + 1e-9; k += 1) found.push(k * step);
  return { found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

export function drawAxes(frame, times, levels) {
  const [begin, end, low, high] = frame;
  const across = ticks(begin, end, 8);
  fill(
    times,
    ...across.found.map((value) => {
      const mark = make("span", {}, `${value.toFixed(across.digits)} s`);
      place(mark, { left: `${(100 * (value - begin)) / (end - begin)}%` });
      return mark;
    }),
  );
  const up = ticks(low / 1000, high / 1000, 8);
  fill(
    levels,
    ...up.found.map((value) => {
      const mark = make("span", {}, value === 0 ? "0 kHz" : value.toFixed(up.digits));
      place(mark, { top: `${(100 * (high - 1000 * value)) / (high - low)}%` });
      return mark;
    }),
  );
}
