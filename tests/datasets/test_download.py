import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from raravis.datasets._download import DatasetError, download

CONTENT = bytes(range(256)) * 1024
HALF = len(CONTENT) // 2


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def target(tmp_path):
    return tmp_path / "cache" / "toys" / "file.bin"


@pytest.fixture
def dead_url():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/file"


def test_whole_file_arrives_under_its_name(serve, remote, target):
    mirror = serve(CONTENT)
    download(remote(CONTENT, mirror.url), target)
    assert target.read_bytes() == CONTENT
    assert names(target.parent) == ["file.bin"]
    assert mirror.requests == [None]


@pytest.mark.parametrize("status", [404, 500, 403])
def test_mirror_that_refuses_is_passed_over(serve, remote, target, status):
    bad, good = serve(status=status), serve(CONTENT)
    download(remote(CONTENT, bad.url, good.url), target)
    assert target.read_bytes() == CONTENT
    assert len(bad.requests) == len(good.requests) == 1


def test_dead_mirror_is_passed_over(serve, remote, target, dead_url):
    good = serve(CONTENT)
    download(remote(CONTENT, dead_url, good.url), target)
    assert target.read_bytes() == CONTENT


def test_first_mirror_that_works_is_the_only_one_asked(serve, remote, target):
    first, second = serve(CONTENT), serve(CONTENT)
    download(remote(CONTENT, first.url, second.url), target)
    assert second.requests == []


def test_broken_connection_is_resumed_with_a_range(serve, remote, target):
    mirror = serve(CONTENT, cuts=[HALF])
    download(remote(CONTENT, mirror.url), target)
    assert target.read_bytes() == CONTENT
    assert mirror.requests == [None, f"bytes={HALF}-"]


def test_every_break_that_brought_something_is_resumed(serve, remote, target):
    mirror = serve(CONTENT, cuts=[1000] * 5)
    download(remote(CONTENT, mirror.url), target)
    assert target.read_bytes() == CONTENT
    assert mirror.requests[1:] == [f"bytes={1000 * i}-" for i in range(1, 6)]


def test_server_without_ranges_is_asked_for_all_of_it_again(serve, remote, target):
    mirror = serve(CONTENT, cuts=[HALF], ranges=False)
    download(remote(CONTENT, mirror.url), target)
    assert target.read_bytes() == CONTENT
    assert len(mirror.requests) == 2


def test_next_mirror_resumes_what_the_first_left(serve, remote, target):
    first, second = serve(CONTENT, cuts=[HALF, 0]), serve(CONTENT)
    download(remote(CONTENT, first.url, second.url), target)
    assert target.read_bytes() == CONTENT
    assert second.requests == [f"bytes={HALF}-"]


