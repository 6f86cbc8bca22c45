"""How the demo's page looks, beyond what all pages share."""

from raravis._html.style import STYLE as SHARED

__all__ = ["STYLE"]

# Right is blue and unbroken, wrong is orange and dashed, with a mark besides: nobody has to tell
# them apart by colour.
STYLE = (
    SHARED
    + """
.exact { stroke: var(--right); stroke-width: 5; stroke-opacity: 0.45; stroke-linejoin: round; }
.training { stroke: var(--right); stroke-width: 1.6; stroke-dasharray: 7 3; }
.rival-1 { stroke: var(--wrong); stroke-width: 1.8; stroke-dasharray: 2 3; }
.rival-2 { stroke: var(--soft); stroke-width: 1.8; stroke-dasharray: 8 3 2 3; }
.tiles { display: grid; gap: 0.7rem; margin: 1.1rem 0 0; padding: 0; list-style: none;
  grid-template-columns: repeat(auto-fill, minmax(5.6rem, 1fr)); }
.tile { position: relative; padding: 0.45rem; background: var(--panel);
  border: 2px solid var(--right);
  border-radius: 0.5rem; font-size: 0.8rem; line-height: 1.4; break-inside: avoid; }
.tile.wrong { border-color: var(--wrong); border-style: dashed; }
.tile > span { display: block; }
.tile .digit { margin-bottom: 0.35rem; }
.verdict { font-weight: 600; color: var(--right); }
.wrong .verdict { color: var(--wrong); }
@media (min-width: 66rem) {
  .tiles { grid-template-columns: repeat(10, 1fr); gap: 0.6rem; }
}
@media print {
  .tiles { grid-template-columns: repeat(10, 1fr); gap: 0.35rem; }
  .tile { padding: 0.25rem; font-size: 6.5pt; }
}
"""
)
