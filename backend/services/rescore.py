"""Scoring again: stored evidence is judged by today's evaluators, without a desktop. Old verdicts are kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Actor, Episode, Evaluation, Evidence, Rescore, Run, Task
from backend.db.models.words import RescoreState
from backend.db.repositories import artifacts as artifact_repository
from backend.db.repositories import attempts as attempt_repository
from backend.db.repositories import benchmarks, episodes, external_assets, runs, workers
from backend.db.repositories import rescores as repository
from backend.db.repositories import tasks as task_repository
from backend.domain import benchmarks as domain_benchmarks
from backend.domain import registry, score
from backend.domain.episode import EndedBy, EpisodeState
from backend.domain.errors import Conflict, DeskarenaError, Invalid, NotFound
from backend.domain.score import score_by_rule
from backend.domain.task import Task as DomainTask
from backend.services import events, validation_results
from backend.services.artifacts import ArtifactRef
from backend.services.attempts import EvidenceRow, Judged, add_evaluation
from backend.services.benchmark_variants import task_of
from backend.services.episodes import counted_attempt, get_episode
from backend.services.events import Kind
from backend.services.evidence import Plan, plan_of, spec_of
from backend.services.queue import wake_workers

By = Literal["own", "latest"]
"""Which task judges: the episode's own, or the one of the same key in the newest task set of its benchmark."""


@dataclass(frozen=True)
class Refused:
    """An episode that cannot be scored again, and why."""

    episode_id: UUID
    task: str
    reason: str


@dataclass(frozen=True)
class RescoreRow:
    """A request with both scores; `after` is None until it has been worked on."""

    rescore: Rescore
    before: float
    after: float | None
    task: Task
    task_set_version: int


@dataclass(frozen=True)
class Job:
    """What a worker has to do, with the request's row locked until its transaction ends.

    Attributes:
        task: what judges.
        ruled: the verdict of a rule, which needs no evidence.
        plan: where the evidence comes from; None with `ruled`.
        stored: what is known of the stored bytes, by hash.
        assets: hashes of the task's files, by name.
        ended_by: what stopped the agent.
        problem: why it cannot be done; empty if it can.
    """

    rescore: Rescore
    task: DomainTask
    ruled: score.Evaluation | None
    plan: Plan | None
    stored: Mapping[str, ArtifactRef]
    assets: Mapping[str, str]
    ended_by: EndedBy = EndedBy.DONE
    problem: str = ""


def request(session: Session, episode_id: UUID, actor: Actor, *, by: By, make_current: bool | None) -> RescoreRow:
    """Asks for an episode to be scored again; the same request while one waits is that one.

    Args:
        session: the transaction.
        episode_id: a scored episode.
        actor: who asks.
        by: which task judges.
        make_current: whether the new verdict counts. None: yes, unless a task of another task set gives it.

    Raises:
        NotFound: there is no such episode, or no such task in the newest task set.
        Conflict: the episode has no score.
        Invalid: the evidence does not have what the task asks for; says what is missing.
    """
    registry.load()
    found = _asked(session, episode_id, by)
    other = found.task.id != found.episode.task_id
    values = {
        "episode_id": episode_id,
        "attempt_id": found.before.attempt_id,
        "task_id": found.task.id,
        "before_id": found.before.id,
        "actor_id": actor.id,
        "make_current": not other if make_current is None else make_current,
    }
    made = repository.put(session, values)
    wake_workers(session)
    return listing(session, ids=[made])[0]


def request_run(
    session: Session, run_id: UUID, actor: Actor, *, by: By, make_current: bool | None
) -> tuple[list[RescoreRow], list[Refused]]:
    """The same for every scored episode of a run. Those that cannot be scored again do not stop the others.

    Raises:
        NotFound: there is no such run.
    """
    if runs.get(session, run_id) is None:
        raise NotFound(f"there is no run {run_id}")
    asked, refused = [], []
    for episode_id in repository.scored_episodes(session, run_id):
        try:
            asked.append(request(session, episode_id, actor, by=by, make_current=make_current))
        except DeskarenaError as error:
            refused.append(Refused(episode_id, get_episode(session, episode_id).task.key, error.message))
    return asked, refused


def listing(  # noqa: PLR0913 - one keyword per thing to ask by
    session: Session,
    *,
    ids: Sequence[UUID] | None = None,
    episode_id: UUID | None = None,
    run_id: UUID | None = None,
    after: UUID | None = None,
    limit: int = 500,
) -> list[RescoreRow]:
    """Requests in the order of asking, those after `after`."""
    found = repository.listing(session, ids=ids, episode_id=episode_id, run_id=run_id, after=after, limit=limit)
    return [RescoreRow(row.Rescore, row.before, row.after, row.Task, row.version) for row in found]


def take(session: Session) -> Job | None:
    """The next request that nobody works on. Its row stays locked until the transaction ends.

    A worker that dies in between leaves the request waiting: the server lets go of the lock with the connection.
    """
    row = repository.next_waiting(session)
    if row is None:
        return None
    repository.hold_long(session)
    episode = session.get_one(Episode, row.episode_id)
    run = session.get_one(Run, episode.run_id)
    before = session.get_one(Evaluation, row.before_id)
    judging = session.get_one(Task, row.task_id)
    task = task_of(session, judging, run.config)
    ended_by = EndedBy(_ended_by(episode))
    ruled = score_by_rule(task.evaluator, ended_by)
    if ruled is not None:
        return Job(row, task, ruled, None, {}, {})
    plan, evidence = _plan(session, episode, run, before, judging)
    files = external_assets.hashes(session, run.project_id, domain_benchmarks.external_assets(task))
    return Job(
        rescore=row,
        task=task,
        ruled=None,
        plan=plan,
        stored=_stored(session, evidence),
        assets={**benchmarks.assets(session, judging.task_set_id), **files},
        ended_by=ended_by,
        problem="; ".join(plan.missing),
    )


