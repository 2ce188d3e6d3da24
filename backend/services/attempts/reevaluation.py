"""Re-evaluation: stored evidence is evaluated again without a desktop. Old verdicts are kept."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Actor, Attempt, Episode, Evaluation, Evidence, Reevaluation, Run, Task, TaskSet
from backend.db.models.enums import ReevaluationState
from backend.db.repositories.artifacts import artifacts as artifact_repository
from backend.db.repositories.attempts import attempts as attempt_repository
from backend.db.repositories.attempts import reevaluations as repository
from backend.db.repositories.benchmarks import benchmarks, web_assets
from backend.db.repositories.benchmarks import tasks as task_repository
from backend.db.repositories.capacity import workers
from backend.db.repositories.runs import episodes, runs
from backend.domain import benchmarks as domain_benchmarks
from backend.domain import registry
from backend.domain.errors import Conflict, DeskarenaError, Invalid, NotFound
from backend.domain.judging.criteria import criteria_of
from backend.domain.model import score
from backend.domain.model.episode import EndedBy, EpisodeState, RunState
from backend.domain.model.judge_config import JudgeConfig
from backend.domain.model.run import RunConfig
from backend.domain.model.score import score_by_rule
from backend.domain.model.task import Task as DomainTask
from backend.services import events
from backend.services.artifacts.artifacts import ArtifactRef
from backend.services.attempts.evaluations import (
    EvaluationBasis,
    EvaluationResult,
    EvidenceRow,
    add_evaluation,
    end_judged,
)
from backend.services.attempts.evidence import EvidencePlan, plan_of, spec_of
from backend.services.attempts.reevaluation_failures import ReevaluationRefusal
from backend.services.benchmarks.variants import task_of
from backend.services.capacity import maintenance_mode
from backend.services.capacity.config_checks import check_judge
from backend.services.capacity.worker_capabilities import FENCES, capabilities
from backend.services.events import EventKind
from backend.services.events.worker_wakeup import wake_workers
from backend.services.lifecycle import retry_policy, validation_results
from backend.services.runs.episodes import counted_attempt, get_episode

By = Literal["own", "latest"]
"""Which task to evaluate by: the episode's own, or the one with the same key in the benchmark's newest task set."""


@dataclass(frozen=True)
class RescoreRow:
    """A request with both scores; `before` is None without a verdict, `after` until it is done."""

    rescore: Reevaluation
    before: float | None
    after: float | None
    task: Task
    task_set_version: int


@dataclass(frozen=True)
class ReevaluationJob:
    """A job for a worker; the request's row is locked until its transaction ends.

    Attributes:
        task: task to evaluate by.
        ruled: verdict of a rule that needs no evidence.
        plan: sources of the evidence; None with `ruled`.
        stored: metadata of stored bytes, by hash.
        assets: hashes of the task's files, by name.
        ended_by: what stopped the agent.
        problem: why it is impossible; empty if it is possible.
        judge: judge to ask, if a judge decides and there is no stored judgement that counts.
        settles: whether there was no verdict before, so this one ends attempt and episode.
    """

    rescore: Reevaluation
    task: DomainTask
    ruled: score.Evaluation | None
    plan: EvidencePlan | None
    stored: Mapping[str, ArtifactRef]
    assets: Mapping[str, str]
    ended_by: EndedBy = EndedBy.DONE
    problem: str = ""
    judge: JudgeConfig | None = None
    settles: bool = False


@dataclass(frozen=True)
class ReevaluationOptions:
    """Options of a re-evaluation.

    Attributes:
        by: which task to evaluate by.
        make_current: whether the new verdict counts. None: yes, unless another task or judge gives it.
        judge: another judge for the stored pictures; None = keep the stored judgement.
    """

    by: By = "own"
    make_current: bool | None = None
    judge: JudgeConfig | None = None


def request(session: Session, episode_id: UUID, actor: Actor, wish: ReevaluationOptions | None = None) -> RescoreRow:
    """Requests a re-evaluation; an identical waiting request is returned instead.

    For an episode lost without a verdict, it only waits again until its stored evidence has been evaluated.

    Args:
        session: the transaction.
        episode_id: scored, or lost without a verdict.
        actor: requesting actor.
        wish: options; default: its own task and judge.

    Raises:
        NotFound: the episode does not exist, or its task is not in the newest task set.
        Conflict: the episode has neither score nor stored evidence, or the verdict would have to count and may not.
        Invalid: the evidence lacks what the task needs; the message says what. Or there is no such judge.
        Unavailable: The judge's endpoint does not work.
    """
    registry.load()
    maintenance_mode.refuse_in_maintenance(session)
    wish = wish or ReevaluationOptions()
    if wish.judge is not None:
        check_judge(capabilities(session), wish.judge)
    subject = _judgement_input(session, episode_id, wish)
    judge = {} if wish.judge is None else wish.judge.model_dump(mode="json")
    if subject.before.failure:
        rescore_id = _decide(
            session, subject, retry_policy.ReevaluationRequest(actor_id=actor.id, task_id=subject.task.id, judge=judge)
        )
        return listing(session, ids=[rescore_id])[0]
    values = {
        "episode_id": episode_id,
        "attempt_id": subject.before.attempt_id,
        "task_id": subject.task.id,
        "previous_evaluation_id": subject.before.id,
        "actor_id": actor.id,
        "make_current": subject.counts,
        "judge": judge,
    }
    rescore_id = repository.put(session, values)
    wake_workers(session)
    return listing(session, ids=[rescore_id])[0]


def can_be(session: Session, episode: Episode) -> bool:
    """Whether it has a verdict, or evidence for one."""
    if episode.state != EpisodeState.LOST:
        return episode.state == EpisodeState.SCORED
    return repository.unjudged_evaluation(session, episode.id) is not None


def _decide(session: Session, subject: "_JudgementInput", request: retry_policy.ReevaluationRequest) -> UUID:
    """Requests an evaluation of a lost episode's evidence; it is still lost under the run's lock."""
    run = runs.lock(session, subject.episode.run_id)
    episode = episodes.lock(session, subject.episode.id)
    if run is None or episode is None or EpisodeState(episode.state) is not EpisodeState.LOST:
        raise Conflict(f"the episode {subject.episode.id} is no longer lost", code="episode_not_lost")
    if RunState(run.state) is RunState.CANCELLED:
        raise Conflict("Cancelled runs cannot be retried.", code="run_cancelled", hint="Submit a new run.")
    if not subject.counts:
        hint = "Say that the new score counts: --make-current, or `make_current`: true."
        raise Conflict(
            f"the episode {episode.id} has no current score to replace", code="episode_not_scored", hint=hint
        )
    return retry_policy.repeat(session, run, episode, subject.before, request)


def request_run(
    session: Session, run_id: UUID, actor: Actor, wish: ReevaluationOptions
) -> tuple[list[RescoreRow], list[ReevaluationRefusal]]:
    """Requests re-evaluation of all such episodes of a run. Episodes for which it is impossible do not stop the others.

    Raises:
        NotFound: There is no such run.
        Invalid: There is no such judge.
        Unavailable: Its endpoint does not work.
    """
    if runs.get(session, run_id) is None:
        raise NotFound(f"there is no run {run_id}", code="run_not_found")
    if wish.judge is not None:
        check_judge(capabilities(session), wish.judge)
    rows, refused = [], []
    for episode_id in repository.judgeable_episodes(session, run_id):
        try:
            rows.append(request(session, episode_id, actor, wish))
        except DeskarenaError as error:
            refused.append(ReevaluationRefusal(episode_id, get_episode(session, episode_id).task.key, error.message))
    return rows, refused


def listing(  # noqa: PLR0913 - one keyword per thing to ask by
    session: Session,
    *,
    ids: Sequence[UUID] | None = None,
    episode_id: UUID | None = None,
    run_id: UUID | None = None,
    after: UUID | None = None,
    limit: int = 500,
) -> list[RescoreRow]:
    """Requests in order, those after `after`."""
    rows = repository.listing(session, ids=ids, episode_id=episode_id, run_id=run_id, after=after, limit=limit)
    return [RescoreRow(row.Reevaluation, row.before, row.after, row.Task, row.version) for row in rows]


def claim_request(
    session: Session, notify: Callable[[UUID], object] | None = None, *, functions: bool = True
) -> ReevaluationJob | None:
    """The next unclaimed request. Its row stays locked until the transaction ends.

    If a worker dies, the request waits again: the server releases the lock with the connection.

    Args:
        session: the transaction.
        notify: called with its id before anything about it can fail.
        functions: whether Python evaluation functions can run here; otherwise such requests are left to other workers.
    """
    row = repository.next_waiting(session, None if functions else FENCES)
    if row is None:
        return None
    if notify is not None:
        notify(row.id)
    repository.hold_long(session)
    episode = session.get_one(Episode, row.episode_id)
    run = session.get_one(Run, episode.run_id)
    before = session.get_one(Evaluation, row.previous_evaluation_id)
    judging = session.get_one(Task, row.task_id)
    task = task_of(session, judging, run.config)
    ended_by = _ended_by(session, before)
    ruled = score_by_rule(task.evaluator, ended_by)
    if ruled is not None:
        return ReevaluationJob(row, task, ruled, None, {}, {}, settles=bool(before.failure))
    plan, evidence = _plan(session, _JudgementInput(episode, run, before, judging), ask=bool(row.judge))
    files = web_assets.hashes(session, run.project_id, domain_benchmarks.external_assets(task))
    return ReevaluationJob(
        rescore=row,
        task=task,
        ruled=None,
        plan=plan,
        stored=_store_evidence(session, evidence),
        assets={**benchmarks.assets(session, judging.task_set_id), **files},
        ended_by=ended_by,
        problem="; ".join(plan.missing),
        judge=JudgeConfig.model_validate(row.judge) if row.judge else RunConfig.model_validate(run.config).judge,
        settles=bool(before.failure),
    )


def finish(
    session: Session, job: ReevaluationJob, evaluation: score.Evaluation, rows: Sequence[EvidenceRow], seconds: float
) -> None:
    """Stores the new verdict beside old ones, in the transaction that claimed the job."""
    row = job.rescore
    episode = session.get_one(Episode, row.episode_id)
    run = runs.lock(session, episode.run_id)
    locked = episodes.lock(session, episode.id)
    attempt = attempt_repository.get(session, row.attempt_id)
    if run is None or locked is None or attempt is None:
        raise NotFound(f"the episode {row.episode_id} no longer exists", code="episode_not_found")
    newer_task = row.task_id if row.task_id != locked.task_id else None
    gathered = job.plan.gathered if job.plan else ()
    judgement = EvaluationResult(
        evaluation, rows, seconds, EvaluationBasis(spec_of(job.task, gathered), newer_task, row.make_current)
    )
    if not job.settles:
        new = _beside(session, run, locked, attempt, judgement)
    elif retry_policy.still_waits(locked, attempt):
        new = end_judged(session, run, attempt, locked, judgement, spent={})
    else:
        retry_policy.not_repeated(session, row, run, locked, "")
        return
    row.state, row.new_evaluation_id, row.ended_at = ReevaluationState.DONE.value, new.id, workers.now(session)
    row.message = _differences(session, locked, row)


def _beside(session: Session, run: Run, episode: Episode, attempt: Attempt, judgement: EvaluationResult) -> Evaluation:
    """Adds a verdict to a scored attempt."""
    evaluation, current = judgement.evaluation, judgement.judged.current
    new = add_evaluation(session, attempt, evaluation, judgement.evidence, judgement.seconds, judged=judgement.judged)
    if current:
        episode.score, episode.solved = evaluation.score, evaluation.solved
        run.rollup_stale = True
        validation_results.note(session, run, episode, evaluation.version)
    data = {"score": evaluation.score, "rule": evaluation.rule, "version": evaluation.version}
    data |= {"rescored": True, "current": current}
    events.append(session, run, EventKind.EVALUATION, data, episode_id=episode.id, attempt_id=attempt.id)
    return new


@dataclass(frozen=True)
class _JudgementInput:
    """Inputs of a judgement.

    Attributes:
        before: the current verdict, or evidence without one.
        task: task to evaluate by.
        counts: whether the new verdict counts.
    """

    episode: Episode
    run: Run
    before: Evaluation
    task: Task
    counts: bool = True


def _judgement_input(session: Session, episode_id: UUID, wish: ReevaluationOptions) -> _JudgementInput:
    episode = get_episode(session, episode_id).episode
    before = _before(session, episode)
    run = session.get_one(Run, episode.run_id)
    row = session.get_one(Task, episode.task_id) if wish.by == "own" else _latest(session, episode)
    newer = row.id != episode.task_id or wish.judge not in {None, RunConfig.model_validate(run.config).judge}
    subject = _JudgementInput(episode, run, before, row, not newer if wish.make_current is None else wish.make_current)
    task = task_of(session, row, run.config)
    if wish.judge is not None and not criteria_of(task):
        raise Invalid(f"{row.key} has nothing for a judge", code="task_not_judged", path="judge")
    if score_by_rule(task.evaluator, _ended_by(session, before)) is None:
        plan, _ = _plan(session, subject, ask=wish.judge is not None)
        if plan.missing:
            raise Invalid(
                f"the evidence of {row.key} is incomplete: {'; '.join(plan.missing)}",
                code="evidence_incomplete",
                hint="Run the task again to collect all of it.",
            )
    return subject


def _before(session: Session, episode: Episode) -> Evaluation:
    """The verdict that counts, or evidence without one. Raises Conflict."""
    state, before = EpisodeState(episode.state), None
    if state is EpisodeState.SCORED:
        attempt = counted_attempt(session, episode.id)
        before = None if attempt is None else repository.current_evaluation(session, attempt.id)
    elif state is EpisodeState.LOST:
        before = repository.unjudged_evaluation(session, episode.id)
    if before is None:
        hint = "Only what was scored once, or lacks only the verdict, can be scored again."
        raise Conflict(f"the episode {episode.id} has no score", code="episode_not_scored", hint=hint)
    return before


def _ended_by(session: Session, before: Evaluation) -> EndedBy:
    """Reason why the agent stopped in the evaluated attempt."""
    attempt = attempt_repository.get(session, before.attempt_id)
    return EndedBy((attempt and attempt.ended_by) or EndedBy.DONE)


def _latest(session: Session, episode: Episode) -> Task:
    own = session.get_one(Task, episode.task_id)
    sets = benchmarks.task_sets(session, session.get_one(TaskSet, own.task_set_id).benchmark_id)
    newest = max(sets, key=lambda task_set: task_set.version, default=None)
    task = task_repository.by_key(session, newest.id, own.domain, own.name) if newest is not None else None
    if task is None:
        raise NotFound(f"the newest task set has no task {own.key}", code="task_not_found")
    return task


def _plan(session: Session, subject: _JudgementInput, *, ask: bool) -> tuple[EvidencePlan, Sequence[Evidence]]:
    """How the old evaluation's evidence satisfies the task; `ask`: ask a judge in any case."""
    registry.load()
    before, config = subject.before, subject.run.config
    evidence = attempt_repository.evidence(session, [before.id])[before.id]
    old = before.spec
    by_rule = bool(before.rule) and not before.metrics  # The rule used no evidence.
    gathered_for = before.task_id or subject.episode.task_id
    if not old and not by_rule:  # Stored before evaluations recorded their question.
        old = spec_of(task_of(session, session.get_one(Task, gathered_for), config))
    task = task_of(session, subject.task, config)
    known = {} if by_rule else old
    return plan_of(task, known, evidence, same_task=subject.task.id == gathered_for and not by_rule, ask=ask), evidence


def _store_evidence(session: Session, evidence: Sequence[Evidence]) -> dict[str, ArtifactRef]:
    refs = {}
    for sha256 in {row.sha256 for row in evidence if row.sha256}:
        artifact = artifact_repository.get(session, sha256)
        if artifact is not None:
            refs[sha256] = ArtifactRef(sha256, artifact.size, artifact.media_type)
    return refs


def _differences(session: Session, episode: Episode, row: Reevaluation) -> str:
    """Other changes in the task, which the agent did not see."""
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
