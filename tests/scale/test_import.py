"""What is heavy stays out until it is used."""

import subprocess
import sys


def test_neither_torch_nor_dask_is_imported_by_importing_scale() -> None:
    code = (
        "import sys, raravis.scale, raravis.scale.torch_backend, raravis.scale.distributed\n"
        "print([m for m in ('torch', 'dask', 'distributed') if m in sys.modules])"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
