"""What tests all over the suite share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets that RARAVIS_DATA names; without it the test is skipped.

    Where RARAVIS_REQUIRE_DATA is set, as in CI, a missing folder fails the test instead.
    """
    named = os.environ.get("RARAVIS_DATA")
    if named and Path(named).is_dir():
        return Path(named).resolve()
    reason = f"RARAVIS_DATA={named!r} names no folder" if named else "RARAVIS_DATA is not set"
    if os.environ.get("RARAVIS_REQUIRE_DATA"):
        pytest.fail(f"{reason}, and RARAVIS_REQUIRE_DATA asks for real data")
    pytest.skip(f"{reason}: no real data")
