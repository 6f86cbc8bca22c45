import os
import sys
from pathlib import Path

import pytest

from raravis.datasets import DatasetError, user_cache
from raravis.datasets._fetch import fetch_bytes
from raravis.datasets._registry import HJA_FILES, MNIST_FILES, RemoteFile
from raravis.errors import InputError, RaravisError

CONTENT = b"some published bytes"


def place(folder, content=CONTENT):
    path = folder / "toys" / "file.bin"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


def test_order_argument_environment_cache_download(alone, serve, remote, tmp_path, monkeypatch):
    # Two contents are accepted, so that what is returned tells where it was found.
    mirror = serve(b"from the mirror")
    contents = {"home": b"from home", "environment": b"from the environment", "cache": b"cached"}
    sums = [remote(c).sha256[0] for c in [*contents.values(), mirror.content]]
    file = RemoteFile("toys/file.bin", tuple(sums), (mirror.url,))
    home, environment = tmp_path / "home", tmp_path / "environment"
    monkeypatch.setenv("RARAVIS_DATA", str(environment))
    paths = [
        place(folder, content)
        for folder, content in zip([home, environment, alone], contents.values(), strict=True)
    ]
    for path, content in zip(paths, contents.values(), strict=True):
        assert fetch_bytes(file, data_home=home) == content
        path.unlink()
    assert mirror.requests == []
    assert fetch_bytes(file, data_home=home) == mirror.content


def test_download_goes_to_the_argument(alone, serve, remote, tmp_path, monkeypatch):
    monkeypatch.setenv("RARAVIS_DATA", str(tmp_path / "environment"))
    mirror = serve(CONTENT)
    fetch_bytes(remote(CONTENT, mirror.url), data_home=str(tmp_path / "home"))
    assert (tmp_path / "home" / "toys" / "file.bin").read_bytes() == CONTENT
    assert not (tmp_path / "environment").exists()


def test_download_goes_to_the_cache_without_an_argument(
    alone, serve, remote, monkeypatch, tmp_path
):
    monkeypatch.setenv("RARAVIS_DATA", str(tmp_path / "environment"))
    mirror = serve(CONTENT)
    file = remote(CONTENT, mirror.url)
    assert fetch_bytes(file) == CONTENT
    assert (alone / "toys" / "file.bin").read_bytes() == CONTENT
    assert fetch_bytes(file) == CONTENT
    assert len(mirror.requests) == 1


@pytest.mark.parametrize("damage", [b"", CONTENT[:-1], CONTENT + b"\n", b"other bytes"])
def test_damaged_file_is_refused_and_kept(alone, serve, remote, tmp_path, damage):
    path = place(tmp_path, damage)
    mirror = serve(CONTENT)
    file = remote(CONTENT, mirror.url)
    with pytest.raises(DatasetError) as caught:
        fetch_bytes(file, data_home=tmp_path)
    got = remote(damage).sha256[0]
    for part in (str(path), f"expected SHA-256 {file.sha256[0]}", f"got {got}", "delete it"):
        assert part in str(caught.value)
    assert path.read_bytes() == damage
    assert mirror.requests == []


def test_offline_error_says_what_was_tried_and_what_to_do(alone, remote, tmp_path):
    urls = ("http://127.0.0.1:9/a", "http://127.0.0.1:9/b")
    with pytest.raises(DatasetError) as caught:
        fetch_bytes(remote(CONTENT, *urls), data_home=tmp_path / "home")
    message = str(caught.value)
    for part in (*urls, "toys/file.bin", str(tmp_path / "home"), str(alone), "RARAVIS_DATA=FOLDER"):
        assert part in message
    assert message.index(urls[0]) < message.index(urls[1])


def test_no_download_where_it_is_not_allowed(alone, serve, remote):
    mirror = serve(CONTENT)
    with pytest.raises(DatasetError, match=r"missing, and downloading is off.*RARAVIS_DATA"):
        fetch_bytes(remote(CONTENT, mirror.url), allow_download=False)
    assert mirror.requests == []
    assert not alone.exists()


def test_read_only_cache_is_a_clear_error(alone, serve, remote, monkeypatch):
    def refuse(self, *args, **kwargs):
        raise PermissionError(13, "Permission denied", str(self))

    mirror = serve(CONTENT)
    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(DatasetError) as caught:
        fetch_bytes(remote(CONTENT, mirror.url))
    for part in (str(alone), "cannot be written: Permission denied", "data_home=", "RARAVIS_DATA"):
        assert part in str(caught.value)
    assert mirror.requests == []


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere"
)
def test_folder_without_write_permission(alone, serve, remote, tmp_path):
    tmp_path.chmod(0o500)
    mirror = serve(CONTENT)
    try:
        with pytest.raises(DatasetError, match="cannot be written"):
            fetch_bytes(remote(CONTENT, mirror.url), data_home=tmp_path)
    finally:
        tmp_path.chmod(0o700)


def test_full_disk_is_not_blamed_on_the_mirror(alone, serve, remote, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    mirror, second = serve(CONTENT), serve(CONTENT)
    monkeypatch.setattr("raravis.datasets._download.os.fsync", full)
    with pytest.raises(DatasetError, match="cannot be written: No space left on device"):
        fetch_bytes(remote(CONTENT, mirror.url, second.url))
    assert second.requests == []
    assert [path.name for path in (alone / "toys").iterdir()] == ["file.bin.part"]


def test_unreadable_file(alone, remote, tmp_path):
    (tmp_path / "toys" / "file.bin").mkdir(parents=True)
    with pytest.raises(DatasetError, match="cannot be read"):
        fetch_bytes(remote(CONTENT), data_home=tmp_path)


def test_data_folder_that_is_a_file(alone, remote, tmp_path):
    (tmp_path / "data").write_text("no folder")
    with pytest.raises(InputError, match="is a file"):
        fetch_bytes(remote(CONTENT), data_home=tmp_path / "data")


def test_data_set_errors_can_be_caught_as_ours_and_as_os_errors():
    assert issubclass(DatasetError, RaravisError)
    assert issubclass(DatasetError, OSError)


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="the XDG convention")
def test_user_cache_follows_xdg(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache() == tmp_path / "raravis"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_cache() == tmp_path / ".cache" / "raravis"


@pytest.mark.parametrize(
    ("platform", "expected"),
    [("win32", "AppData/Local/raravis"), ("darwin", "Library/Caches/raravis")],
)
def test_user_cache_on_other_platforms(monkeypatch, tmp_path, platform, expected):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert user_cache() == tmp_path / expected


@pytest.mark.parametrize("file", [*MNIST_FILES.values(), *HJA_FILES.values()], ids=lambda f: f.path)
def test_registry_is_well_formed(file):
    assert len(file.urls) >= 2
    assert all(url.endswith("/" + file.path.split("/")[1]) for url in file.urls)
    assert all(len(bytes.fromhex(digest)) == 32 for digest in file.sha256)


@pytest.mark.data
@pytest.mark.parametrize("file", [*MNIST_FILES.values(), *HJA_FILES.values()], ids=lambda f: f.path)
def test_registry_knows_the_real_files(alone, real_data, file):
    assert fetch_bytes(file, data_home=real_data, allow_download=False)
