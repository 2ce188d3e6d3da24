"""Runs of an outside origin: results that another tool measured."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import Actor, Project, Run, Task
from backend.db.models.enums import Origin
from backend.db.repositories.benchmarks import tasks
from backend.db.repositories.capacity import workers
from backend.db.repositories.runs import episodes
from backend.db.repositories.runs import runs as repository
from backend.domain.errors import Conflict, EvaluatorFailed, Invalid
from backend.domain.model.episode import EpisodeState, Outcome
from backend.domain.model.outside_results import OUTSIDE_AGENT, OutsideEpisode, OutsideResults
from backend.domain.model.run import Budget, RunConfig
from backend.domain.model.score import is_solved
from backend.domain.model.task import digest
from backend.services import events
from backend.services.artifacts.storage_quota import refuse_over_quota
from backend.services.benchmarks.benchmarks import get_benchmark, version_of
from backend.services.capacity.run_request import condition_hash, config_hash, episode_seed
from backend.services.configurations.configurations import configuration_of
from backend.services.events import EventKind
from backend.services.lifecycle.state_transitions import settle

MOST_LISTED = 20


def import_results(  # noqa: PLR0913 - what a run needs
    session: Session,
    results: OutsideResults,
    *,
    benchmark: str,
    name: str,
    project: Project,
    actor: Actor,
    version: int | None = None,
) -> Run:
    """Stores results of another tool as a completed run. A task without a result is lost, never a 0.

    Args:
        session: the transaction.
        results: what was measured.
        benchmark: its name.
        name: display name of the run.
        project: project of the run.
        actor: requesting actor.
        version: of the benchmark's tasks; None = the newest.

    Raises:
        NotFound: there is no such benchmark or version.
        Invalid: tasks are unknown or named twice; all are listed, and nothing is stored.
        Conflict: the same results are imported already, or the project is over its disk quota.
    """
    row, task_set = get_benchmark(session, benchmark), version_of(session, benchmark, version)
    tasks_by_key = {task.key: task for task in tasks.all_of(session, task_set.id)}
    _check(results.episodes, tasks_by_key, f"{row.name} v{task_set.version}")
    content = digest([str(task_set.id), results.model_dump(mode="json")])
    same = repository.by_key(session, project.id, f"results:{content}")
    if same is not None:
        raise Conflict(
            f"these results were imported before: run {same.id}",
            code="results_already_imported",
            hint="Importing them again would count as another pass.",
        )
    refuse_over_quota(session, project.id)
    config = config_of(results)
    pins: dict[str, Any] = {"import": {"format": results.format, "arguments": dict(results.arguments)}}
    agent = configuration_of(session, project.id, config, pins, privileged=False, human=False)
    run = _row(
        config,
        pins,
        content,
        name=name,
        project_id=project.id,
        actor_id=actor.id,
        task_set_id=task_set.id,
        agent_configuration_id=agent.id,
    )
    session.add(run)
    session.flush()  # Episodes and events refer to it.
    now = workers.now(session)
    episodes.add_all(session, [_columns(run, episode, tasks_by_key[episode.task], now) for episode in results.episodes])
    data = {"benchmark": row.name, "agent": config.agent, "episodes": len(results.episodes), "origin": run.origin}
    events.append(session, run, EventKind.RUN_SUBMITTED, data)
    settle(session, run)
    return run


def _row(config: RunConfig, pins: Mapping[str, Any], content: str, *, name: str, **ids: UUID) -> Run:
    """`content`: the request's hash, by which a second import is recognised."""
    return Run(
        **ids,
        provider=config.provider,
        config=config.model_dump(mode="json", exclude_unset=True),
        config_hash=config_hash(config),
        pins=pins,
        condition_hash=condition_hash(config),
        name=name,
        origin=Origin.OUTSIDE.value,
        idempotency_key=f"results:{content}",
        request_hash=content,
    )


def config_of(results: OutsideResults) -> RunConfig:
    """Known settings of the measurement; other fields are not set, and not stored."""
    screen: dict[str, Any] = {} if results.screen is None else {"screen": results.screen}
    if results.max_steps is not None:
        screen["budget"] = Budget(max_steps=results.max_steps)
    return RunConfig(
        agent=OUTSIDE_AGENT,
        params={"model": results.model},
        provider=OUTSIDE_AGENT,
        observation=results.observation,
        action_space=results.action_space,
        variant=None,
        perturbation=None,
        repeats=max(episode.repeat for episode in results.episodes),
        **screen,
    )


def _check(results: Sequence[OutsideEpisode], tasks_by_key: Mapping[str, Task], tasks_of: str) -> None:
    unknown = sorted({result.task for result in results} - tasks_by_key.keys())
    if unknown:
        more = len(unknown) - MOST_LISTED
        listed = ", ".join(unknown[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
        raise Invalid(
            f"{len(unknown)} tasks are not in {tasks_of}: {listed}",
            code="unknown_tasks",
            path="episodes",
            hint="Choose the benchmark and version that they were measured on. Nothing was imported.",
        )
    numbers = Counter((result.task, result.repeat) for result in results)
    twice = sorted(f"{task} (pass {repeat})" for (task, repeat), number in numbers.items() if number > 1)
    if twice:
        raise Invalid(f"named twice: {', '.join(twice[:MOST_LISTED])}", code="invalid_results", path="episodes")


def _columns(run: Run, result: OutsideEpisode, task: Task, now: datetime) -> dict[str, Any]:
    """Columns of an ended episode without attempts."""
    failure = EvaluatorFailed(result.error, code="result_missing") if result.score is None else None
    state = EpisodeState.LOST if failure else EpisodeState.SCORED
    return {
        "id": uuid7(),
        "run_id": run.id,
        "task_id": task.id,
        "repeat_index": result.repeat,
        "seed": episode_seed(0, task.key, result.repeat),
        "requirements_id": task.requirements_id,
        "state": state.value,
        "outcome": (Outcome.LOST if failure else Outcome.SCORED).value,
        "score": result.score,
        "solved": None if result.score is None else is_solved(result.score),
        "steps": result.steps,
        "ended_by": result.ended_by.value if result.ended_by else None,
        "failure_class": failure.failure_class.value if failure else None,
        "failure_code": failure.code if failure else None,
        "failure_message": failure.message if failure else "",
        "ended_at": now,
    }
