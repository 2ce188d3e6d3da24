"""Validation of a benchmark by oracle, no-op and always-FAIL runs."""

from collections import Counter
from collections.abc import Mapping
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import Actor, Project, Run, Task, TaskSet, TaskValidation
from backend.db.models.enums import Purpose
from backend.db.repositories.benchmarks import tasks as task_repository
from backend.db.repositories.runs import validations as repository
from backend.domain.model.episode import ENDED_RUNS, Outcome, RunState
from backend.domain.model.reason import Reason
from backend.domain.model.run import VALIDATION_AGENTS
from backend.services.benchmarks.benchmarks import get_benchmark, latest_task_set
from backend.services.benchmarks.task_validation import Validation, validation_of
from backend.services.capacity.worker_capabilities import missing_worker_notice
from backend.services.read_model import ReadModel
from backend.services.runs.runs import RunRequest, submit_run


class ValidationReport(ReadModel):
    """The newest validation of a task set. `done` once its three runs have ended.

    `ok`: done, and every runnable task is sound, except those that people judge.
    """

    benchmark: str
    complete: bool
    ok: bool
    runs: dict[str, UUID] = Field(examples=[{"oracle": "018f0000-0000-7000-8000-000000000000"}])
    sound: int
    unsound: int
    not_runnable: int
    notice: str = Field(description="Why nothing happens yet, such as a missing worker; empty otherwise.")
    tasks: list[Validation]


def start_validation(  # noqa: PLR0913 - what a run needs
    session: Session,
    benchmark: str,
    *,
    project: Project,
    actor: Actor,
    provider: str = "local",
    seed: int = 0,
    task_set: TaskSet | None = None,
) -> dict[str, Run]:
    """Submits the three runs over a task set (None = the newest); by agent. Raises as `submit_run`."""
    requests = {
        agent: RunRequest(
            benchmark=benchmark,
            agent=agent,
            provider=provider,
            seed=seed,
            name=f"validate {benchmark}: {agent}",
            purpose=Purpose.VALIDATE,
        )
        for agent in VALIDATION_AGENTS
    }
    return {
        agent: submit_run(session, request, project=project, actor=actor, task_set=task_set)
        for agent, request in requests.items()
    }


def validation_report(session: Session, benchmark: str, task_set: TaskSet | None = None) -> ValidationReport:
    """Report of the newest validation of a task set (None = the newest)."""
    name = get_benchmark(session, benchmark).name
    task_set = task_set or latest_task_set(session, benchmark)
    runs = repository.newest_runs(session, task_set.id)
    results = repository.newest_results(session, task_set.id)
    reasons = repository.not_runnable(session, [run.id for run in runs.values()])
    tasks = task_repository.all_of(session, task_set.id)
    validations = [_validation(task, results.get(task.id, {}), reasons) for task in tasks]
    complete = len(runs) == len(VALIDATION_AGENTS) and all(RunState(run.state) in ENDED_RUNS for run in runs.values())
    runnable = [
        (task, validation) for task, validation in zip(tasks, validations, strict=True) if task.id not in reasons
    ]
    judged = [validation for task, validation in runnable if not _is_judged_by_people(results.get(task.id, {}))]
    sound = Counter(validation.sound for validation in validations)
    return ValidationReport(
        benchmark=name,
        complete=complete,
        ok=complete and bool(runnable) and all(validation.sound for validation in judged),
        runs={agent: run.id for agent, run in runs.items()},
        sound=sound[True],
        unsound=sound[False],
        not_runnable=sum(validation.reason_code is not None for validation in validations),
        notice="" if complete else missing_worker_notice(session),
        tasks=validations,
    )


def _validation(task: Task, results: Mapping[str, TaskValidation], reasons: Mapping[UUID, Reason]) -> Validation:
    """Scores of the validation agents, or the reason why they are missing."""
    validation = validation_of(task, results)
    if _is_judged_by_people(results):
        return validation.model_copy(update={"sound": None, "reason": "people judge it"})
    if validation.sound is not None:
        return validation
    lost = [agent for agent, row in results.items() if row.outcome == Outcome.LOST]
    cause = f"lost: {', '.join(sorted(lost))}" if lost else "not validated"
    reason = reasons.get(task.id)
    if reason is None:
        return validation.model_copy(update={"reason": cause})
    return validation.model_copy(
        update={"reason": f"not runnable here: {reason.text or cause}", "reason_code": reason.code}
    )


def _is_judged_by_people(results: Mapping[str, TaskValidation]) -> bool:
    """Whether people judge the task: then agents' scores do not show whether it is sound."""
    return any(row.outcome == Outcome.HANDED_IN for row in results.values())
