"""The report: well-formed, self-contained, readable, true to the results."""

import math
import re
import shutil
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from tests.experiments.made import KNOWN, MODELS, made_birds, made_figures, made_table
from tests.reader import Reader

from raravis.errors import InputError
from raravis.experiments import TableResult
from raravis.experiments.report import fill_markdown, markdown_tables, render_report
from raravis.experiments.report_markdown import BEGIN, END


@pytest.fixture(scope="module")
def results() -> list[TableResult]:
    return [made_table(), made_birds(), made_figures()]


@pytest.fixture(scope="module")
def page(results: list[TableResult]) -> str:
    return render_report(results)


@pytest.fixture(scope="module")
def read(page: str) -> Reader:
    return Reader(page)


def test_page_refers_to_nothing_outside_itself(read: Reader, page: str) -> None:
    assert page.startswith("<!DOCTYPE html>")
    assert not re.search(r"(?i)https?:|url\(|@import|<script", page)
    for _, attrs in read.elements:
        for name in ("src", "href"):
            assert attrs.get(name, "#").startswith(("#", "data:"))


def test_ids_are_unique_and_those_referred_to_exist(read: Reader) -> None:
    ids = Counter(attrs["id"] for _, attrs in read.elements if "id" in attrs)
    assert set(ids.values()) == {1}
    links = [attrs["href"][1:] for attrs in read.all("a")]
    assert links == ["table-mnist", "table-hja", "table-figures"]
    named = [word for svg in read.all("svg") for word in svg.get("aria-labelledby", "").split()]
    # Two plots and two panels, each with a title and a description.
    assert len(named) == 8
    assert set(named) | set(links) <= set(ids)


