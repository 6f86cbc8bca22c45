// What this browser remembers: settings, and decisions that the server has not confirmed.

const PREFIX = "raravis-review:";

export function remembered(name, otherwise) {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return otherwise; // no storage, or not ours
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Private windows may have no storage; the page works without.
  }
}

export function theme() {
  const chosen = remembered("theme", null);
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
