from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raravis.audio import time_from_name

NAIVE = datetime(2024, 5, 1, 4, 30, 7)


@pytest.mark.parametrize(
    "name",
    [
        "20240501_043007.WAV",
        "20240501_043007T.WAV",
        "S4A01234_20240501_043007.wav",
        "SITE-B$20240501$043007.wac.wav",
        "S4A01234_20240501$043007.wav",
        "creek 2024-05-01 04.30.07.flac",
        "2024-05-01T04:30:07.flac",
        "2024_05_01_04h30m07.ogg",
        "20240501043007.mp3",
        "R20240501-043007_x.wav",
    ],
)
def test_names_that_say_a_time(name):
    assert time_from_name(name) == NAIVE


def test_names_that_say_a_time_zone():
    assert time_from_name("20240501_043007Z.wav") == NAIVE.replace(tzinfo=UTC)
    west = timezone(-timedelta(hours=3, minutes=30))
    assert time_from_name("20240501T043007-0330_hill.flac") == NAIVE.replace(tzinfo=west)
    east = timezone(timedelta(hours=10))
    assert time_from_name("a_20240501T043007+10:00.flac") == NAIVE.replace(tzinfo=east)


def test_eight_hexadecimal_digits_of_an_audiomoth():
    assert time_from_name("66319E50.WAV") == datetime(2024, 5, 1, 1, 43, 44, tzinfo=UTC)


@pytest.mark.parametrize(
    "name",
    [
        "wren.wav",
        "20241301_043007.wav",
        "20240230_043007.wav",
        "20240501_993007.wav",
        "00000000.WAV",
        "FFFFFFFF.WAV",
        "12345678.WAV",
        "20240501.wav",
        "",
        ".wav",
    ],
)
def test_names_that_say_none(name):
    assert time_from_name(name) is None


@given(st.datetimes(datetime(2000, 1, 1), datetime(2037, 1, 1)))
def test_what_a_song_meter_writes_is_read(moment):
    moment = moment.replace(microsecond=0)
    assert time_from_name(f"SM4_{moment:%Y%m%d_%H%M%S}.wav") == moment


@given(st.text())
def test_no_name_is_an_error(name):
    assert time_from_name(name) is None or isinstance(time_from_name(name), datetime)
