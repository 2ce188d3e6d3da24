"""Forecast of a run before it is submitted: cost and statistical power."""

import math
from collections import Counter
from statistics import NormalDist, fmean
from typing import Any
from uuid import UUID

from pydantic import Field, computed_field
from sqlalchemy.orm import Session

from backend.db.repositories.benchmarks import task_groups as repository
from backend.db.repositories.benchmarks.task_groups import TaskFilter
from backend.db.repositories.runs import new_run_view
from backend.db.repositories.scheduling import scheduler
from backend.domain.errors import DeskarenaError, Invalid, Unavailable
from backend.domain.model.reason import Reason, ReasonCode
from backend.domain.model.run import RunConfig
from backend.services.benchmarks.benchmarks import get_benchmark, latest_task_set
from backend.services.benchmarks.variants import unknown_variant
from backend.services.capacity.config_checks import (
    config_problems,
    field_problems,
    requested_config,
    resolved_config,
)
from backend.services.capacity.run_request import RunRequest
from backend.services.capacity.worker_capabilities import Capabilities, capabilities
from backend.services.read_model import FieldProblem, ReadModel
from backend.services.runs.runnability import Runnability
from backend.services.runs.task_selection import selection_of

POWER = 0.8
LEVEL = 0.05
FEW = 3


class NotRunnableTask(ReadModel):
    """A task that cannot run here, and why."""

    task: str = Field(examples=["calc/sum-column"])
    reason: str = Field(examples=["localc is not installed"])
    reason_code: ReasonCode = Field(examples=[ReasonCode.PROGRAMS_NOT_INSTALLED])


class NotRunnableReason(ReadModel):
    """A reason why tasks cannot run, with their number."""

    reason: str = Field(examples=["localc is not installed"])
    reason_code: ReasonCode = Field(examples=[ReasonCode.PROGRAMS_NOT_INSTALLED])
    tasks: int = Field(examples=[3])


class Forecast(ReadModel):
    """Forecast of a run."""

    episodes: int = Field(description="Episodes that would run.", examples=[24])
    tasks: int = Field(examples=[24])
    not_runnable: list[NotRunnableTask]
    reasons: list[NotRunnableReason] = Field(description="Why tasks cannot run, most frequent first.")
    slots: int = Field(description="Desktops that work at the same time for this provider.", examples=[2])
    seconds: float | None = Field(description="Expected wall time; null where nothing comparable has run.")
    sample: int = Field(description="Ended episodes that the time is estimated from.")
    detectable_difference: float | None = Field(
        description="Smallest difference of two success rates that two such runs would show (80 % power, 5 % level).",
        examples=[0.28],
    )
    problems: list[FieldProblem] = Field(description="Why it cannot be submitted as it stands.")

    @property
    def blocked(self) -> int:
        """Selected tasks that cannot run."""
        return sum(reason.tasks for reason in self.reasons)

    @computed_field(examples=["on 2 slots, from 48 earlier episodes"])  # type: ignore[prop-decorator]
    @property
    def duration_basis(self) -> str:
        """Basis of the expected time."""
        if self.seconds is None:
            return "no earlier runs of this agent on this benchmark" if self.slots else "no slots online"
        return f"on {self.slots} slot{'' if self.slots == 1 else 's'}, based on {self.sample} earlier episodes"


def smallest_difference(episodes: int, rate: float = 0.5) -> float | None:
    """Difference of two success rates, each from `episodes` independent episodes, that is detected 4 times in 5.

    Normal approximation of the two-sided test of two proportions at the 5 % level. It is largest around a rate of one
    half, so this is conservative; paired runs on the same tasks can show smaller differences.
    """
    if episodes < 1:
        return None
    normal = NormalDist()
    reach = normal.inv_cdf(1 - LEVEL / 2) + normal.inv_cdf(POWER)
    return min(1.0, reach * math.sqrt(2 * rate * (1 - rate) / episodes))


def forecast(session: Session, request: RunRequest, *, listed: bool = True, history: bool = True) -> Forecast:
    """Forecast of a run as if it were submitted now. Invalid fields are reported, not raised.

    Args:
        session: the transaction.
        request: the request.
        listed: name the tasks that cannot run, too, not only their reasons.
        history: estimate the time from earlier episodes.

    Raises:
        NotFound: There is no such benchmark.
    """
    benchmark = get_benchmark(session, request.benchmark)
    task_set = latest_task_set(session, request.benchmark)
    problems: list[FieldProblem] = []
    selected = _chosen(session, task_set.id, request, problems)
    variant = _variant(request.variant)
    groups = repository.task_groups(session, task_set.id, selected, variant) if selected else []
    if request.variant and groups and not any(group.has_variant for group in groups):
        problems += field_problems(unknown_variant(session, task_set.id, request.variant), "variant")
    can, config = _can(session, request, problems)
    check = Runnability(can, config, request.purpose)
    numbers = [(_why_not(check, group), group.number) for group in groups]
    reasons: Counter[Reason] = Counter()
    for reason, number in numbers:
        if reason is not None:
            reasons[reason] += number
    rows = repository.task_rows(session, task_set.id, selected, variant) if listed and selected and reasons else []
    runnable = sum(number for reason, number in numbers if reason is None)
    slots, _ = scheduler.slots(session, request.provider)
    if request.concurrency is not None:
        slots = min(slots, request.concurrency)
    past = new_run_view.durations(session, benchmark.id, request.agent, request.provider) if history else ()
    episodes = runnable * request.repeats
    return Forecast(
        episodes=episodes,
        tasks=runnable,
        not_runnable=[
            NotRunnableTask(task=row.key, reason=reason.text, reason_code=reason.code)
            for row in rows
            if (reason := _why_not(check, row))
        ],
        reasons=[
            NotRunnableReason(reason=reason.text, reason_code=reason.code, tasks=number)
            for reason, number in reasons.most_common()
        ],
        slots=slots,
        seconds=fmean(past) * math.ceil(episodes / slots) if len(past) >= FEW and slots else None,
        sample=len(past),
        detectable_difference=smallest_difference(episodes),
        problems=problems,
    )


def _chosen(
    session: Session, task_set_id: UUID, request: RunRequest, problems: list[FieldProblem]
) -> TaskFilter | None:
    """Which tasks; None, with a problem, if none."""
    try:
        return selection_of(session, task_set_id, request)
    except Invalid as error:
        problems += field_problems(error)
        return None


def _variant(name: str | None) -> tuple[str, str] | None:
    axis, _, value = (name or "").partition("=")
    return (axis, value) if name else None


def _why_not(check: Runnability, tasks: Any) -> Reason | None:
    """Why a task or a group of the repository cannot run."""
    return check.why_not(tasks, quarantined=tasks.quarantined, has_variant=tasks.has_variant)


def _can(session: Session, request: RunRequest, problems: list[FieldProblem]) -> tuple[Capabilities | None, RunConfig]:
    """Workers' capabilities, None if unknown; and the request's configuration as far as valid."""
    try:
        can = capabilities(session)
    except Unavailable as error:
        problems += field_problems(error, "provider")
        return None, request
    try:
        config = requested_config(can, request)
    except DeskarenaError as error:
        problems += field_problems(error)
        return can, request
    wrong = config_problems(can, config)
    problems += wrong
    return can, request if wrong else resolved_config(can, request)
