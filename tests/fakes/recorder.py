"""A recorder that keeps steps in memory, loses its lease or is cancelled on demand."""

from collections.abc import Callable

from backend.domain.errors import LeaseLost
from backend.domain.model.trajectory import StepRecord


class MemoryRecorder:
    """Keeps steps in order, as late as the port allows.

    Attributes:
        steps: what was kept.
        on_keep: called for each step when it is kept; may raise.
        is_cancelled: the run was cancelled.
        lease_lost: the lease is no longer ours.
    """

    def __init__(self) -> None:
        self.steps: list[StepRecord] = []
        self.on_keep: Callable[[StepRecord], None] | None = None
        self._taken: list[StepRecord] = []
        self.is_cancelled = False
        self.lease_lost = False

    def step(self, record: StepRecord) -> None:
        self._check()
        self._taken.append(record)

    def flush(self) -> None:
        self._check()
        while self._taken:
            record = self._taken.pop(0)
            if self.on_keep is not None:
                self.on_keep(record)
            self.steps.append(record)

    def cancelled(self) -> bool:
        self._check()
        return self.is_cancelled

    def _check(self) -> None:
        if self.lease_lost:
            raise LeaseLost("the lease was taken over")
