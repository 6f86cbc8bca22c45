"""How the report looks, beyond what all pages share."""

from raravis._html.style import STYLE as SHARED

__all__ = ["STYLE"]

# Known is blue and thin, novel is amber and bold, and words say which besides. Spectrograms are
# dark in both schemes: sound glows out of the night.
STYLE = (
    SHARED
    + """
:root { --novel: #a04a00; --known: #0b5c94; --night: #05070d; }
@media (prefers-color-scheme: dark) { :root { --novel: #ffb35c; --known: #74b9ee; } }
header, main, footer { max-width: 76rem; }
nav { display: flex; flex-wrap: wrap; gap: 0.35rem 1.3rem; margin-top: 1.1rem; font-size: 0.94rem; }
nav a { color: var(--accent); text-underline-offset: 0.2em; text-decoration-thickness: 1px; }
section { scroll-margin-top: 1rem; }
h3 { margin: 0 0 0.6rem; font-size: 1.05rem; font-weight: 620; }
h3 .soft { font-weight: 400; margin-left: 0.5rem; }
b.novel { color: var(--novel); } b.known { color: var(--known); }
.shots { display: grid; gap: 1.1rem; margin-top: 1.2rem;
  grid-template-columns: repeat(2, minmax(0, 1fr)); }
.shots.small { grid-template-columns: repeat(3, minmax(0, 1fr)); }
.shot { margin: 0; background: var(--panel); border: 1px solid var(--line);
  border-radius: 0.7rem; overflow: hidden; break-inside: avoid; }
.shot.wide { grid-column: 1 / -1; }
.view { position: relative; overflow: hidden; background: var(--night); aspect-ratio: 8 / 3; }
.wide .view { aspect-ratio: 16 / 4.6; }
.small .view { aspect-ratio: 16 / 8; }
.view img { display: block; width: 100%; height: 100%; object-fit: fill; }
.box { position: absolute; border: 1.5px solid rgb(255 255 255 / 0.92); border-radius: 3px;
  box-shadow: 0 0 0 1px rgb(0 0 0 / 0.5), inset 0 0 0 1px rgb(0 0 0 / 0.3); }
.box.known { border-style: dashed; }
.view span { position: absolute; color: #f3efe6; font-size: 0.68rem; line-height: 1;
  font-variant-numeric: tabular-nums; text-shadow: 0 0 3px #000, 0 0 2px #000; }
.view .hz { left: 0; padding-left: 0.7rem; transform: translateY(50%); }
.view .hz::before { content: ""; position: absolute; left: 0; top: 50%; width: 0.4rem;
  border-top: 1px solid rgb(255 255 255 / 0.75); }
.view .from { left: 1.9rem; bottom: 0.4rem; } .view .to { right: 0.5rem; bottom: 0.4rem; }
.shot figcaption { padding: 0.6rem 0.85rem 0.75rem; font-size: 0.88rem; color: var(--text); }
.shot figcaption p { margin: 0 0 0.45rem; max-width: none; display: flex; flex-wrap: wrap;
  gap: 0.1rem 0.7rem; align-items: baseline; }
.shot figcaption p.soft { margin: 0.4rem 0 0; }
.when { font-weight: 620; font-variant-numeric: tabular-nums; }
.where { color: var(--soft); overflow-wrap: anywhere; }
.said { margin-left: auto; font-variant-numeric: tabular-nums; }
.small .said { margin-left: 0; }
.gone { margin: 0; padding: 2.5rem 1rem; text-align: center; color: var(--soft); }
audio { display: block; width: 100%; height: 2.1rem; }
.group { margin-top: 1.6rem; padding-top: 1.2rem; border-top: 1px solid var(--line); }
.medoid { display: grid; gap: 1.1rem; align-items: start;
  grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
.thumbs { display: grid; gap: 0.6rem; margin: 0; padding: 0; list-style: none;
  grid-template-columns: repeat(4, minmax(0, 1fr)); }
.thumbs .view { aspect-ratio: 1 / 1; border-radius: 0.4rem; }
.thumbs .soft { display: block; margin-top: 0.2rem; font-size: 0.68rem; line-height: 1.25;
  overflow-wrap: anywhere; }
.overview { width: auto; font-size: 0.86rem; }
.overview th[scope="row"] { font-weight: 450; white-space: nowrap; padding-right: 1rem; }
.overview th[scope="row"] span { display: inline; }
.overview td, .overview th { padding: 0.2rem 0.35rem; vertical-align: middle; border: 0; }
.overview thead th { vertical-align: bottom; }
.overview thead th:nth-child(n+3) span { display: inline-block; writing-mode: vertical-rl;
  transform: rotate(180deg); max-height: 11rem; padding-top: 0.3rem; white-space: nowrap; }
.overview .through { width: 13rem; }
.strip { display: block; width: 13rem; height: 1.5rem; border-radius: 3px;
  background: color-mix(in srgb, var(--line) 35%, transparent); }
.strip path { fill: none; stroke-width: 1; }
.strip .known { stroke: var(--known); stroke-opacity: 0.55; }
.strip .novel { stroke: var(--novel); stroke-width: 1.3; }
.cell { position: relative; text-align: center; font-variant-numeric: tabular-nums; }
.cell > span:first-child { display: grid; place-items: center; min-width: 2.3rem; height: 1.6rem;
  padding: 0 0.3rem; border-radius: 0.35rem; color: var(--text); }
.cell.known { --tint: var(--known); } .cell.novel { --tint: var(--novel); }
.cell > span:first-child { background: color-mix(in srgb, var(--tint) var(--s), transparent); }
.cell.listed > span:first-child, .ring { box-shadow: 0 0 0 1.6px var(--text); }
.ring { padding: 0 0.35rem; border-radius: 0.35rem; }
.histogram { display: block; width: 100%; max-width: 46rem; height: auto; margin-top: 0.8rem;
  fill: var(--soft); font: 11px system-ui, sans-serif; }
.histogram .known { fill: var(--known); fill-opacity: 0.75; }
.histogram .novel { fill: var(--novel); }
.histogram .cut { stroke: var(--text); stroke-width: 1.2; stroke-dasharray: 4 3; }
.histogram .base { stroke: var(--line); }
.exact { stroke: var(--novel); stroke-width: 3; stroke-linejoin: round; }
#truth table { align-self: center; }
@media (max-width: 60rem) {
  .shots.small { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .medoid { grid-template-columns: minmax(0, 1fr); }
}
@media (max-width: 46rem) {
  .shots, .shots.small { grid-template-columns: minmax(0, 1fr); }
  .wide .view { aspect-ratio: 8 / 3; }
}
@media print {
  :root { --novel: #a04a00; --known: #0b5c94; }
  nav, audio { display: none; }
  .view, .strip, .cell > span:first-child { print-color-adjust: exact;
    -webkit-print-color-adjust: exact; }
  .shots { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0.6rem; }
  .shots.small { grid-template-columns: repeat(3, minmax(0, 1fr)); }
  .group, .overview tr, .histogram { break-inside: avoid; }
  section > p { break-after: avoid; break-inside: avoid; }
  .medoid { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 0.6rem; }
  .group { margin-top: 0.8rem; padding-top: 0.6rem; }
  .thumbs { gap: 0.3rem; }
  .thumbs .soft { font-size: 5pt; }
  .scroll { overflow: visible; }
  .overview { font-size: 6.5pt; }
  .overview th[scope="row"] { padding-right: 0.4rem; }
  .overview td, .overview th { padding: 1pt; }
  .overview thead th:nth-child(n+3) { padding-left: 3pt; }
  .overview .through, .strip { width: 3cm; }
  .strip, .cell > span:first-child { height: 10pt; }
  .cell > span:first-child { min-width: 13pt; padding: 0; border-radius: 2pt; }
  .cell.listed > span:first-child, .ring { box-shadow: 0 0 0 1pt var(--text); }
  .facts { grid-template-columns: repeat(2, minmax(0, 1fr)); font-size: 8pt; }
  .facts table { font-size: 8pt; }
  .facts tr { break-inside: avoid; }
}
"""
)
