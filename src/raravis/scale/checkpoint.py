"""What a fit has reached, in a folder, so that it goes on after a stop as if there had been none.

``plan.npz`` holds what the survey of the data led to, ``state.npz`` where the descent stands. Both
are numbers and JSON, written whole or not at all, and made for one data set and one model: others
are refused.
"""

import hashlib
import json
import zipfile
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raravis._state import decode_labels, encode_labels
from raravis.errors import InputError
from raravis.scale.lbfgs import Descent
from raravis.scale.parts import BagParts, Block
from raravis.scale.writing import written_whole
from raravis.scaling import Scaling

__all__ = ["Checkpoint", "Plan", "identity"]

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Plan:
    """What the survey led to: classes, scaling, width, landmarks, and bags to start with."""

    classes: tuple[Any, ...]
    n_instances: int
    scaling: Scaling
    gamma: float
    landmarks: NDArray[np.float32]
    training_bags: NDArray[np.uint64]
    sample: Block


def identity(parts: BagParts, settings: dict[str, Any]) -> str:
    """Return a text that is the same for the same files and settings only."""
    files = [(f.name, f.stat().st_size, n) for f, n in zip(parts.files, parts.rows, strict=True)]
    told = json.dumps(
        [files, parts.bag, parts.features, parts.labels, sorted(settings.items())], default=repr
    )
    return hashlib.sha256(told.encode()).hexdigest()


class Checkpoint:
    """A folder that may not be there (``folder`` None): then nothing is kept and nothing found."""

    def __init__(self, folder: str | PathLike[str] | None, identity: str) -> None:
        self.folder = None if folder is None else Path(folder)
        self.identity = identity
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)

    def plan(self) -> Plan | None:
        """Return the plan of an earlier run."""
        found = self._read("plan.npz")
        if found is None:
            return None
        head, arrays = found
        sample = Block(
            -1,
            arrays["sample"],
            arrays["offsets"],
            list(range(len(arrays["offsets"]) - 1)),
            [None if item is None else decode_labels(item) for item in head["lists"]],
        )
        return Plan(
            decode_labels(head["classes"]),
            int(head["n_instances"]),
            Scaling(arrays["shift"], arrays["scale"]),
            float(head["gamma"]),
            arrays["landmarks"],
            arrays["training_bags"],
            sample,
        )

    def keep_plan(self, plan: Plan) -> None:
        """Write the plan."""
        lists = plan.sample.label_lists
        head = {
            "classes": encode_labels(plan.classes),
            "n_instances": plan.n_instances,
            "gamma": plan.gamma,
            "lists": [None if item is None else encode_labels(item) for item in lists],
        }
        arrays: Arrays = {
            "sample": plan.sample.instances,
            "offsets": plan.sample.offsets,
            "shift": plan.scaling.shift,
            "scale": plan.scaling.scale,
            "landmarks": plan.landmarks,
            "training_bags": plan.training_bags,
        }
        self._write("plan.npz", head, arrays)

    def descent(self) -> tuple[str, Descent] | None:
        """Return the stage and the state of an earlier run."""
        found = self._read("state.npz")
        if found is None:
            return None
        head, arrays = found
        state = Descent(
            arrays["x"],
            float(arrays["value"]),
            arrays["gradient"],
            tuple(arrays["moves"]),
            tuple(arrays["changes"]),
            tuple(arrays["path"].tolist()),
            int(head["n_evaluations"]),
            bool(head["stuck"]),
        )
        return str(head["stage"]), state

    def keep_descent(self, stage: str, state: Descent) -> None:
        """Write the state, in place of the one before."""
        if self.folder is None:
            return
        none = np.empty((0, len(state.x)))
        arrays: Arrays = {
            "x": state.x,
            "value": np.array(state.value),
            "gradient": state.gradient,
            "moves": np.array(state.moves) if state.moves else none,
            "changes": np.array(state.changes) if state.changes else none,
            "path": np.array(state.path),
        }
        head = {"stage": stage, "n_evaluations": state.n_evaluations, "stuck": state.stuck}
        self._write("state.npz", head, arrays)

    def _write(self, name: str, head: dict[str, Any], arrays: Arrays) -> None:
        if self.folder is None:
            return
        text = json.dumps({"identity": self.identity, **head}).encode()
        full = {"head": np.frombuffer(text, dtype=np.uint8), **arrays}

        def fill(draft: Path) -> None:
            with draft.open("wb") as file:
                np.savez(file, allow_pickle=False, **full)

        written_whole(self.folder / name, fill)

    def _read(self, name: str) -> tuple[dict[str, Any], Arrays] | None:
        if self.folder is None or not (self.folder / name).exists():
            return None
        place = self.folder / name
        try:
            with place.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                arrays = {key: stored[key] for key in stored.files}
            head = json.loads(arrays.pop("head").tobytes())
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(f"{place} is damaged ({error}); delete it to begin anew.") from error
        if head.get("identity") != self.identity:
            raise InputError(
                f"{place} was left by a fit of other data or with other settings; pass another "
                "folder as checkpoint, or delete this one to begin anew."
            )
        return head, arrays
