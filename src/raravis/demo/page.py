"""The demo's page: one HTML file that needs nothing else, and no script."""

from html import escape
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from raravis._html import document as html
from raravis._html.document import check_folder
from raravis._html.pictures import data_uri, ink
from raravis._html.roc import Line, roc_figure
from raravis._novel import NOVEL
from raravis.demo._style import STYLE
from raravis.demo.digits import DigitsDemo
from raravis.demo.summary import hidden_share, join_words, versions
from raravis.metrics import Interval, RocCurve

__all__ = ["check_folder", "render_page", "write_page"]

PAGE_NAME = "index.html"
N_EXAMPLE_BAGS = 5

IntArray = npt.NDArray[np.int64]


def render_page(demo: DigitsDemo) -> str:
    """Return the page as text; it refers to nothing outside itself."""
    hidden = join_words(demo.hidden)
    verb = "is" if len(demo.hidden) == 1 else "are"
    sections = [_figures(demo), _bags(demo), _curves(demo), *_strips(demo), _facts(demo)]
    source = demo.train.description
    return html.document(
        title=f"Handwritten digits: {hidden} {verb} never listed",
        kicker="raravis demo",
        lead=_lead(demo),
        body="\n".join(sections),
        footer=f"Images: {source.origin}. Terms: {source.terms}.",
        style=STYLE,
    )


def write_page(page: str, folder: str | PathLike[str]) -> Path:
    """Write the page into a folder, which is made if need be; it appears whole or not at all."""
    return html.write_text(page, Path(folder) / PAGE_NAME)


def _lead(demo: DigitsDemo) -> str:
    train = demo.train.bags
    return (
        f'<p class="lead">The learner was given {train.n_bags} bags of images, '
        f"{train.n_instances:,} in all, each bag with a list of the digits that occur somewhere "
        f"in it. The digits {join_words(demo.hidden)} occur too, but no list names them. From this "
        "alone it learned what each listed digit looks like, and which images are none of them."
        "</p>"
    )


def _figures(demo: DigitsDemo) -> str:
    novel = demo.detection.novel
    cards = [
        ("AUC, known against novel", f"{demo.auc.estimate:.3f}", _between(demo.auc)),
        ("Annotation accuracy", f"{demo.accuracy:.3f}", "the right digit, or novel"),
        ("Novel precision", f"{novel.precision:.3f}", "of the images called novel"),
        ("Novel recall", f"{novel.recall:.3f}", f"of the {novel.n} images of hidden digits"),
    ]
    shown = "".join(
        f'<div><dt>{name}</dt><dd class="value">{value}</dd><dd class="note">{note}</dd></div>'
        for name, value, note in cards
    )
    return (
        f'<section aria-label="Figures"><dl class="figures">{shown}</dl>\n'
        f'<p class="soft">On {demo.test.bags.n_instances:,} instances in '
        f"{demo.test.bags.n_bags} test bags, none of whose images was used in training. The AUC "
        "is the chance that a known instance scores above a novel one.</p></section>"
    )


def _bags(demo: DigitsDemo) -> str:
    unlisted = np.flatnonzero(~demo.train.labels.present.any(axis=1)).tolist()
    chosen = dict.fromkeys([*range(N_EXAMPLE_BAGS), *unlisted])
    strip = "\n".join(_bag(demo, bag) for bag in list(chosen)[: N_EXAMPLE_BAGS + 1])
    return (
        "<section><h2>What the learner was given</h2>\n"
        f"<p>The first {N_EXAMPLE_BAGS} training bags, and the next whose list is empty. The list "
        "belongs to the bag: which image is which digit is not told. A "
        '<span class="key">dashed frame</span> marks the hidden digits here; the learner sees no '
        f'such thing.</p>\n<div class="bags">{strip}</div></section>'
    )


def _bag(demo: DigitsDemo, bag: int) -> str:
    data = demo.train
    present = data.labels.present[bag].tolist()
    listed = [label for label, here in zip(data.labels.classes, present, strict=True) if here]
    rows = range(int(data.bags.offsets[bag]), int(data.bags.offsets[bag + 1]))
    images = "".join(_bag_image(demo, i) for i in rows)
    names = escape(join_words(listed)) if listed else "nothing"
    return (
        f'<figure class="bag"><figcaption>Bag {bag + 1}, list: <b>{names}</b></figcaption>'
        f'<div class="grid10">{images}</div></figure>'
    )


def _bag_image(demo: DigitsDemo, i: int) -> str:
    digit = int(demo.train.instance_labels[i])
    concealed = digit in demo.hidden
    name = f"{digit}, hidden" if concealed else f"{digit}"
    picture = _picture(demo.train.bags.instances[i], name)
    return f'<span class="hidden">{picture}</span>' if concealed else f"<span>{picture}</span>"


def _picture(pixels: npt.NDArray[np.floating], name: str) -> str:
    address = data_uri(ink(pixels))
    return f'<img class="digit" width="8" height="8" src="{address}" alt="{name}">'


