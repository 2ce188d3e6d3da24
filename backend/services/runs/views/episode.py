"""One episode: what does the agent do now, or what did it do?"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Run, Step
from backend.db.models.enums import Purpose
from backend.db.repositories.authoring import drafts
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.runs import episode_view as repository
from backend.domain.errors import FailureClass, NotFound
from backend.domain.model.episode import EpisodeState, RunState
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Usage
from backend.services.attempts import reevaluation
from backend.services.attempts.reevaluation import RescoreRow
from backend.services.judging.judges import JudgeCost, cost_of_attempt
from backend.services.lifecycle.human_runs import is_lost
from backend.services.runs.action_description import action_words, pointer_path
from backend.services.runs.views.outcome_style import ENDED_WORDS, UNRATED, StateStyle, state_of
from backend.services.runs.views.run_rows import DesktopStartup, max_steps_of, opening_of
from backend.services.runs.views.runs import PHASES, UNLABELLED, PhaseSeconds
from backend.services.scheduling.wait_reasons import explain


@dataclass(frozen=True)
class StepDetail:
    """One step of the replay. `elements` were numbered on the picture `shown`; None = none were looked for."""

    index: int
    frame: str | None
    width: int
    height: int
    a11y: str | None
    words: str
    reply: str
    actions: list[str]
    marks: list[dict[str, Any]]
    results: list[Any]
    invalid: str
    usage: Mapping[str, Any]
    timing: Mapping[str, Any]
    windows: list[Mapping[str, Any]]
    at: datetime
    final: bool
    shown: str | None = None
    prompt: str | None = None
    model: str = ""
    dropped: tuple[str, ...] = ()
    elements: int | None = None
    by: str = ""


@dataclass(frozen=True)
class AttemptDetail:
    """One attempt, as the list of attempts shows it."""

    id: UUID
    number: int
    state: str
    live: bool
    controller: str
    worker: str
    slot: str
    ended_by: str
    failure_class: str | None
    failure_message: str
    current_step: int
    started_at: datetime
    ended_at: datetime | None
    phases: list[PhaseSeconds]
    to_first_observation: float | None
    desktop: Mapping[str, Any]
    opening: DesktopStartup | None = None


@dataclass(frozen=True)
class EvidenceDetail:
    """Something that the verdict rests on."""

    position: int
    role: str
    getter: str
    name: str
    sha256: str | None
    size: int | None
    media_type: str | None
    note: str


@dataclass(frozen=True)
class EvaluationDetail:
    """The verdict of one attempt with its reasons.

    `checks` is what each metric was told, in their order; `by_other_task` if another task than the episode's judged.
    """

    version: str
    score: float | None
    failure: str
    rule: str
    metrics: list[Mapping[str, Any]]
    dialect: str
    conj: str
    checks: list[Mapping[str, Any]]
    by_other_task: bool
    measures: list[tuple[str, float]]
    evidence: list[EvidenceDetail]
    current: bool
    seconds: float
    created_at: datetime


@dataclass(frozen=True)
class EpisodePage:
    """Everything on the page. `anew`: how a person judged whose desktop was lost (yes, no); empty if none was."""

    id: UUID
    run_id: UUID
    run_title: str
    benchmark: str
    version: int
    agent: str
    task: str
    task_id: UUID
    domain: str
    difficulty: str
    instruction: str
    feasible: bool
    repeat: int
    repeats: int
    seed: int
    state: StateStyle
    reason: str
    failure_message: str
    ended_words: str
    score: float | None
    steps_used: int
    max_steps: int
    flagged: bool
    flag_reason: str
    before: UUID | None
    after: UUID | None
    attempts: list[AttemptDetail]
    shown: AttemptDetail | None
    steps: list[StepDetail]
    evaluations: list[EvaluationDetail]
    rescores: list[RescoreRow]
    can_rescore: bool
    asks_judge: bool
    newer: bool
    human: bool
    screen: ScreenSize
    unrated: bool
    first_run: str
    draft: UUID | None
    anew: str
    mixed: bool
    judged: JudgeCost | None

    @property
    def acted(self) -> int:
        """Steps of the agent, without the picture of the state that it left."""
        return sum(not step.final for step in self.steps)

    @property
    def repeated(self) -> bool:
        """The first evaluation came to no verdict, a repeated one did."""
        return any(one.failure for one in self.evaluations) and any(one.current for one in self.evaluations)

    @property
    def spent(self) -> Usage:
        """Tokens and money of the attempt that is shown; not priced as soon as one of its steps is not."""
        return sum((Usage.model_validate(step.usage) for step in self.steps if step.usage), Usage())


def episode_page(session: Session, episode_id: UUID, number: int | None) -> EpisodePage:
    """One episode with one of its attempts (the newest unless `number` says which). Raises NotFound."""
    row = repository.episode(session, episode_id)
    if row is None:
        raise NotFound("there is no such episode", code="episode_not_found", hint="Look for it in the list of its run.")
    rows = repository.attempts(session, episode_id)
    attempts = [_attempt(each) for each in rows]
    shown = _select_attempt(attempts, number)
    before, after = repository.neighbours(session, row.Run.id, episode_id)
    episode, task, run = row.Episode, row.Task, row.Run
    unrated = row.human and _unrated(run, episode, rows[-1].Attempt if rows else None)
    return EpisodePage(
        id=episode.id,
        run_id=run.id,
        run_title=run.name or f"{row.agent} on {row.benchmark}",
        benchmark=row.benchmark,
        version=row.version,
        agent=row.agent,
        task=task.key,
        task_id=task.id,
        domain=task.domain,
        difficulty=task.difficulty or UNLABELLED,
        instruction=task.instruction,
        feasible=task.feasible,
        repeat=episode.repeat,
        repeats=int(run.config.get("repeats", 1)),
        seed=episode.seed,
        state=UNRATED
        if unrated
        else state_of(episode.state, episode.score, episode.ended_by, episode.failure_class, mixed=episode.mixed),
        reason=_reason(session, episode),
        failure_message=episode.failure_message,
        ended_words=ENDED_WORDS.get(episode.ended_by or "", ""),
        score=None if unrated else episode.score,
        steps_used=episode.steps,
        max_steps=max_steps_of(run.config, task.spec),
        flagged=episode.flagged,
        flag_reason=episode.flag_reason,
        before=before,
        after=after,
        attempts=attempts,
        shown=shown,
        steps=[_step(step) for step in repository.steps(session, shown.id)] if shown else [],
        evaluations=_evaluations(session, shown.id) if shown and not unrated else [],
        rescores=reevaluation.listing(session, episode_id=episode_id)[::-1],
        can_rescore=not unrated and reevaluation.can_be(session, episode),
        asks_judge=bool(task.judged),
        newer=repository.has_newer_task(session, task),
        human=row.human,
        screen=ScreenSize.model_validate(run.config.get("screen") or {}),
        unrated=unrated,
        first_run=str((episode.person or {}).get("first_run", "")),
        draft=drafts.draft_of_run(session, run.id) if run.purpose == Purpose.RECORD else None,
        anew=_anew(run, episode) if row.human else "",
        mixed=episode.mixed,
        judged=cost_of_attempt(session, shown.id) if shown and not unrated else None,
    )


def _reason(session: Session, episode: Episode) -> str:
    """Why it waits, with about when it begins where that can be said; else what its row says."""
    why = explain(session, [episode]).get(episode.id)
    if why is None:
        return episode.reason
    return f"{why.words[:1].upper()}{why.words[1:]}"


def _anew(run: Run, episode: Episode) -> str:
    if not is_lost(episode) or RunState(run.state) not in {RunState.QUEUED, RunState.RUNNING}:
        return ""
    return "yes" if (episode.person or {}).get("feasible") else "no"


def _unrated(run: Run, episode: Episode, attempt: Attempt | None) -> bool:
    """A person's task that has ended, but not been rated: nobody is told yet whether it was solved."""
    if episode.state != EpisodeState.SCORED or run.purpose in {Purpose.PRACTICE, Purpose.RECORD}:
        return False
    return attempt is None or (attempt.person or {}).get("rating") is None


