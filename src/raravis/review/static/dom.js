// Elements by name and by hand. Text is always text: nothing here parses markup.

export const byId = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name in found && !name.startsWith("aria")) found[name] = value;
    else found.setAttribute(name, value);
  }
  found.append(...children.filter((child) => child !== null));
  return found;
}

const SVG = "http://www.w3.org/2000/svg";

export function makeSvg(tag, properties = {}, ...children) {
  const found = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(properties)) found.setAttribute(name, value);
  found.append(...children);
  return found;
}

export const kbd = (text) => make("kbd", {}, text);

export function fill(parent, ...children) {
  parent.replaceChildren(...children.filter((child) => child !== null));
}

export function place(element, box) {
  for (const [name, value] of Object.entries(box)) element.style.setProperty(name, value);
}

// What a decision says, in words.
export function verdictText(said) {
  if (said.class) return said.class;
  return { not_target: "not a target", uncertain: "uncertain", note: "note" }[said.kind] ?? said.kind;
}

export function seconds(value) {
  const whole = Math.floor(value / 60);
  const rest = (value - 60 * whole).toFixed(2).padStart(5, "0");
  return `${whole}:${rest}`;
}

export const plural = (n, one, many) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
