"""Ports to where things are kept, and to time. See `ports.py` for what holds for all of them."""

from typing import Protocol

from backend.domain.trajectory import StepRecord


class ArtifactStore(Protocol):
    """Content-addressed bytes."""

    def put(self, data: bytes, media_type: str) -> str:
        """Stores and returns the sha256 (hex). Safe to call twice. Raises Unavailable when there is no room."""
        ...

    def get(self, sha256: str) -> bytes:
        """The bytes. Raises NotFound."""
        ...

    def delete(self, sha256: str) -> None:
        """Removes; absent is fine."""
        ...


class Recorder(Protocol):
    """Where the loop's steps go. Every call raises LeaseLost once the lease is no longer ours."""

    def step(self, record: StepRecord) -> None:
        """Takes one step to keep. May return before it is kept: the page's settling is a good time to write it."""
        ...

    def flush(self) -> None:
        """Returns when every step that was handed over is kept durably; asked before the next observation.

        Raises:
            ClusterLost: it cannot be kept, for example because the disk is full.
        """
        ...

    def cancelled(self) -> bool:
        """True when somebody cancelled the run. Cheap: asked before every step."""
        ...


class Watch(Protocol):
    """Looks at the parts of a task that are checked after each of the agent's actions."""

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

    def sleep(self, seconds: float) -> None:
        """Waits."""
        ...