def _select_attempt(attempts: list[AttemptDetail], number: int | None) -> AttemptDetail | None:
    if number is None:
        return attempts[-1] if attempts else None
    for attempt in attempts:
        if attempt.number == number:
            return attempt
    raise NotFound(f"this episode has no attempt {number}", code="attempt_not_found")


def phases_of(seconds: Mapping[str, Any]) -> list[PhaseSeconds]:
    """Seconds by phase, in the order in which they happen."""
    values = {name: float(seconds.get(name) or 0.0) for name in PHASES}
    total = sum(values.values())
    return [PhaseSeconds(name, PHASES[name], value, value / total) for name, value in values.items()] if total else []


def _untold(attempt: Attempt) -> float:
    """Seconds of an attempt lost to the cluster that no phase has: a worker that died told none of them."""
    if attempt.ended_at is None or attempt.failure_class != FailureClass.CLUSTER:
        return 0.0
    return max(0.0, (attempt.ended_at - attempt.started_at).total_seconds() - sum(attempt.seconds.values()))


def _attempt(row: AnyRow) -> AttemptDetail:
    attempt: Attempt = row.Attempt
    first = attempt.first_observation_at
    return AttemptDetail(
        id=attempt.id,
        number=attempt.number,
        state=attempt.state,
        live=attempt.live,
        controller=attempt.controller,
        worker=row.worker,
        slot=f"{row.node}, {row.provider} {row.index}",
        ended_by=ENDED_WORDS.get(attempt.ended_by or "", ""),
        failure_class=attempt.failure_class,
        failure_message=attempt.failure_message,
        current_step=attempt.current_step,
        started_at=attempt.started_at,
        ended_at=attempt.ended_at,
        phases=phases_of({**attempt.seconds, "lost": _untold(attempt)}),
        to_first_observation=(first - attempt.started_at).total_seconds() if first else None,
        desktop=attempt.desktop,
        opening=opening_of(attempt),
    )