def _curves(demo: DigitsDemo) -> str:
    rivals = [_line(rival.roc, f"rival-{i}") for i, rival in enumerate(demo.rivals, start=1)]
    lines = [*rivals, _line(demo.exact, "exact"), _line(demo.training, "training")]
    decided = demo.scores >= demo.model.offset_
    point = float(decided[~demo.known].mean()), float(decided[demo.known].mean())
    figure = roc_figure(
        lines,
        point,
        title="ROC curves",
        text=(
            f"KernelScorer has an area of {demo.auc.estimate:.3f} under its curve; "
            + "; ".join(f"{rival.name}, {rival.auc.estimate:.3f}" for rival in demo.rivals)
            + f". At its threshold KernelScorer calls {point[1]:.0%} of the known and "
            f"{point[0]:.0%} of the novel instances known."
        ),
    )
    return (
        "<section><h2>Known against novel</h2>\n"
        "<p>Each curve shows, threshold by threshold, how many known instances are kept at the "
        f'price of how many novel ones let through.</p>\n<div class="pair">{figure}'
        f'<div class="scroll">{_comparison(demo)}</div></div></section>'
    )


def _line(curve: RocCurve, style: str) -> Line:
    return Line(curve.fpr, curve.tpr, style)


def _comparison(demo: DigitsDemo) -> str:
    rows = [
        ("exact", "KernelScorer", "bags and their lists", _area(demo.auc)),
        (
            "training",
            "the same, thresholds from training scores",
            "the paper's way, possible before any test data exist",
            f"{demo.training.auc:.3f}",
        ),
        *(
            (f"rival-{i}", rival.name, rival.note, _area(rival.auc))
            for i, rival in enumerate(demo.rivals, start=1)
        ),
    ]
    body = "".join(
        f'<tr><td class="legend">{_sample(style)}</td><th scope="row">{escape(name)}'
        f'<span>{escape(given)}</span></th><td class="number">{area}</td></tr>'
        for style, name, given, area in rows
    )
    return (
        "<table><caption>Area under the curve, with 95% intervals over test bags. The circle is "
        "where KernelScorer decides. The one-class SVMs (scikit-learn) use the same feature "
        "scaling and kernel width.</caption>"
        '<thead><tr><th scope="col">Line</th><th scope="col">Method, and what it learned from</th>'
        f'<th scope="col">AUC</th></tr></thead><tbody>{body}</tbody></table>'
    )


def _sample(style: str) -> str:
    """Draw a stroke of a line for the legend; the row's name says what it is."""
    return f'<svg viewBox="0 0 42 14" aria-hidden="true"><path class="{style}" d="M1 7H41"/></svg>'


def _strips(demo: DigitsDemo) -> list[str]:
    return [
        _strip(
            demo,
            demo.most_novel,
            "most novel test images",
            "An expert would be shown these first. The number is the novelty, the distance beyond "
            "the threshold: above 0 an image is called novel.",
        ),
        _strip(demo, demo.most_known, "most known test images", "The surest of the listed digits."),
        _strip(
            demo,
            demo.gravest,
            "gravest mistakes",
            "Of all test images annotated wrong, those farthest from the threshold.",
        ),
    ]


def _strip(demo: DigitsDemo, instances: IntArray, name: str, text: str) -> str:
    n = len(instances)
    if not n:
        return f"<section><h2>The {name}</h2><p>There are none.</p></section>"
    tiles = "".join(_tile(demo, i) for i in instances.tolist())
    return (
        f"<section><h2>The {n} {name}</h2>\n<p>{text} {hidden_share(demo, instances)}</p>\n"
        f'<ul class="tiles">{tiles}</ul></section>'
    )


def _tile(demo: DigitsDemo, i: int) -> str:
    digit = int(demo.test.instance_labels[i])
    truth = f"{digit}, hidden" if digit in demo.hidden else f"{digit}"
    said = "novel" if demo.annotations[i] is NOVEL else str(demo.annotations[i])
    kind, mark = ("right", "\N{CHECK MARK}") if demo.right[i] else ("wrong", "\N{MULTIPLICATION X}")
    picture = _picture(demo.test.bags.instances[i], f"A handwritten {digit}")
    return (
        f'<li class="tile {kind}">{picture}'
        f'<span class="verdict"><span aria-hidden="true">{mark}</span> {kind}</span>'
        f"<span>said {escape(said)}</span><span>is {truth}</span>"
        f'<span class="soft number"><span class="unseen">novelty </span>'
        f"{_signed(demo.novelty[i])}</span></li>"
    )


def _facts(demo: DigitsDemo) -> str:
    model, seconds = demo.model, demo.seconds
    settings = {
        "hidden digits": join_words(demo.hidden),
        "seed": demo.seed,
        "model": "KernelScorer, automatic settings",
        "kernel": f"{model.kernel}, gamma {model.gamma_:.4g}",
        "regularisation": f"{model.lam_:.4g}",
        "feature scaling": model.scaling,
        "training instances kept": f"{model.n_support_:,} of {demo.train.bags.n_instances:,}",
    }
    times = {
        "fit": f"{seconds.fit:.2f} s",
        "score the test bags": f"{seconds.score:.2f} s",
        "one-class SVMs": f"{seconds.rivals:.2f} s",
        "everything": f"{seconds.total:.2f} s",
    }
    tables = [_table("Settings", settings), _table("Versions", versions()), _table("Times", times)]
    return (
        "<section><h2>How this was computed</h2>\n"
        f'<div class="facts">{"".join(tables)}</div></section>'
    )


def _table(caption: str, rows: dict[str, object] | dict[str, str]) -> str:
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(str(value))}</td></tr>'
        for name, value in rows.items()
    )
    return f"<table><caption>{caption}</caption><tbody>{body}</tbody></table>"


def _area(interval: Interval) -> str:
    return f"{interval.estimate:.3f}<br>{interval.low:.3f} to {interval.high:.3f}"


def _between(interval: Interval) -> str:
    return f"{interval.low:.3f} to {interval.high:.3f} ({interval.level:.0%}, over test bags)"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")
