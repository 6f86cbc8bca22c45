"""One run of the demo, for all tests of what is made of it."""

import pytest

from raravis.demo import DigitsDemo, render_page, run_digits


@pytest.fixture(scope="session")
def found() -> DigitsDemo:
    return run_digits()


@pytest.fixture(scope="session")
def page(found: DigitsDemo) -> str:
    return render_page(found)
