"""Whatever bytes a file has, readers either read it or say in our own words why not."""

import warnings
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raravis import BagLabels, Bags
from raravis.errors import InputError, RaravisWarning
from raravis.formats import (
    CallTable,
    read_any,
    read_audacity,
    read_birdnet,
    read_calls,
    read_miml_arff,
    read_raven,
    read_species,
    recognise,
    write_audacity,
    write_birdnet,
    write_calls,
    write_miml_arff,
    write_raven,
)

READERS: dict[str, Callable[[Path], Any]] = {
    "raven": read_raven,
    "audacity": read_audacity,
    "birdnet": lambda path: read_birdnet(path, min_confidence=0.5),
    "calls": read_calls,
    "arff": read_miml_arff,
    "species": lambda path: read_species(path, ["a.wav", "b.wav"]),
    "species table": lambda path: read_species(path, species_column="label"),
    "any": read_any,
    "recognise": recognise,
}
# Long enough that only a reader that hangs or blows up needs it, also on a busy machine.
ROUNDS = settings(max_examples=60, deadline=timedelta(seconds=20))

CALLS = CallTable(
    ["a.wav", "a.wav", "ä.wav"],
    [0.5, 2, 3],
    [1.25, 2.5, 4],
    [100, float("nan"), 0],
    [9000, float("nan"), 1.5],
    ["wren", None, 'the "owl"'],
    [0.25, 0.5, float("nan")],
    [[0.5, 1], [0, 0.25], [1e-9, 1]],
    ["wren", "the owl"],
    [1, 2, 1],
    {"Confidence": ["0.5", "0.25", "1"]},
)


@cache
def seeds() -> tuple[bytes, ...]:
    """Return valid files of every format."""
    bags = Bags.from_list([[[1.0, 2.5], [3.0, 4.0]], []], keys=["a.wav", "b 'b"])
    labels = BagLabels.from_sets([{"wren", "owl"}, None], keys=bags.keys)
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_raven(CALLS, folder / "raven.txt")
        write_audacity(CALLS.for_recording("a.wav"), folder / "audacity.txt")
        write_miml_arff(bags, labels, folder / "bags.arff")
        for ending in ("csv", "parquet"):
            write_calls(CALLS, folder / f"calls.{ending}")
            write_birdnet(CALLS, folder / f"birdnet.{ending}")
        write_birdnet(CALLS, folder / "birdnet.txt")
        (folder / "lists.csv").write_text("recording,species\na.wav,wren;owl\nb.wav,\n")
        (folder / "wide.csv").write_text("recording,wren,owl\na.wav,1,0\nb.wav,,1\n")
        (folder / "utf-16.csv").write_text("begin_s\tend_s\n1\t2\n", encoding="utf-16")
        return tuple(path.read_bytes() for path in sorted(folder.iterdir()))


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Change a valid file in a few places: cut, repeat, put something in or another's part."""
    data = bytearray(draw(st.sampled_from(seeds())))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        to = min(len(data), at + draw(st.integers(0, 40)))
        what = draw(st.sampled_from(["cut", "repeat", "put", "swap", "stop"]))
        if what == "cut":
            del data[at:to]
        elif what == "repeat":
            data[at:at] = data[at:to] * draw(st.integers(1, 50))
        elif what == "put":
            data[at:at] = draw(PIECES)
        elif what == "swap":
            other = draw(st.sampled_from(seeds()))
            data[at:to] = other[at:to]
        else:
            del data[at:]
    return bytes(data)


PIECES = st.one_of(
    st.binary(max_size=8),
    st.sampled_from(
        [b"\t", b"\n", b"\r\n", b",", b";", b'"', b"'", b"\\", b"\0", b"\x85", b"\x1a"]
    ),
    st.sampled_from([b"nan", b"-1", b"inf", b"1e999", b"1_0", b"0x1", b"9" * 400, "٣".encode()]),
    st.sampled_from([b"\xff\xfe", b"\xef\xbb\xbf", b"sep=;\n", "\u2028".encode(), b"PAR1"]),
    st.sampled_from([b"@data\n", b"@attribute ", b"novelty\t", b"begin_s,end_s\n"]),
)
TEXTS = st.lists(PIECES, max_size=40).map(b"".join)


def read_or_refuse(read: Callable[[Path], Any], data: bytes) -> None:
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", RaravisWarning)
        path = Path(folder, "a.txt")
        path.write_bytes(data)
        said = None
        try:
            read(path)
        except InputError as error:
            said = str(error)
    # What, in which file, and what to do.
    assert said is None or ("a.txt" in said and len(said) > 40)


@pytest.mark.parametrize("reader", READERS)
@ROUNDS
@given(data=mutated())
def test_valid_files_that_were_changed(reader: str, data: bytes) -> None:
    read_or_refuse(READERS[reader], data)


@pytest.mark.parametrize("reader", READERS)
@ROUNDS
@given(data=st.one_of(st.binary(max_size=200), TEXTS))
def test_any_bytes(reader: str, data: bytes) -> None:
    read_or_refuse(READERS[reader], data)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "data",
    [
        b"\t" * 200_000,
        b"," * 200_000,
        b"\n" * 200_000,
        b'"' + b"a" * 200_000,
        b"1" * 200_000,
        b"1\t2\tx\n" + b"\\\t" * 100_000,
        b"@attribute '" + b"\\" * 100_001,
        b"@relation x\n@attribute i {a}\n@attribute b relational\n@attribute f real\n@end b\n"
        b"@attribute l {0,1}\n@data\na,'" + b"\\\\" * 100_000,
        b"@relation x\n@attribute i {a}\n@attribute b relational\n@attribute f real\n@end b\n"
        b"@attribute l {0,1}\n@data\n" + b" '" * 100_000,
        b"begin_s,end_s\n" + b"1,2,\n" * 50_000,
        ("a." * 100_000).encode(),
    ],
    ids=lambda data: repr(bytes(data[:12])),
)
def test_large_nonsense_takes_no_time(reader: str, data: bytes) -> None:
    read_or_refuse(READERS[reader], data)


@pytest.mark.parametrize("seed", range(11))
def test_the_seeds_are_valid(seed: int, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(seeds()[seed])
    reader = {"miml-arff": read_miml_arff, "table": read_species}.get(recognise(tmp_path / "a"))
    assert (reader or read_any)(tmp_path / "a") is not None
