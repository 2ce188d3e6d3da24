"""Forecast of a run before it is submitted: cost and statistical power."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import NormalDist, fmean
from uuid import UUID

from pydantic import Field, computed_field
from sqlalchemy.orm import Session

from backend.db.models import Task
from backend.db.repositories.benchmarks import benchmark_parts as parts
from backend.db.repositories.runs import new_run_view as repository
from backend.db.repositories.scheduling import scheduler
from backend.domain.errors import DeskarenaError, Invalid, Unavailable, sentences
from backend.domain.model.reason import ReasonCode
from backend.domain.model.run import RunConfig
from backend.services.benchmarks.benchmarks import get_benchmark, latest_task_set
from backend.services.benchmarks.variants import without_variant
from backend.services.capacity.run_request import RunRequest, selected
from backend.services.capacity.worker_capabilities import Capabilities, capabilities, resolved_config
from backend.services.read_model import FieldProblem, ReadModel
from backend.services.runs.runnability import reasons

POWER = 0.8
LEVEL = 0.05
FEW = 3


class NotRunnableTask(ReadModel):
    """A task that cannot run here, and why."""

    task: str = Field(examples=["calc/sum-column"])
    reason: str = Field(examples=["localc is not installed"])
    reason_code: ReasonCode = Field(examples=[ReasonCode.PROGRAMS_NOT_INSTALLED])


class Forecast(ReadModel):
    """Forecast of a run."""

    episodes: int = Field(description="Episodes that would run.", examples=[24])
    tasks: int = Field(examples=[24])
    not_runnable: list[NotRunnableTask]
    slots: int = Field(description="Desktops that work at the same time for this provider.", examples=[2])
    seconds: float | None = Field(description="Expected wall time; null where nothing comparable has run.")
    sample: int = Field(description="Ended episodes that the time is estimated from.")
    detectable_difference: float | None = Field(
        description="Smallest difference of two success rates that two such runs would show (80 % power, 5 % level).",
        examples=[0.28],
    )
    problems: list[FieldProblem] = Field(description="Why it cannot be submitted as it stands.")

    @property
    def reasons(self) -> list[tuple[str, int]]:
        """Reasons why tasks cannot run, with counts."""
        return Counter(each.reason for each in self.not_runnable).most_common()

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


def forecast(session: Session, request: RunRequest) -> Forecast:
    """What would happen if this were submitted now. Invalid fields are reported, not raised.

    Raises NotFound (benchmark).
    """
    benchmark = get_benchmark(session, request.benchmark)
    task_set = latest_task_set(session, request.benchmark)
    tasks = repository.tasks(session, task_set.id)
    problems: list[FieldProblem] = []
    chosen = _select_tasks(tasks, request, parts.selections(session, task_set.id), problems)
    lacking = _lacking(session, task_set.id, request, chosen, problems)
    can, config = _can(session, request, problems)
    why_not = reasons(session, can, config, chosen, purpose=request.purpose, lacking=lacking)
    blocked = [
        NotRunnableTask(task=task.key, reason=reason.text, reason_code=reason.code)
        for task in chosen
        if (reason := why_not[task.id])
    ]
    runnable = len(chosen) - len(blocked)
    slots, _ = scheduler.slots(session, request.provider)
    if request.concurrency is not None:
        slots = min(slots, request.concurrency)
    past = repository.durations(session, benchmark.id, request.agent, request.provider)
    episodes = runnable * request.repeats
    return Forecast(
        episodes=episodes,
        tasks=runnable,
        not_runnable=blocked,
        slots=slots,
        seconds=fmean(past) * math.ceil(episodes / slots) if len(past) >= FEW and slots else None,
        sample=len(past),
        detectable_difference=smallest_difference(episodes),
        problems=problems,
    )


def _select_tasks(
    tasks: Sequence[Task],
    request: RunRequest,
    selections: Mapping[str, Sequence[str]],
    problems: list[FieldProblem],
) -> list[Task]:
    try:
        return selected(tasks, request.tasks, selections, request.where)
    except Invalid as error:
        problems.append(_problem(error, error.path))
        return []


def _lacking(
    session: Session, task_set_id: UUID, request: RunRequest, chosen: Sequence[Task], problems: list[FieldProblem]
) -> set[UUID]:
    """Tasks without such a variant, as far as earlier reasons leave them."""
    try:
        return without_variant(session, task_set_id, request.variant, chosen) if chosen else set()
    except Invalid as error:
        problems.append(_problem(error, error.path))
        return {task.id for task in chosen}


def _can(session: Session, request: RunRequest, problems: list[FieldProblem]) -> tuple[Capabilities | None, RunConfig]:
    """Workers' capabilities, None if unknown; and the request's configuration as far as valid."""
    try:
        can = capabilities(session)
        return can, resolved_config(can, request)
    except Unavailable as error:
        problems.append(_problem(error, "provider"))
        return None, request
    except DeskarenaError as error:
        problems.append(_problem(error, getattr(error, "path", "")))
        return capabilities(session), request


def _problem(error: DeskarenaError, path: str) -> FieldProblem:
    return FieldProblem(path=path, message=sentences(error.message, error.hint))
