"""Runs: submit, pause, resume, cancel, retry, add to, close."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import Actor, Episode, Project, Run, Task, TaskSet
from backend.db.models.enums import Origin
from backend.db.repositories.attempts import reevaluations
from backend.db.repositories.benchmarks import benchmark_parts as parts
from backend.db.repositories.benchmarks import tasks
from backend.db.repositories.capacity import workers
from backend.db.repositories.pagination import CursorPage
from backend.db.repositories.runs import episodes
from backend.db.repositories.runs import runs as repository
from backend.db.repositories.scheduling import wait_reasons
from backend.domain.errors import Conflict, FailureClass, Invalid, NotFound
from backend.domain.model.episode import EpisodeState, Outcome, RunState
from backend.domain.model.run import RunConfig
from backend.services import events
from backend.services.artifacts.storage_quota import refuse_over_quota
from backend.services.benchmarks.benchmarks import get_benchmark, latest_task_set
from backend.services.benchmarks.variants import without_variant
from backend.services.capacity import maintenance_mode
from backend.services.capacity.config_checks import resolved_config
from backend.services.capacity.run_request import RunRequest, condition_hash, config_hash, episode_seed, select_tasks
from backend.services.capacity.scheduling_fields import SchedulingUpdate
from backend.services.capacity.worker_capabilities import Capabilities, capabilities, expected_capabilities, has_judge
from backend.services.configurations.configurations import configuration_of
from backend.services.events import EventKind, worker_wakeup
from backend.services.lifecycle import human_runs, retry_policy
from backend.services.lifecycle.state_transitions import (
    EpisodeChange,
    move_episodes,
    move_run,
    reason_columns,
    settle,
)
from backend.services.runs.duration_estimates import expectations
from backend.services.runs.provenance import pins_of
from backend.services.runs.runnability import reasons
from backend.services.runs.summary import RunSummary, run_summary
from backend.telemetry import tracing
from backend.telemetry.attributes import Attributes

__all__ = [
    "RunRequest",
    "RunSummary",
    "add_episodes",
    "cancel_run",
    "close_run",
    "get_run",
    "list_runs",
    "pause_run",
    "resume_run",
    "retry_run",
    "run_summary",
    "submit_run",
]


MOST_IN_ONE_TRACE = 20
"""Episodes whose spans continue the trace of their submission; each of more has a trace of its own: an episode has
hundreds of spans, and programs that show traces hold tens of thousands at most."""


@tracing.span("submit run", kind="producer")
def submit_run(
    session: Session, request: RunRequest, *, project: Project, actor: Actor, task_set: TaskSet | None = None
) -> Run:
    """Starts a run; nothing is written unless the whole request is valid.

    Args:
        session: the transaction.
        request: the request.
        project: project of the run.
        actor: requesting actor.
        task_set: a version of the benchmark; None = its newest.

    Returns:
        The new run, or the existing one of the same request and idempotency key.

    Raises:
        NotFound: There is no such benchmark.
        Invalid, UnknownPlugin: agent, parameter, provider or selection is invalid; `path` names the field.
        Conflict: Agent, provider or image does not work here, or the project is over its disk quota.
    """
    if request.idempotency_key:
        existing = repository.by_key(session, project.id, request.idempotency_key)
        if existing is not None:
            return _check_same_request(existing, request)
    maintenance_mode.refuse_in_maintenance(session)
    if request.without_episodes and not request.accepts_episodes:
        raise Invalid("A run without episodes must accept them.", code="invalid_request", path="accepts_episodes")
    refuse_over_quota(session, project.id)
    benchmark = get_benchmark(session, request.benchmark)
    task_set = task_set or latest_task_set(session, request.benchmark)
    can = expected_capabilities(session)
    config = resolved_config(can, request)
    human = bool(can.agents[config.agent].get("human"))
    if human:
        config = human_runs.with_human_defaults(config)
    selections = parts.selections(session, task_set.id)
    selected = select_tasks(tasks.all_of(session, task_set.id), config.tasks, selections, config.where)
    lacking = without_variant(session, task_set.id, config.variant, selected)
    _need_judge(config, selected)
    privileged = bool(can.agents[config.agent].get("privileged"))
    pins = pins_of(config, can.models, datetime.now(UTC).date())
    agent = configuration_of(session, project.id, config, pins, privileged=privileged, human=human)
    run = _row(
        request,
        config,
        pins,
        project_id=project.id,
        actor_id=actor.id,
        task_set_id=task_set.id,
        agent_configuration_id=agent.id,
    )
    session.add(run)
    session.flush()  # Episodes and events refer to it.
    repeats = 0 if request.without_episodes else config.repeats
    number = _make_episodes(session, run, config, selected, repeats, can, lacking)
    run.trace_per_episode = number > MOST_IN_ONE_TRACE or request.accepts_episodes
    tracing.annotate(_submission_facts(run, benchmark.name, number))
    data = {"benchmark": benchmark.name, "agent": config.agent, "episodes": number, "purpose": run.purpose}
    events.append(session, run, EventKind.RUN_SUBMITTED, data)
    settle(session, run)  # A run without runnable tasks has already ended.
    worker_wakeup.wake_workers(session)
    return run


def _row(request: RunRequest, config: RunConfig, pins: Mapping[str, Any], **ids: UUID) -> Run:
    return Run(
        **ids,
        provider=config.provider,
        config=config.model_dump(mode="json"),
        config_hash=config_hash(config),
        pins=pins,
        condition_hash=condition_hash(config),
        name=request.name,
        accepts_episodes=request.accepts_episodes,
        purpose=request.purpose.value,
        idempotency_key=request.idempotency_key,
        request_hash=request.request_hash(),
        trace_parent=tracing.traceparent() or None,
        **request.model_dump(include=set(SchedulingUpdate.model_fields)),
    )


def _submission_facts(run: Run, benchmark: str, episodes_number: int) -> Attributes:
    return {
        "messaging.system": "postgresql",
        "messaging.destination.name": "episode",
        "messaging.operation.name": "submit",
        "messaging.operation.type": "send",
        "messaging.batch.message_count": episodes_number,
        "deskarena.run.id": str(run.id),
        "deskarena.benchmark": benchmark,
    }


def _need_judge(config: RunConfig, selected: Sequence[Task]) -> None:
    """Rejects runs in which no task can be evaluated. If only some tasks need a judge, those are not runnable."""
    if not has_judge(config) and all(task.requires_judge for task in selected):
        raise Invalid(
            "These tasks need a judge model.",
            code="judge_missing",
            path="judge",
            hint="Choose its endpoint and model (docs/judges.md).",
        )


def _check_same_request(run: Run, request: RunRequest) -> Run:
    if run.request_hash != request.request_hash():
        raise Invalid(
            f"the idempotency key {request.idempotency_key!r} was used for another request (run {run.id})",
            code="idempotency_key_reused",
            hint="Use a new key for a new request.",
        )
    return run


def _make_episodes(  # noqa: PLR0913, PLR0917 - everything an episode is made of
    session: Session,
    run: Run,
    config: RunConfig,
    selected: Sequence[Task],
    repeats: int,
    can: Capabilities,
    lacking: Collection[UUID],
) -> int:
    """Episodes of these tasks: all first repeats, then all second ones, so that early results cover every task."""
    used = episodes.repeat_counts(session, run.id)
    reported = can if can.reported else None
    why_not = reasons(session, reported, config, selected, purpose=run.purpose, lacking=lacking)
    seconds = expectations(session, run, ((task, task.spec.get("max_steps")) for task in selected))
    rows: list[dict[str, Any]] = []
    human = bool(can.agents.get(config.agent, {}).get("human"))
    for round_ in range(1, repeats + 1):
        for task in human_runs.shuffle_tasks(selected, config.seed + round_) if human else selected:
            repeat = used.get(task.id, 0) + round_
            state = EpisodeState.NOT_RUNNABLE if why_not[task.id] else EpisodeState.WAITING
            seed = episode_seed(config.seed, task.key, repeat)
            row = {"id": uuid7(), "run_id": run.id, "task_id": task.id, "repeat_index": repeat, "seed": seed}
            row |= {"requirements_id": task.requirements_id, "estimated_seconds": seconds[task.id]}
            reason = human_runs.waiting_columns(why_not[task.id]) if human else reason_columns(why_not[task.id])
            rows.append({**row, "state": state.value, **reason})
    episodes.add_all(session, rows)
    run.rollup_stale = True
    return len(rows)


def get_run(session: Session, run_id: UUID) -> Run:
    """The run. Raises NotFound."""
    run = repository.get(session, run_id)
    if run is None:
        raise NotFound(f"there is no run {run_id}", code="run_not_found", hint="`deskarena run list` shows them.")
    return run


def list_runs(
    session: Session,
    project: Project,
    *,
    cursor: str | None = None,
    limit: int = 50,
    **filters: Any,
) -> CursorPage[Run]:
    """Runs, newest first. Filters: `states`, `benchmark`, `agent`, `configuration`, `purposes`."""
    return repository.listing(session, project_id=project.id, cursor=cursor, limit=limit, **filters)


def pause_run(session: Session, run_id: UUID) -> Run:
    """Stops starting episodes; running ones continue. Safe to call twice."""
    run = _lock(session, run_id)
    if RunState(run.state) is not RunState.PAUSED:
        move_run(session, run, RunState.PAUSED)
    return run


def resume_run(session: Session, run_id: UUID) -> Run:
    """Continues a paused run. Safe to call twice."""
    run = _lock(session, run_id)
    if RunState(run.state) in {RunState.QUEUED, RunState.RUNNING}:
        return run
    maintenance_mode.refuse_in_maintenance(session)
    if RunState(run.state) is not RunState.PAUSED:
        raise Conflict(f"the run is {run.state}, not paused", code="run_not_paused")
    move_run(
        session, run, RunState.RUNNING if run.started_at else RunState.QUEUED, last_scheduled_at=workers.now(session)
    )
    worker_wakeup.wake_workers(session)
    return run


def cancel_run(session: Session, run_id: UUID) -> Run:
    """Cancels waiting episodes at once, running ones before their next step. Safe to call twice."""
    run = _lock(session, run_id)
    if RunState(run.state) is RunState.CANCELLED:
        return run
    now = workers.now(session)
    move_run(session, run, RunState.CANCELLED, ended_at=now, accepts_episodes=False)
    move_episodes(
        session,
        run,
        EpisodeState.WAITING,
        EpisodeState.CANCELLED,
        outcome=Outcome.CANCELLED.value,
        ended_at=now,
        **reason_columns(None),
    )
    return run


def retry_run(
    session: Session, run_id: UUID, *, failure_classes: Sequence[FailureClass] = (), not_runnable: bool = True
) -> int:
    """Retries lost episodes with all their retries, and those that were not runnable and now are.

    If stored evidence only lacks a verdict, it is evaluated again before the episode is repeated. With a person as the
    agent they wait for the person, who first answers feasibility again.

    Args:
        session: the transaction.
        run_id: must not be cancelled.
        failure_classes: only losses of these classes; empty = all.
        not_runnable: also check tasks that could not run here.

    Returns:
        Number of episodes that wait again.
    """
    run = _lock(session, run_id)
    if RunState(run.state) is RunState.CANCELLED:
        raise Conflict("Cancelled runs cannot be retried.", code="run_cancelled", hint="Submit a new run.")
    if run.origin == Origin.OUTSIDE:
        raise Conflict("Imported results cannot be retried here.", code="run_not_measured_here")
    maintenance_mode.refuse_in_maintenance(session)
    _wants_from_now(session, run)
    failures = [kind.value for kind in failure_classes]
    again: EpisodeChange = {
        **retry_policy.RETRY_COLUMNS,
        **retry_policy.waiting(session, run),
        "flagged": False,
        "flag_reason": "",
        "retry_baseline": Episode.attempt_count,
    }
    number = _repeat_evaluations(session, run, failures)
    number += move_episodes(session, run, EpisodeState.LOST, EpisodeState.WAITING, failures=failures, **again)
    if not_runnable:
        number += _retry_not_runnable(session, run)
    if number:
        if RunState(run.state) is RunState.COMPLETED:
            move_run(session, run, RunState.RUNNING, ended_at=None)
        worker_wakeup.wake_workers(session)
    return number


def _repeat_evaluations(session: Session, run: Run, failures: Sequence[str]) -> int:
    """Requests evaluation of stored evidence without a verdict; returns the number."""
    if failures and FailureClass.EVALUATOR.value not in failures:
        return 0
    rows = reevaluations.unjudged_of_run(session, run.id)
    for episode, evaluation in rows:
        episode.flagged, episode.flag_reason, episode.retry_baseline = False, "", episode.attempt_count
        retry_policy.repeat(session, run, episode, evaluation, retry_policy.ReevaluationRequest(anew=True))
    session.flush()
    return len(rows)


def _retry_not_runnable(session: Session, run: Run) -> int:
    candidates = episodes.tasks_in_state(session, run.id, EpisodeState.NOT_RUNNABLE)
    if not candidates:
        return 0
    selected = [task for task in tasks.all_of(session, run.task_set_id) if task.id in candidates]
    config = RunConfig.model_validate(run.config)
    lacking = without_variant(session, run.task_set_id, config.variant, tasks.all_of(session, run.task_set_id))
    why_not = reasons(session, capabilities(session), config, selected, purpose=run.purpose, lacking=lacking)
    able = [task_id for task_id, reason in why_not.items() if not reason]
    return move_episodes(
        session, run, EpisodeState.NOT_RUNNABLE, EpisodeState.WAITING, tasks=able, **retry_policy.waiting(session, run)
    )


def add_episodes(
    session: Session, run_id: UUID, patterns: Sequence[str], repeats: int = 1, *, where: Sequence[str] = ()
) -> int:
    """Adds `repeats` episodes of every matching task to an open run. Returns the number.

    Raises:
        Conflict: The run is not open.
        Invalid: A pattern or condition on labels matches no task.
    """
    run = _lock(session, run_id)
    if not run.accepts_episodes:
        raise Conflict(
            "the run is not open", code="run_not_open", hint="Submit it with `accepts_episodes` to add episodes later."
        )
    maintenance_mode.refuse_in_maintenance(session)
    if repeats < 1:
        raise Invalid("at least 1", code="invalid_request", path="repeats")
    config = RunConfig.model_validate(run.config)
    selections = parts.selections(session, run.task_set_id)
    selected = select_tasks(tasks.all_of(session, run.task_set_id), patterns, selections, where)
    lacking = without_variant(session, run.task_set_id, config.variant, selected)
    _wants_from_now(session, run)
    number = _make_episodes(session, run, config, selected, repeats, expected_capabilities(session), lacking)
    events.append(session, run, EventKind.EPISODE_STATE, {"to": EpisodeState.WAITING.value, "added": number})
    worker_wakeup.wake_workers(session)
    return number


def _wants_from_now(session: Session, run: Run) -> None:
    """A run without waiting episodes was not waiting until now: its priority has not aged."""
    if not wait_reasons.count_waiting(session, [run.id]):
        run.last_scheduled_at = workers.now(session)


def close_run(session: Session, run_id: UUID) -> Run:
    """Closes an open run: it completes when its episodes have ended. Safe to call twice."""
    run = _lock(session, run_id)
    if run.accepts_episodes:
        run.accepts_episodes = False
        events.append(
            session, run, EventKind.RUN_STATE, {"from": run.state, "to": run.state, "accepts_episodes": False}
        )
        settle(session, run)
    return run


def _lock(session: Session, run_id: UUID) -> Run:
    run = repository.lock(session, run_id)
    if run is None:
        raise NotFound(f"there is no run {run_id}", code="run_not_found", hint="`deskarena run list` shows them.")
    return run
