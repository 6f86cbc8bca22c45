"""The figures that the README quotes are those of the demo."""

import re
from pathlib import Path

import pytest

from raravis.demo import DigitsDemo

README = Path(__file__).parents[2] / "README.md"


def test_readme_quotes_the_demo(found: DigitsDemo) -> None:
    quoted = re.findall(r"^ {6}(\S.*?)  +(0\.\d{3})  ", README.read_text(encoding="utf-8"), re.M)
    novel = found.detection.novel
    computed = {
        "KernelScorer": found.auc.estimate,
        **{rival.name: rival.auc.estimate for rival in found.rivals},
        "annotation accuracy": found.accuracy,
        "novel precision": novel.precision,
        "novel recall": novel.recall,
    }
    # The last digit may differ between processors.
    assert {name: float(value) for name, value in quoted} == pytest.approx(computed, abs=0.0051)
