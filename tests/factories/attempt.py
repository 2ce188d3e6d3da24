"""One call of `run_attempt` with fakes all around it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from backend.domain.errors import NotFound
from backend.domain.model.task import Task
from backend.domain.model.trajectory import Action
from backend.domain.ports.desktop import OpenDesktop
from backend.services.scheduling.claims import Claim
from tests.factories.claims import claim_of
from tests.fakes.agent_channel import FakeLine
from tests.fakes.attempt_log import MemoryBook
from tests.fakes.desktop import FakeDesktop
from tests.fakes.evaluator import InProcessJudge
from tests.fakes.provider import FakeProvider
from tests.fakes.web import FakeWeb
from worker.attempt.attempt_dependencies import AttemptDeps, AttemptLog, untold
from worker.attempt.runner import run_attempt
from worker.base.lease import HeldLease, LeaseGrant


class QuietPump:
    """Counts how often it was closed."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


class AttemptCase:
    """One call of run_attempt with fakes all around it."""

    def __init__(self, task: Task, agent: str = "noop", **more: Any) -> None:
        self.provider = FakeProvider()
        self.book = MemoryBook()
        self.judge = InProcessJudge()
        self.pump = QuietPump()
        self.claim = claim_of(task, agent, **more)
        self.hold = HeldLease(LeaseGrant(self.claim.lease_id, "fake"), 60.0)
        self.on_perform: Callable[[Action], None] | None = None
        self.line: FakeLine | None = None
        self.opening: Callable[[Claim, AttemptLog], AbstractContextManager[object]] = untold

    def run(self) -> bool:
        def fetch(sha256: str) -> bytes:
            raise NotFound(f"no artifact {sha256}")

        def pump(_claim: Claim, _opened: OpenDesktop, _step: Callable[[], int]) -> QuietPump:
            self.desktop.on_perform = self.on_perform or self.desktop.on_perform
            return self.pump

        tools = AttemptDeps(
            self.provider,
            self.judge,
            fetch,
            pump,
            FakeWeb(),
            line=lambda _claim, _hold: self.line,
            opening=self.opening,
        )
        return run_attempt(self.claim, self.hold, self.book, tools)

    @property
    def desktop(self) -> FakeDesktop:
        return self.provider.opened[0].fake

    @property
    def score(self) -> float | None:
        assert self.book.evaluation is not None
        return self.book.evaluation.score
