"""The page: well-formed, self-contained, readable, true to the result, written whole."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.reader import Reader

from raravis.demo import DigitsDemo, check_folder, render_page, write_page
from raravis.demo._style import STYLE
from raravis.errors import InputError


@pytest.fixture(scope="module")
def read(page: str) -> Reader:
    return Reader(page)


def test_page_states_its_language_and_fits_small_screens(read: Reader, page: str) -> None:
    assert page.startswith("<!DOCTYPE html>")
    assert read.all("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in read.all(
        "meta"
    )


def test_page_refers_to_nothing_outside_itself(read: Reader, page: str) -> None:
    assert not re.search(r"(?i)https?:|url\(|@import|<script", page)
    for _, attrs in read.elements:
        for name in ("src", "href"):
            assert attrs.get(name, "data:,").startswith("data:")


def test_ids_are_unique_and_those_referred_to_exist(read: Reader) -> None:
    ids = Counter(attrs["id"] for _, attrs in read.elements if "id" in attrs)
    assert set(ids.values()) == {1}
    (figure,) = [svg for svg in read.all("svg") if "aria-labelledby" in svg]
    assert set(figure["aria-labelledby"].split()) <= set(ids)


def test_every_picture_has_a_text(read: Reader) -> None:
    pictures = read.all("img")
    assert len(pictures) == 6 * 20 + 30 + 30 + 10
    assert all(picture["alt"].strip() for picture in pictures)
    assert all("role" in svg or svg.get("aria-hidden") == "true" for svg in read.all("svg"))


def test_headings_do_not_skip_a_level(read: Reader) -> None:
    levels = [tag for tag, _ in read.elements if re.fullmatch(r"h\d", tag)]
    assert levels[0] == "h1"
    assert set(levels[1:]) == {"h2"}


def test_page_shows_the_figures_of_the_result(found: DigitsDemo, page: str) -> None:
    novel = found.detection.novel
    for value in (found.auc.estimate, found.auc.low, found.accuracy, novel.precision, novel.recall):
        assert f"{value:.3f}" in page
    for rival in found.rivals:
        assert rival.name in page
        assert f"{rival.auc.estimate:.3f}" in page


def test_right_and_wrong_differ_by_more_than_colour(found: DigitsDemo, page: str) -> None:
    shown = np.concatenate([found.most_novel, found.most_known, found.gravest])
    n_right = int(found.right[shown].sum())
    assert page.count('<li class="tile right">') == n_right
    assert page.count("\N{CHECK MARK}</span> right") == n_right
    assert page.count("\N{MULTIPLICATION X}</span> wrong") == len(shown) - n_right > 0


def test_hidden_digits_are_marked_in_the_example_bags(found: DigitsDemo, page: str) -> None:
    strip = page.partition("What the learner was given")[2].partition("</section>")[0]
    bags = [int(number) - 1 for number in re.findall(r"Bag (\d+), list", strip)]
    assert bags[:5] == [0, 1, 2, 3, 4]
    assert not found.train.labels.present[bags[-1]].any()
    inside = np.isin(found.train.bags.bag_index, bags)
    n_hidden = int(np.isin(found.train.instance_labels[inside], found.hidden).sum())
    assert strip.count('<span class="hidden">') == n_hidden > 0


def test_page_without_mistakes_says_so(found: DigitsDemo) -> None:
    faultless = render_page(replace(found, annotations=found.truth))
    assert "The gravest mistakes</h2><p>There are none." in faultless
    Reader(faultless)


def test_text_on_the_page_is_escaped(found: DigitsDemo) -> None:
    described = replace(found.train.description, origin="<b>& co")
    changed = replace(found, train=replace(found.train, description=described))
    assert "&lt;b&gt;&amp; co" in render_page(changed)


def palettes() -> list[dict[str, str]]:
    found = re.findall(r"--ground:[^}]*}", STYLE)
    return [dict(re.findall(r"--(\w+): (#\w{6})", block)) for block in found]


def luminance(colour: str) -> float:
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("palette", palettes(), ids=["light", "dark", "print"])
@pytest.mark.parametrize("text", ["text", "soft", "right", "wrong", "accent"])
@pytest.mark.parametrize("ground", ["ground", "panel"])
def test_contrast_is_at_least_that_of_wcag_aa(
    palette: dict[str, str], text: str, ground: str
) -> None:
    dark, light = sorted([luminance(palette[text]), luminance(palette[ground])])
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_page_is_written_whole_into_a_new_folder(page: str, tmp_path: Path) -> None:
    target = write_page(page, tmp_path / "a" / "b")
    assert target == tmp_path / "a" / "b" / "index.html"
    assert target.read_text(encoding="utf-8") == page
    assert [item.name for item in target.parent.iterdir()] == ["index.html"]


def test_an_interrupted_write_leaves_the_old_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_page("old", tmp_path)

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match=r"cannot be written to .*No space left.*another folder"):
        write_page("new", tmp_path)
    assert [item.name for item in tmp_path.iterdir()] == ["index.html"]
    assert (tmp_path / "index.html").read_text() == "old"


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for folder in (file, file / "below"):
        with pytest.raises(InputError, match=r"file is not a folder; name one that"):
            check_folder(folder)
    with pytest.raises(InputError, match="cannot be written"):
        write_page("page", file)


def test_a_folder_without_leave_to_write_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_folder(tmp_path / "new")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(InputError, match="nothing may be written in"):
        check_folder(tmp_path / "new")