def test_headings_do_not_skip_a_level(read: Reader) -> None:
    levels = [int(tag[1]) for tag, _ in read.elements if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_tables_have_captions_and_their_headers_a_scope(read: Reader) -> None:
    assert len(read.all("table")) == len(read.all("caption")) > 8
    assert all(attrs.get("scope") in {"row", "col"} for attrs in read.all("th"))


def test_pictures_have_a_text_and_what_scrolls_can_be_reached(read: Reader) -> None:
    assert len(read.all("img")) == 60
    assert all(picture["alt"].strip() for picture in read.all("img"))
    assert all("role" in svg or svg.get("aria-hidden") == "true" for svg in read.all("svg"))
    boxes = [attrs for attrs in read.all("div") if attrs.get("class") == "scroll"]
    assert all(box["tabindex"] == "0" and box["aria-label"] for box in boxes)


def test_every_figure_stands_in_the_table_with_its_win(
    results: list[TableResult], page: str
) -> None:
    for cell in results[0].cells:
        assert cell.paper is not None
        difference = f"{cell.auc_mean - cell.paper:+.3f}".replace("-", "\N{MINUS SIGN}")
        mark = "win" if cell.auc_mean > cell.paper else "loss"
        shown = f"{cell.auc_mean:.3f} ± {cell.auc_se:.3f}"
        assert f'{shown}<span class="{mark}">{difference} {mark}</span>' in page
    for name, model in results[0].models.items():
        assert f'<th scope="row">{name}</th><td class="number">{model.mean:.3f}</td>' in page


def test_what_is_undefined_is_a_dash_and_never_nan(page: str) -> None:
    assert "nan" not in re.sub(r'src="[^"]*"', "", page).lower()
    birds = page.partition('id="table-hja"')[2]
    assert '<td class="number">0.90</td><td class="number">\N{EN DASH}</td>' in birds


def test_names_of_others_are_escaped(page: str) -> None:
    assert "MNIST bags, &lt;all&gt; kept" in page
    assert "&lt;a&gt;" in page
    assert "<all>" not in page


def test_unlisted_classes_are_framed_and_said_in_words(page: str) -> None:
    # Classes 0 to 5, of which four, one and none are listed: 3 of each 0 and 1 in the 20 images.
    n_unlisted = (3 + 3) + (20 - 4) + 20
    assert page.count('<span class="hidden">') == n_unlisted
    assert page.count(", not listed") == n_unlisted


def test_an_interrupted_table_says_so() -> None:
    assert "Interrupted: these figures" in render_report([made_table(complete=False)])
    assert "Interrupted" not in render_report([made_table()])


def test_dots_stand_where_their_values_are() -> None:
    page = render_report([made_table()])
    drawn = page.partition('<svg class="dots"')[2].partition("</svg>")[0]
    ticks = {
        float(label): float(x)
        for x, label in re.findall(r'<text x="([\d.]+)" y="[\d.]+"[^>]*>([\d.]+)</text>', drawn)
    }
    left, right = min(ticks), max(ticks)
    scale = (ticks[right] - ticks[left]) / (right - left)
    dots = re.findall(r'<g class="mark-(\d+)" transform="translate\(([\d.]+) ([\d.]+)\)">', drawn)
    cells = made_table().cells
    assert len(dots) == len(cells) == len(KNOWN) * len(MODELS)
    for (model, x, _), cell in zip(dots, cells, strict=True):
        assert int(model) == MODELS.index(cell.model)
        assert float(x) == pytest.approx(ticks[left] + (cell.auc_mean - left) * scale, abs=0.2)
    heights = [float(y) for *_, y in dots]
    assert heights == sorted(heights)
    assert drawn.count('class="published"') == len(KNOWN)


def test_a_report_of_nothing_but_a_title_is_a_page() -> None:
    Reader(render_report([TableResult("bags", "Bags", {})]))


def test_markdown_is_the_same_from_results_and_from_their_json(results: list[TableResult]) -> None:
    text = markdown_tables(results)
    assert text == markdown_tables([found.to_json() for found in results])
    first = results[0].cells[0]
    assert f"| 0.85 | {first.auc_mean:.3f} ± {first.auc_se:.3f} win |" in text
    assert r"Counts | of each" in text
    assert "holds; on average +0.012" in text
    lines = [line for line in text.splitlines() if line.startswith("|")]
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(blocks) == 8
    for block in blocks:
        assert len({line.count("|") for line in block.splitlines()}) == 1
    assert not any(math.isnan(len(line)) or "nan" in line for line in lines)


def test_a_pipe_does_not_end_a_column() -> None:
    found = replace(made_birds(), cells=(replace(made_birds().cells[0], known=("a|b",)),))
    assert r"| a\|b | 0.90 |" in markdown_tables([found])


def test_only_what_stands_between_the_markers_is_replaced(results: list[TableResult]) -> None:
    document = f"# Title\n\nBefore.\n\n{BEGIN}\nformer\n{END}\n\nAfter.\n"
    once = fill_markdown(document, results)
    assert once.startswith(f"# Title\n\nBefore.\n\n{BEGIN}\n")
    assert once.endswith(f"{END}\n\nAfter.\n")
    assert "former" not in once
    assert fill_markdown(once, results) == once


@pytest.mark.parametrize("document", ["", f"{END} {BEGIN}", BEGIN])
def test_a_document_without_a_place_for_figures_is_refused(document: str) -> None:
    with pytest.raises(InputError, match="put them where the figures are to stand"):
        fill_markdown(document, [])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_page_opens_without_complaint_and_without_overflow(
    page: str, tmp_path: Path, width: int, scheme: str
) -> None:
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("chromium is not installed")
    file = tmp_path / "report.html"
    file.write_text(page, encoding="utf-8")
    with sync.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        complaints: list[str] = []
        opened.on("console", lambda message: complaints.append(message.text))
        opened.goto(file.as_uri())
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        texts = opened.evaluate(
            "[...document.querySelectorAll('svg.dots text')].filter(t => { const a = "
            "t.getBoundingClientRect(), b = t.ownerSVGElement.getBoundingClientRect(); return "
            "a.left < b.left - 1 || a.right > b.right + 1 || a.bottom > b.bottom + 1; }).length"
        )
        browser.close()
    assert complaints == []
    assert texts == 0