def test_interrupted_download_leaves_only_a_part_and_the_next_call_resumes(serve, remote, target):
    mirror = serve(CONTENT, cuts=[HALF, 0])
    with pytest.raises(DatasetError, match=rf"ended after {HALF} of {len(CONTENT)} bytes"):
        download(remote(CONTENT, mirror.url), target)
    assert names(target.parent) == ["file.bin.part"]
    assert (target.parent / "file.bin.part").read_bytes() == CONTENT[:HALF]
    download(remote(CONTENT, mirror.url), target)
    assert target.read_bytes() == CONTENT
    assert mirror.requests[-1] == f"bytes={HALF}-"
    assert names(target.parent) == ["file.bin"]


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_killed_process_leaves_only_a_part_which_is_resumed(serve, remote, target):
    release = threading.Event()
    mirror = serve(CONTENT, cuts=[HALF], stall=release)
    file = remote(CONTENT, mirror.url)
    code = (
        "from pathlib import Path; from raravis.datasets._download import download; "
        "from raravis.datasets._registry import RemoteFile; "
        f"download({file!r}, Path({str(target)!r}))"
    )
    part = target.with_name("file.bin.part")
    with subprocess.Popen([sys.executable, "-c", code]) as process:  # noqa: S603
        deadline = time.monotonic() + 60
        while not (part.exists() and part.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    release.set()
    assert names(target.parent) == ["file.bin.part"]
    kept = part.stat().st_size
    assert 0 < kept <= HALF
    download(file, target)
    assert target.read_bytes() == CONTENT
    assert mirror.requests[-1] == f"bytes={kept}-"


def test_leftover_of_another_file_costs_one_more_round_only(serve, remote, target):
    target.parent.mkdir(parents=True)
    target.with_name("file.bin.part").write_bytes(b"something else")
    mirror = serve(CONTENT)
    download(remote(CONTENT, mirror.url), target)
    assert target.read_bytes() == CONTENT
    assert mirror.requests == ["bytes=14-", None]


def test_leftover_longer_than_the_file_is_thrown_away(serve, remote, target):
    target.parent.mkdir(parents=True)
    target.with_name("file.bin.part").write_bytes(CONTENT + b"more")
    mirror = serve(CONTENT)
    download(remote(CONTENT, mirror.url), target)
    assert target.read_bytes() == CONTENT


def test_complete_leftover_needs_no_network(remote, target, dead_url):
    target.parent.mkdir(parents=True)
    target.with_name("file.bin.part").write_bytes(CONTENT)
    download(remote(CONTENT, dead_url), target)
    assert target.read_bytes() == CONTENT
    assert names(target.parent) == ["file.bin"]


def test_partial_answer_from_elsewhere_is_not_appended(serve, remote, target):
    mirror = serve(CONTENT, cuts=[HALF], range_start=7)
    download(remote(CONTENT, mirror.url), target)
    assert target.read_bytes() == CONTENT
    assert mirror.requests == [None, f"bytes={HALF}-", None]


def test_wrong_checksum_is_deleted_and_refused(serve, remote, target):
    mirror = serve(CONTENT[:-1] + b"!")
    file = remote(CONTENT, mirror.url)
    with pytest.raises(DatasetError, match="wrong checksum") as caught:
        download(file, target)
    assert file.sha256[0] in str(caught.value)
    assert names(target.parent) == []
    assert len(mirror.requests) == 1


def test_wrong_checksum_sends_on_to_the_next_mirror(serve, remote, target):
    portal, good = serve(b"<html>please log in</html>"), serve(CONTENT)
    download(remote(CONTENT, portal.url, good.url), target)
    assert target.read_bytes() == CONTENT
    assert good.requests == [None]


def test_truncation_without_a_declared_length_is_caught_by_checksum(serve, remote, target):
    mirror = serve(CONTENT, cuts=[HALF], declares_length=False)
    with pytest.raises(DatasetError, match="wrong checksum"):
        download(remote(CONTENT, mirror.url), target)
    assert names(target.parent) == []


def test_all_failures_are_listed(serve, remote, target, dead_url):
    missing = serve(status=404)
    with pytest.raises(DatasetError) as caught:
        download(remote(CONTENT, missing.url, dead_url), target)
    assert f"{missing.url}: HTTP 404 Not Found" in str(caught.value)
    assert f"{dead_url}: " in str(caught.value)
    assert "refused" in str(caught.value)
    assert names(target.parent) == []


def test_silent_server_times_out(serve, remote, target):
    release = threading.Event()
    mirror = serve(CONTENT, cuts=[0], stall=release)
    with pytest.raises(DatasetError, match="timed out"):
        download(remote(CONTENT, mirror.url), target, timeout=0.2)
    release.set()
    assert names(target.parent) == []


@pytest.mark.parametrize("scheme", ["file", "ftp", "data"])
def test_only_http_is_followed(serve, remote, target, tmp_path, scheme):
    (tmp_path / "local").write_bytes(CONTENT)
    elsewhere = f"{scheme}://{tmp_path / 'local'}"
    mirror = serve(CONTENT, redirect=elsewhere)
    with pytest.raises(DatasetError):
        download(remote(CONTENT, elsewhere, mirror.url), target)
    assert names(target.parent) == []


def test_redirect_to_http_is_followed(serve, remote, target):
    good = serve(CONTENT)
    download(remote(CONTENT, serve(redirect=good.url).url), target)
    assert target.read_bytes() == CONTENT


def test_progress_counts_up_to_the_whole_also_when_resumed(serve, remote, target):
    calls = []
    mirror = serve(CONTENT, cuts=[HALF])
    download(remote(CONTENT, mirror.url), target, progress=lambda *args: calls.append(args))
    done = [so_far for so_far, _ in calls]
    assert done == sorted(done)
    assert calls[-1] == (len(CONTENT), len(CONTENT))
    assert {total for _, total in calls} == {len(CONTENT)}


def test_progress_without_a_declared_length_has_no_total(serve, remote, target):
    calls = []
    mirror = serve(CONTENT, declares_length=False)
    download(remote(CONTENT, mirror.url), target, progress=lambda *args: calls.append(args))
    assert calls[-1] == (len(CONTENT), None)


def test_interrupt_by_the_user_keeps_the_part(serve, remote, target):
    def stop(so_far, total):
        raise KeyboardInterrupt

    mirror = serve(CONTENT)
    with pytest.raises(KeyboardInterrupt):
        download(remote(CONTENT, mirror.url), target, progress=stop)
    assert names(target.parent) == ["file.bin.part"]


@pytest.mark.skipif(os.name == "nt", reason="files are locked on POSIX only")
def test_downloads_at_the_same_time_share_one_transfer(serve, remote, target):
    mirror = serve(CONTENT)
    file = remote(CONTENT, mirror.url)
    start = threading.Barrier(8)

    def work():
        start.wait()
        download(file, target)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert target.read_bytes() == CONTENT
    assert mirror.requests == [None]
    assert names(target.parent) == ["file.bin"]


def test_folder_that_cannot_be_made(serve, remote, tmp_path):
    (tmp_path / "cache").write_text("a file, not a folder")
    mirror = serve(CONTENT)
    with pytest.raises(OSError, match="cache"):
        download(remote(CONTENT, mirror.url), tmp_path / "cache" / "toys" / "file.bin")
    assert mirror.requests == []
