"""How a page looks: light and dark, narrow and wide, on screen and on paper."""

__all__ = ["STYLE"]

# What is told by colour is told by shape or words besides. Every text colour has a contrast of at
# least 4.5 to 1 on its ground.
STYLE = """
:root {
  color-scheme: light dark;
  --ground: #fbfaf7; --panel: #ffffff; --text: #22262b; --soft: #5b636d; --line: #d9d6ce;
  --right: #0b5c94; --wrong: #a8430a; --accent: #1d6b5f; --grid: #ebe8e1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #15181b; --panel: #1d2125; --text: #e6e4df; --soft: #a3abb3; --line: #363c43;
    --right: #74b9ee; --wrong: #f0a063; --accent: #6cc5b4; --grid: #2a2f35;
  }
  .digit { filter: invert(1) brightness(0.92); mix-blend-mode: screen; }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--text);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
header, main, footer { max-width: 66rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2.75rem; }
h1 { margin: 0.2rem 0 0.6rem; font-size: 1.9rem; line-height: 1.2; font-weight: 650;
  letter-spacing: -0.01em; text-wrap: balance; }
h2 { margin: 0 0 0.4rem; font-size: 1.25rem; font-weight: 650; }
p { margin: 0 0 0.9rem; max-width: 46rem; }
section { margin-top: 3rem; }
.kicker { margin: 0; color: var(--accent); font-weight: 600; font-size: 0.9rem; }
.lead { font-size: 1.08rem; }
.soft, figcaption { color: var(--soft); }
.figures { display: grid; gap: 0.9rem; margin: 1.6rem 0 0; padding: 0;
  grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); }
.figures + p { margin-top: 1rem; }
.figures div { padding: 0.9rem 1.1rem; background: var(--panel); border: 1px solid var(--line);
  border-radius: 0.5rem; }
.figures dt { font-size: 0.9rem; color: var(--soft); }
.figures dd { margin: 0; }
.figures .value { font-size: 1.9rem; line-height: 1.3; font-weight: 600;
  font-variant-numeric: tabular-nums; }
.figures .note { font-size: 0.85rem; line-height: 1.4; color: var(--soft); }
.bags { display: grid; gap: 1rem; margin-top: 1.1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)); }
.bag { margin: 0; padding: 0.85rem 1rem 1rem; background: var(--panel);
  border: 1px solid var(--line); border-radius: 0.5rem; break-inside: avoid; }
.bag figcaption { margin-bottom: 0.55rem; font-size: 0.92rem; }
.bag b { color: var(--text); }
.grid10 { display: grid; grid-template-columns: repeat(10, 1fr); gap: 3px; }
.digit { display: block; width: 100%; height: auto; aspect-ratio: 1; image-rendering: pixelated;
  border-radius: 2px; }
.grid10 span { padding: 2px; border: 1.5px solid transparent; border-radius: 4px; }
.grid10 .hidden, .key { border: 1.5px dashed var(--wrong); border-radius: 4px; }
.key { padding: 0 0.3rem; }
.pair { display: grid; gap: 1.2rem 2.2rem; align-items: start; margin-top: 1rem;
  grid-template-columns: minmax(0, 24.5rem) minmax(0, 1fr); }
.roc { display: block; width: 100%; height: auto; fill: var(--soft);
  font: 12px system-ui, sans-serif; }
.roc path { fill: none; }
.roc .grid { stroke: var(--grid); stroke-width: 1; }
.roc .chance { stroke: var(--line); stroke-width: 1.5; }
.roc .axis { fill: var(--text); }
.roc .point { fill: var(--panel); stroke: var(--text); stroke-width: 2; }
.legend svg { display: block; width: 2.6rem; height: 0.9rem; fill: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.94rem; }
caption { padding-bottom: 0.4rem; text-align: left; color: var(--soft); }
th, td { padding: 0.42rem 0.9rem 0.42rem 0; border-bottom: 1px solid var(--line);
  text-align: left; vertical-align: top; }
thead th { color: var(--soft); font-weight: 500; font-size: 0.88rem; }
tbody th { font-weight: 550; }
tbody th span { display: block; font-weight: 400; font-size: 0.86rem; color: var(--soft); }
.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.facts { display: grid; gap: 1.2rem 2.5rem; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); }
.facts td { overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
footer { margin-top: 3rem; padding-top: 1rem; padding-bottom: 3rem; color: var(--soft);
  font-size: 0.88rem; }
@media (max-width: 46rem) {
  header { padding-top: 1.6rem; }
  h1 { font-size: 1.5rem; }
  section { margin-top: 2.2rem; }
  .pair { grid-template-columns: minmax(0, 1fr); }
}
@media print {
  :root { --ground: #ffffff; --panel: #ffffff; --text: #000000; --soft: #444444; --line: #bbbbbb;
    --right: #0b5c94; --wrong: #a8430a; --accent: #1d6b5f; --grid: #e6e6e6; }
  body { font-size: 10pt; }
  .digit { filter: none; mix-blend-mode: normal;
    print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  section { margin-top: 1.4rem; }
  h2 { break-after: avoid; }
  .pair, .figures { break-inside: avoid; }
  .figures { grid-template-columns: repeat(4, 1fr); }
  .figures .value { font-size: 1.5rem; }
  .facts { grid-template-columns: repeat(3, 1fr); gap: 1.2rem; }
  .pair { grid-template-columns: minmax(0, 17rem) minmax(0, 1fr); }
}
"""