def finish(
    session: Session, job: Job, evaluation: score.Evaluation, rows: Sequence[EvidenceRow], seconds: float
) -> None:
    """Stores the new verdict beside the old ones, in the transaction that took the job."""
    row = job.rescore
    episode = session.get_one(Episode, row.episode_id)
    run = runs.lock(session, episode.run_id)
    locked = episodes.lock(session, episode.id)
    attempt = attempt_repository.get(session, row.attempt_id)
    if run is None or locked is None or attempt is None:
        raise NotFound(f"the episode {row.episode_id} is gone")
    other = row.task_id if row.task_id != locked.task_id else None
    gathered = job.plan.gathered if job.plan else ()
    judged = Judged(spec_of(job.task, gathered), other, row.make_current)
    new = add_evaluation(session, attempt, evaluation, rows, seconds, judged=judged)
    if row.make_current:
        locked.score, locked.solved = evaluation.score, evaluation.solved
        run.rollup_stale = True
        validation_results.note(session, run, locked, evaluation.version)
    told = {"score": evaluation.score, "rule": evaluation.rule, "version": evaluation.version}
    told |= {"rescored": True, "current": row.make_current}
    events.append(session, run, Kind.EVALUATION, told, episode_id=locked.id, attempt_id=attempt.id)
    row.state, row.after_id, row.ended_at = RescoreState.DONE.value, new.id, workers.now(session)
    row.message = _differences(session, locked, row)


def fail(session: Session, rescore_id: UUID, message: str) -> None:
    """There is no new verdict; the old one stands. Does nothing if somebody else ended it meanwhile."""
    row = repository.locked(session, rescore_id)
    if row is not None and row.state == RescoreState.WAITING:
        row.state, row.message, row.ended_at = RescoreState.FAILED.value, message, workers.now(session)


@dataclass(frozen=True)
class _Asked:
    episode: Episode
    before: Evaluation
    task: Task


def _asked(session: Session, episode_id: UUID, by: By) -> _Asked:
    episode = get_episode(session, episode_id).episode
    attempt = counted_attempt(session, episode_id)
    before = None if attempt is None else repository.current_evaluation(session, attempt.id)
    if EpisodeState(episode.state) is not EpisodeState.SCORED or before is None:
        raise Conflict(f"the episode {episode_id} has no score", hint="Only what was scored once can be scored again.")
    run = session.get_one(Run, episode.run_id)
    task = session.get_one(Task, episode.task_id) if by == "own" else _latest(session, episode)
    if score_by_rule(task_of(session, task, run.config).evaluator, EndedBy(_ended_by(episode))) is None:
        plan, _ = _plan(session, episode, run, before, task)
        if plan.missing:
            raise Invalid(
                f"the evidence of {task.key} lacks what is asked for: {'; '.join(plan.missing)}",
                hint="Run the task again: what was not gathered cannot be judged.",
            )
    return _Asked(episode, before, task)


def _ended_by(episode: Episode) -> str:
    return str(episode.ended_by or EndedBy.DONE)


def _latest(session: Session, episode: Episode) -> Task:
    own = session.get_one(Task, episode.task_id)
    benchmark = benchmarks.by_name(session, benchmarks.name_of(session, own.task_set_id))
    sets = benchmarks.task_sets(session, benchmark.id) if benchmark is not None else []
    newest = max(sets, key=lambda one: one.version, default=None)
    found = task_repository.by_key(session, newest.id, own.domain, own.name) if newest is not None else None
    if found is None:
        raise NotFound(f"the newest task set has no task {own.key}")
    return found


def _plan(
    session: Session, episode: Episode, run: Run, before: Evaluation, judging: Task
) -> tuple[Plan, Sequence[Evidence]]:
    """How the evidence of the old evaluation answers the task that judges."""
    registry.load()
    evidence = attempt_repository.evidence(session, [before.id])[before.id]
    old = before.spec
    by_rule = bool(before.rule) and not before.metrics  # Nothing was looked at.
    if not old and not by_rule:  # It was stored before evaluations said what they were asked.
        old = spec_of(task_of(session, session.get_one(Task, before.task_id or episode.task_id), run.config))
    task = task_of(session, judging, run.config)
    gathered_for = before.task_id or episode.task_id
    asked = {} if by_rule else old
    return plan_of(task, asked, evidence, same_task=judging.id == gathered_for and not by_rule), evidence


def _stored(session: Session, evidence: Sequence[Evidence]) -> dict[str, ArtifactRef]:
    found = {}
    for sha256 in {row.sha256 for row in evidence if row.sha256}:
        artifact = artifact_repository.get(session, sha256)
        if artifact is not None:
            found[sha256] = ArtifactRef(sha256, artifact.size, artifact.media_type)
    return found


def _differences(session: Session, episode: Episode, row: Rescore) -> str:
    """What else is new in the task that judged: the agent did not see it."""
    if row.task_id == episode.task_id:
        return ""
    old, new = (DomainTask.model_validate(session.get_one(Task, key).spec) for key in (episode.task_id, row.task_id))
    changed = [
        words
        for words, before, after in (
            ("instruction", old.instruction, new.instruction),
            ("set-up", old.setup, new.setup),
            ("post-configuration", old.evaluator.postconfig, new.evaluator.postconfig),
        )
        if before != after
    ]
    return f"the newer task has another {' and '.join(changed)}" if changed else ""