def _step(step: Step) -> StepDetail:
    return StepDetail(
        index=step.index,
        frame=step.frame_sha256,
        width=step.width or 1920,
        height=step.height or 1080,
        a11y=step.a11y_sha256,
        words=step.words,
        reply=step.reply,
        actions=[action_words(action) for action in step.actions],
        marks=pointer_path(step.actions),
        results=[result for result in step.results if result and result != {"final": True}],
        invalid=step.invalid,
        usage=step.usage,
        timing=step.timing,
        windows=step.windows,
        at=step.created_at,
        final=any(isinstance(result, dict) and result.get("final") for result in step.results),
        shown=step.shown_sha256,
        prompt=step.prompt_sha256,
        model=str(step.extras.get("model") or ""),
        dropped=tuple(step.extras.get("dropped") or ()),
        elements=len(step.extras["marks"]) if "marks" in step.extras else None,
        by=str(step.extras.get("by") or ""),
    )


def _evaluations(session: Session, attempt_id: UUID) -> list[EvaluationDetail]:
    return [
        EvaluationDetail(
            version=evaluation.version,
            score=evaluation.score,
            failure=evaluation.failure,
            rule=evaluation.rule,
            metrics=evaluation.metrics,
            dialect=str(evaluation.spec.get("dialect", "")),
            conj=str(evaluation.spec.get("conj", "")),
            checks=[_check(call) for call in evaluation.spec.get("calls", ())],
            by_other_task=evaluation.task_id is not None,
            measures=[(measure.name, measure.value) for measure in repository.measures(session, evaluation.id)],
            evidence=[_evidence(item) for item in repository.evidence(session, evaluation.id)],
            current=evaluation.current,
            seconds=evaluation.seconds,
            created_at=evaluation.created_at,
        )
        for evaluation in repository.evaluations(session, attempt_id)
    ]


def _check(call: Mapping[str, Any]) -> dict[str, Any]:
    """What a metric was told, without what it was not told."""
    return {key: value for key, value in call.items() if value and key != "func"}


def _evidence(row: AnyRow) -> EvidenceDetail:
    item = row.Evidence
    return EvidenceDetail(
        position=item.position,
        role=item.role,
        getter=item.getter,
        name=item.blob_name,
        sha256=item.sha256,
        size=row.size,
        media_type=row.media_type,
        note=item.note,
    )
