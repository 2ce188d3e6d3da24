"""Carries the deaths out: each in an attempt of the worker's own, on a real desktop of a provider."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from backend.domain.errors import NotFound
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import Budget, RunConfig, ScreenSize
from backend.domain.model.task import EvaluatorSpec, MetricCall, Task, TaskKey
from backend.domain.model.trajectory import Action, ActionType, Decision
from backend.domain.ports.desktop import OpenDesktop, Provider
from backend.services.scheduling.claims import Claim, Fence
from tests.fakes.attempt_log import MemoryBook
from tests.fakes.evaluator import InProcessJudge
from tests.fakes.web import FakeWeb
from tools.chaos.from_inside.death import Death
from worker.attempt.attempt_dependencies import AttemptDeps
from worker.attempt.runner import run_attempt
from worker.base.lease import HeldLease, LeaseGrant

LOOKS = 3
"""Steps after the deadly one, each with an observation: a desktop may die late."""
_RESULT: Mapping[str, str] = {"linux": "/home/user/result.txt", "windows": "C:\\Users\\Docker\\result.txt"}
_SHOW: Mapping[str, str] = {"linux": "cat", "windows": "type"}


@dataclass(frozen=True)
class DeathOutcome:
    """How an attempt ended.

    Attributes:
        ended: `scored`, or what else the attempt's last move was.
        cause: of the desktop's end, empty if it survived.
        message: why it was lost.
    """

    death: Death
    ended: str
    score: float | None
    ended_by: str
    cause: str
    message: str
    seconds: float

    @property
    def passed(self) -> bool:
        """Scored as unsolved: neither lost nor tried again."""
        return self.ended == "scored" and self.score == 0.0


def task_for(death: Death) -> Task:
    """A task that is not solved by dying."""
    command = f"{_SHOW[death.system]} {_RESULT[death.system]}"
    call = MetricCall(
        func="exact_match",
        result={"type": "vm_command_line", "command": command, "shell": True},
        expected={"type": "rule", "rules": {"expected": "done"}},
    )
    return Task(
        key=TaskKey(domain="from_inside", name="write_result"),
        dialect="starter",
        instruction="Write done into the file result.txt.",
        evaluator=EvaluatorSpec(calls=(call,)),
    )


class _QuietPump:
    def close(self) -> None:
        """Nobody watches."""


def carry_out(death: Death, provider: Provider, image: str = "default") -> DeathOutcome:
    """Runs one attempt whose agent does it at its first step, and looks at the screen afterwards."""
    began = time.monotonic()
    claim = _claim(death, provider.name, image)
    book = MemoryBook()
    tools = AttemptDeps(provider, InProcessJudge(), _no_asset, _pump, FakeWeb())
    run_attempt(claim, HeldLease(LeaseGrant(claim.lease_id, provider.name), 600.0), book, tools)
    evaluation = book.evaluation
    return DeathOutcome(
        death=death,
        ended=book.moves[-1] if book.moves else "nothing",
        score=None if evaluation is None else evaluation.score,
        ended_by="" if book.ended_by is None else book.ended_by.value,
        cause="" if book.desktop_end is None else book.desktop_end.cause.value,
        message=book.message,
        seconds=time.monotonic() - began,
    )


def _claim(death: Death, provider: str, image: str) -> Claim:
    deadly = Decision(actions=(Action(type=ActionType.PYTHON, text=death.code),))
    look = Decision(actions=(Action(type=ActionType.WAIT),))
    config = RunConfig(agent="replay", provider=provider, screen=ScreenSize(width=800, height=600), budget=Budget())
    attempt = uuid4()
    values: dict[str, Any] = {"episode_id": uuid4(), "run_id": uuid4(), "task_id": uuid4(), "lease_id": uuid4()}
    return Claim(
        fence=Fence(attempt, 1),
        attempt_id=attempt,
        provider=provider,
        slot=SlotRef(0),
        task=task_for(death),
        config=config,
        seed=1,
        attempt_number=1,
        assets={},
        image=image,
        trajectory=(deadly, *[look] * LOOKS),
        **values,
    )


def _no_asset(sha256: str) -> bytes:
    raise NotFound(f"no artifact {sha256}")


def _pump(_claim: Claim, _opened: OpenDesktop, _step: object) -> _QuietPump:
    return _QuietPump()


def summary(outcomes: Sequence[DeathOutcome]) -> str:
    """One line with the figures."""
    lost = sum(outcome.ended == "lost" for outcome in outcomes)
    wrong = sum(outcome.ended == "scored" and outcome.score != 0.0 for outcome in outcomes)
    died = sum(bool(outcome.cause) for outcome in outcomes)
    unjudged = sum(outcome.ended not in {"scored", "lost"} for outcome in outcomes)
    figures = f"{lost} lost, {lost} re-rolled, {wrong} wrong, {unjudged} without a verdict"
    return f"{len(outcomes)} deaths tried, {died} ended the desktop: {figures}"
