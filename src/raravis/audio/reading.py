"""Samples of a recording, a block at a time, whatever its format and length."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from raravis.audio.errors import AudioError
from raravis.errors import InputError

__all__ = ["BLOCK_FRAMES", "Sound", "clip", "open_recording", "samples_between"]

PathLike: TypeAlias = str | os.PathLike[str]
Samples: TypeAlias = npt.NDArray[np.float32]
Channel: TypeAlias = int | Literal["mix"]

#: Frames read at a time: ten seconds or so, 2 MiB a channel.
BLOCK_FRAMES = 1 << 19
# A decoder that comes upon a fault gives back nothing of what it was asked for.
_PIECE_FRAMES = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Sound:
    """An open recording.

    Parameters
    ----------
    path : Path
    file : soundfile.SoundFile
    """

    path: Path
    file: Any

    @property
    def sample_rate_hz(self) -> int:
        """Samples a second of each channel."""
        return int(self.file.samplerate)

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return int(self.file.channels)

    @property
    def n_frames(self) -> int:
        """Samples a channel, as far as the file's head says."""
        return max(0, int(self.file.frames))

    @property
    def duration_s(self) -> float:
        """How long the recording is, as far as its head says."""
        return self.n_frames / self.sample_rate_hz

    def blocks(
        self, *, block_frames: int = BLOCK_FRAMES, channel: Channel = "mix"
    ) -> Iterator[Samples]:
        """Read on from here, one block of one channel after the other.

        A file that breaks off ends there. Samples that are not finite count as silence.
        """
        for block in self.frames(block_frames):
            yield _one_channel(block, channel)

    def frames(self, block_frames: int = BLOCK_FRAMES) -> Iterator[Samples]:
        """Read on from here in blocks of shape (frames, channels), up to the end or a fault."""
        while True:
            block = np.empty((block_frames, self.n_channels), np.float32)
            block = block[: self._fill(block)]
            if not len(block):
                return
            if not np.isfinite(block.sum(dtype=np.float64)):
                block = np.nan_to_num(block, copy=False, nan=0.0, posinf=0.0, neginf=0.0)
            yield block
            if len(block) < block_frames:
                return

    def _fill(self, block: Samples) -> int:
        """Read into a block, a little at a time: what stands before a fault is not lost."""
        from soundfile import LibsndfileError

        n_read = 0
        while n_read < len(block):
            piece = block[n_read : n_read + _PIECE_FRAMES]
            try:
                n_got = len(self.file.read(out=piece))
            except LibsndfileError:
                break
            n_read += n_got
            if n_got < len(piece):
                break
        return n_read


@contextmanager
def open_recording(path: PathLike, *, channel: Channel = "mix") -> Iterator[Sound]:
    """Open a recording for reading; AudioError if that is not possible.

    Parameters
    ----------
    path : path
    channel : int or "mix"
        The channel that is going to be read, which has to exist.
    """
    from soundfile import LibsndfileError, SoundFile

    name = Path(path)
    if not name.is_file():
        raise AudioError(f"there is no recording {name}; pass the path of a sound file")
    try:
        file = SoundFile(name)
    except (LibsndfileError, TypeError) as error:
        # TypeError: a name that ends in .raw has no head that says what it holds.
        raise AudioError(
            f"{name} is no sound that can be read ({_reason(error)}); convert it to WAV or FLAC"
        ) from error
    # Where a file can seek, soundfile does so after every read. MP3 decoders lose the bits that
    # a frame borrows from the one before it, and what follows is garbled.
    file.seekable = lambda: False
    with file:
        if channel != "mix" and channel >= file.channels:
            raise AudioError(
                f"{name} has {file.channels} channels and channel is {channel}; channels count "
                "from 0, and 'mix' takes the mean of all"
            )
        yield Sound(name, file)


def clip(
    path: PathLike, begin_s: float, end_s: float, *, channel: Channel = "mix"
) -> tuple[Samples, int]:
    """Return the samples of a stretch of a recording, and their rate in hertz.

    What lies outside the recording is left out.

    Parameters
    ----------
    path : path
    begin_s, end_s : float
        Seconds since the start of the recording; the end is not part of it.
    channel : int or "mix"
    """
    if not 0 <= begin_s <= end_s:
        raise InputError(f"begin_s is {begin_s!r} and end_s {end_s!r}; pass 0 <= begin_s <= end_s")
    with open_recording(path, channel=channel) as sound:
        rate = sound.sample_rate_hz
        first, last = round(begin_s * rate), round(min(end_s, sound.duration_s) * rate)
        return samples_between(sound, first, last, channel=channel), rate


def samples_between(sound: Sound, first: int, last: int, *, channel: Channel = "mix") -> Samples:
    """Return the samples from `first` up to, not including, `last`, as far as there are any."""
    last = min(last, sound.n_frames)
    if first >= last:
        return np.empty(0, np.float32)
    sound.file.seek(first)
    return np.concatenate([np.empty(0, np.float32), *_up_to(sound, last - first, channel)])


def _up_to(sound: Sound, n_frames: int, channel: Channel) -> Iterator[Samples]:
    for block in sound.blocks(block_frames=min(n_frames, BLOCK_FRAMES), channel=channel):
        yield block[:n_frames]
        n_frames -= len(block)
        if n_frames <= 0:
            return


def _one_channel(block: Samples, channel: Channel) -> Samples:
    if block.shape[1] == 1:
        return block[:, 0]
    if channel == "mix":
        mixed: Samples = block.mean(axis=1, dtype=np.float32)
        return mixed
    return np.ascontiguousarray(block[:, channel])


def _reason(error: Exception) -> str:
    if "File does not exist" in str(error):
        # So says libsndfile of an MP3 file without a sound in it. The file does exist.
        return "it holds something else than its name says"
    return str(error).rpartition(": ")[2].rstrip(".") or type(error).__name__
