"""A recorder that keeps steps in memory, loses its lease or is cancelled when told to."""

from backend.domain.errors import LeaseLost
from backend.domain.trajectory import StepRecord


class MemoryRecorder:
    """Keeps steps in order.

    Attributes:
        steps: what was kept.
        is_cancelled: the run was cancelled.
        lease_lost: the lease is no longer ours.
    """

    def __init__(self) -> None:
        self.steps: list[StepRecord] = []
        self.is_cancelled = False
        self.lease_lost = False

    def step(self, record: StepRecord) -> None:
        self._check()
        self.steps.append(record)

    def cancelled(self) -> bool:
        self._check()
        return self.is_cancelled

    def _check(self) -> None:
        if self.lease_lost:
            raise LeaseLost("the lease was taken over")
