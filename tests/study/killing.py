"""Runs of a study that end badly, each in a process of its own."""

import os
import resource
import signal
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

# What a run imports late is imported here, once for all the processes that this one is forked for.
import soundfile  # noqa: F401

import raravis.estimators.novelty_detector
import raravis.grouping
import raravis.study.report  # noqa: F401
from raravis.errors import InputError
from raravis.study import Study, steps

_NOBODY = 65534


def in_a_process(work: Callable[..., None], *arguments: Any) -> int:
    """Do work in a new process, and return its exit status (minus the signal that killed it)."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["tests.study.killing"])
    process = context.Process(target=work, args=arguments)
    process.start()
    process.join()
    assert process.exitcode is not None
    return process.exitcode


def run_until_write(folder: Path, number: int, after: bool) -> None:
    """Run a study, and die at the n-th file that is put in its place: before that or after it."""
    rename = Path.replace
    count = 0

    def replace(draft: Path, target: Path) -> Path:
        nonlocal count
        count += 1
        if count == number and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        done = rename(draft, target)
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    Path.replace = replace  # type: ignore[method-assign,assignment]
    steps.run(Study.open(folder), workers=1)


def run_with_little_space(folder: Path, n_bytes: int, told: Path) -> None:
    """Run a study where no file may get larger than some bytes, and note the error."""
    study = Study.open(folder)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))
    _note_error(study, told)


def run_as_nobody(folder: Path, told: Path) -> None:
    """Run a study as somebody who may not write in it, and note the error."""
    note = told.open("w", encoding="utf-8")
    if os.geteuid() == 0:
        os.seteuid(_NOBODY)
    try:
        steps.run(Study.open(folder), workers=1)
    except InputError as error:
        with note:
            note.write(str(error))


def _note_error(study: Study, told: Path) -> None:
    try:
        steps.run(study, workers=1)
    except InputError as error:
        told.write_text(str(error), encoding="utf-8")
