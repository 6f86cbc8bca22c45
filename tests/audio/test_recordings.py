import struct
from datetime import datetime

import numpy as np
import pytest
from tests.audio.sounds import RATE_HZ, noise, tone, write

from raravis.audio import inspect_recording, list_recordings
from raravis.errors import InputError


def test_a_good_recording_is_described(tmp_path):
    stereo = np.stack([noise(2.0), noise(2.0, seed=1)], axis=1)
    info = inspect_recording(write(tmp_path / "SITE7_20240501_043000.wav", stereo))
    assert (info.status, info.detail, info.usable) == ("ok", "", True)
    assert (info.duration_s, info.sample_rate_hz, info.n_channels) == (2.0, RATE_HZ, 2)
    assert info.started_at == datetime(2024, 5, 1, 4, 30)


def test_a_missing_file_and_a_folder_are_described(tmp_path):
    assert inspect_recording(tmp_path / "a.wav").status == "missing"
    folder = inspect_recording(tmp_path)
    assert (folder.status, folder.usable, folder.detail) == ("missing", False, "it is a folder")


def test_files_without_samples_are_empty(tmp_path):
    (tmp_path / "none.wav").touch()
    for path in (tmp_path / "none.wav", write(tmp_path / "head.wav", np.empty(0))):
        info = inspect_recording(path)
        assert (info.status, info.usable, info.duration_s) == ("empty", False, 0.0)


def test_text_and_a_file_of_noise_bytes_are_unreadable(tmp_path):
    (tmp_path / "a.wav").write_text("no sound")
    (tmp_path / "b.flac").write_bytes(np.random.default_rng(0).bytes(5000))
    for name in ("a.wav", "b.flac"):
        info = inspect_recording(tmp_path / name)
        assert (info.status, info.usable) == ("unreadable", False)
        assert "convert it" in info.detail


@pytest.mark.parametrize("form", ["WAV", "RF64", "W64", "WAVEX"])
def test_a_file_that_was_cut_short_is_truncated_and_still_of_use(form, tmp_path):
    path = write(tmp_path / "a.wav", noise(2.0), format=form, subtype="PCM_16")
    assert inspect_recording(path).status == "ok"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    info = inspect_recording(path)
    assert (info.status, info.usable) == ("truncated", True)
    assert info.duration_s == pytest.approx(1.0, abs=0.02)
    assert inspect_recording(path, scan=False).status == "ok"


def test_a_flac_that_was_cut_short_is_truncated(tmp_path):
    path = write(tmp_path / "a.flac", noise(4.0))
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    info = inspect_recording(path)
    assert (info.status, info.usable) == ("truncated", True)
    assert 1.0 < info.duration_s < 3.0


def test_a_recorder_that_lost_power_left_a_head_of_zeros_which_is_no_fault(tmp_path):
    path = write(tmp_path / "a.wav", noise(1.0), subtype="PCM_16")
    content = bytearray(path.read_bytes())
    struct.pack_into("<I", content, content.index(b"data") + 4, 0xFFFFFFFF)
    path.write_bytes(content)
    assert inspect_recording(path).usable


def test_a_silent_recording_is_told(tmp_path):
    info = inspect_recording(write(tmp_path / "a.wav", np.zeros(RATE_HZ)))
    assert (info.status, info.usable, info.duration_s) == ("silent", True, 1.0)


def test_a_clipped_recording_is_told_and_a_loud_one_is_not(tmp_path):
    clipped = np.clip(tone(500, 1.0, level=3.0), -1, 1)
    info = inspect_recording(write(tmp_path / "a.wav", clipped))
    assert (info.status, info.usable) == ("clipped", True)
    assert "full scale" in info.detail
    assert inspect_recording(write(tmp_path / "b.wav", tone(500, 1.0, level=0.99))).status == "ok"


def test_recordings_of_a_folder_and_the_folders_in_it(tmp_path):
    names = ["b.WAV", "a.flac", "sub/c.mp3", "sub/deep/d.ogg"]
    others = ["notes.txt", ".hidden.wav", ".trash/e.wav", "wav"]
    for name in names + others:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "folder.wav").mkdir()
    found = [str(path.relative_to(tmp_path)) for path in list_recordings(tmp_path)]
    assert found == sorted(names)


def test_links_that_lead_out_are_left_out(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "a.wav").touch()
    (inside / "b.wav").touch()
    (inside / "link.wav").symlink_to(outside / "a.wav")
    (inside / "own.wav").symlink_to(inside / "b.wav")
    assert [path.name for path in list_recordings(inside)] == ["b.wav", "own.wav"]


def test_a_link_that_leads_nowhere_is_a_missing_recording(tmp_path):
    (tmp_path / "gone.wav").symlink_to(tmp_path / "nowhere.wav")
    (path,) = list_recordings(tmp_path)
    info = inspect_recording(path)
    assert (info.status, info.detail) == ("missing", "it is a link that leads nowhere")


def test_what_only_looks_like_a_recording_is_told_without_its_path(tmp_path):
    (tmp_path / "a.mp3").write_text("no sound at all\n" * 50)
    detail = inspect_recording(tmp_path / "a.mp3").detail
    assert detail.startswith("it is no sound that can be read (it holds something else")


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="is missing; pass the folder"):
        list_recordings(tmp_path / "nowhere")
    (tmp_path / "a.wav").touch()
    with pytest.raises(InputError, match="is a file; pass the folder"):
        list_recordings(tmp_path / "a.wav")
