"""Validation of a benchmark by oracle, no-op and always-FAIL runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Actor, Project, Run, Task, TaskSet, TaskValidation
from backend.db.models.enums import VALIDATION_AGENTS, Purpose
from backend.db.repositories.benchmarks import tasks as task_repository
from backend.db.repositories.runs import validations as repository
from backend.domain.model.episode import Outcome, RunState
from backend.domain.model.score import is_solved
from backend.services.benchmarks.benchmarks import get_benchmark, latest_task_set
from backend.services.runs.runs import RunRequest, submit_run


@dataclass(frozen=True)
class TaskVerdict:
    """Validation result of one task.

    Attributes:
        scores: by agent; None where that agent's episode was not scored (not run, lost, not runnable).
        sound: None until all three agents have a score.
        reason: why it is unsound, or why it is unknown.
    """

    task: Task
    scores: Mapping[str, float | None]
    sound: bool | None
    reason: str


@dataclass(frozen=True)
class ValidationReport:
    """The newest validation of a task set.

    Attributes:
        runs: the newest validation run of each agent.
        done: whether all three runs have ended.
        ok: done, and every task that can run here is sound, except those judged by people.
    """

    benchmark: str
    task_set: TaskSet
    runs: Mapping[str, Run]
    done: bool
    ok: bool
    tasks: Sequence[TaskVerdict]

    def count(self, sound: bool | None) -> int:  # noqa: FBT001 - it is the value asked for
        """Number of tasks with this verdict."""
        return sum(task.sound is sound for task in self.tasks)


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
    verdicts = [
        _verdict(task, results.get(task.id, {}), reasons) for task in task_repository.all_of(session, task_set.id)
    ]
    ended = {RunState.COMPLETED, RunState.CANCELLED}
    done = len(runs) == len(VALIDATION_AGENTS) and all(RunState(run.state) in ended for run in runs.values())
    runnable = [verdict for verdict in verdicts if verdict.task.id not in reasons]
    judged = [verdict for verdict in runnable if not _by_people(results.get(verdict.task.id, {}))]
    ok = done and bool(runnable) and all(verdict.sound for verdict in judged)
    return ValidationReport(name, task_set, runs, done, ok, verdicts)


def _verdict(task: Task, results: Mapping[str, TaskValidation], reasons: Mapping[UUID, str]) -> TaskVerdict:
    scores = {agent: results[agent].score if agent in results else None for agent in VALIDATION_AGENTS}
    if _by_people(results):
        return TaskVerdict(task, scores, None, "people judge it")
    lost = [agent for agent, row in results.items() if row.outcome == Outcome.LOST]
    if any(score is None for score in scores.values()):
        why = reasons.get(task.id) or (f"lost: {', '.join(sorted(lost))}" if lost else "not validated")
        return TaskVerdict(task, scores, None, f"not runnable here: {why}" if task.id in reasons else why)
    wrong = wrongs(feasible=task.feasible, scores={agent: score or 0.0 for agent, score in scores.items()})
    return TaskVerdict(task, scores, not wrong, "; ".join(wrong))


def _by_people(results: Mapping[str, TaskValidation]) -> bool:
    """Whether people judge the task: then agents' scores do not show whether it is sound."""
    return any(row.outcome == Outcome.HANDED_IN for row in results.values())


def wrongs(*, feasible: bool, scores: Mapping[str, float]) -> list[str]:
    """Problems of a task with these scores of the validation agents.

    On a sound task the oracle scores 1 and the no-op 0; always-FAIL scores 1 if the task is infeasible, else 0.
    """
    problems = []
    if not is_solved(scores["oracle"]):
        problems.append(f"the oracle scores {scores['oracle']:g}, not 1")
    if scores["noop"] != 0.0:
        problems.append(f"doing nothing scores {scores['noop']:g}, not 0")
    if feasible and scores["always_fail"] != 0.0:
        problems.append(f"saying FAIL scores {scores['always_fail']:g} on a feasible task, not 0")
    if not feasible and not is_solved(scores["always_fail"]):
        problems.append(f"saying FAIL scores {scores['always_fail']:g} on an infeasible task, not 1")
    return problems
