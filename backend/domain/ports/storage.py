"""Ports of storage and time."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from backend.domain.model.trajectory import StepRecord


class ArtifactStore(Protocol):
    """Content-addressed bytes. Safe to use from several threads and processes at once.

    A reader sees either everything that was put, or nothing. Every call ends in bounded time.
    """

    def put(self, data: bytes, media_type: str) -> str:
        """Stores and returns the sha256 (hex). Safe to call twice: the second makes the bytes young again.

        Raises:
            Unavailable: the store is full, unreachable or not writable; the hint says what to do.
        """
        ...

    def get(self, sha256: str) -> bytes:
        """The bytes, checked against their hash.

        Raises:
            NotFound: they are not there, or what is there has another hash (DamagedArtifact).
            Unavailable: the store cannot be reached or read.
        """
        ...

    def delete(self, sha256: str) -> None:
        """Removes the bytes; safe if absent. Raises NotFound for an invalid hash, Unavailable as `get` does."""
        ...

    def age(self, sha256: str, now: float) -> float | None:
        """Seconds between storing these bytes and `now` (seconds since 1970); None if absent.

        May be up to an hour more than that: a store need not note every repeated `put`. Raises as `delete` does.
        """
        ...

    def old(self, before: float) -> Iterator[Sequence[str]]:
        """The hashes of what was stored before then (seconds since 1970), in batches. Raises Unavailable."""
        ...

    def tidy(self, before: float) -> int:
        """Removes what writes that never ended have left before then (seconds since 1970). Returns how many."""
        ...


class Recorder(Protocol):
    """Records the loop's steps. Every call raises LeaseLost once the lease is lost."""

    def step(self, record: StepRecord) -> None:
        """Accepts one step. May return before it is stored, which can overlap with settling."""
        ...

    def flush(self) -> None:
        """Returns when every accepted step is stored durably; called before the next observation.

        Raises:
            ClusterLost: it cannot be stored, for example because the disk is full.
        """
        ...

    def cancelled(self) -> bool:
        """True if the run was cancelled. Cheap: called before every step."""
        ...


class CheckpointWatch(Protocol):
    """Evaluates the stepwise parts of a task after each of the agent's actions."""

    def begin(self) -> None:
        """The desktop is set up and the agent has done nothing yet."""
        ...

    def after(self, step: int) -> bool:
        """The actions of that step were carried out and the screen has settled. Asked once per step, in order.

        Returns:
            False when too many steps have passed without a newly reached part: the episode is to end as `stalled`.

        Raises:
            GuestLost: the desktop is gone.
            EvaluatorFailed: what was seen cannot be judged.
        """
        ...


class Clock(Protocol):
    """Time, so that tests need not wait."""

    def now(self) -> float:
        """Monotonic seconds."""
        ...

    def sleep(self, seconds: float) -> None: ...
