"""Records as the API gives them: runs, episodes, attempts, steps."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db import models
from backend.db.repositories.runs import display_names as repository
from backend.domain.model.episode import Outcome
from backend.domain.scheduling.limits import Concurrency
from backend.services.runs.episodes import EpisodeSummary, EvaluationRow
from backend.services.runs.summary import BOOTSTRAP
from backend.services.runs.summary import RunSummary as Computed
from backend.services.scheduling.wait_reasons import WaitExplanation
from backend.web.attempts import schemas as own
from backend.web.runs import schemas


def artifact_url(sha256: str) -> str:
    """Where an artifact is read."""
    return f"/api/v1/artifacts/{sha256}"


def summary(statistics: Computed) -> schemas.RunSummaryView:
    """A summary."""
    counts = schemas.EpisodeCountsView(**vars(statistics.counts))
    outcomes = {outcome.value: getattr(statistics.counts, outcome.value) for outcome in Outcome}
    success = None if statistics.success_interval is None else tuple(statistics.success_interval)
    mean = None if statistics.mean_interval is None else tuple(statistics.mean_interval)
    method = statistics.success_method or "none"
    words = f"{statistics.level:.0%} level; success rate: {method}; mean score: {BOOTSTRAP}"
    return schemas.RunSummaryView(
        episodes=statistics.episodes,
        counts=counts,
        outcomes=outcomes,
        lost=dict(statistics.lost),
        solved=statistics.solved,
        success_rate=statistics.success_rate,
        success_interval=success,
        mean_score=statistics.mean_score,
        mean_interval=mean,
        interval=schemas.RateInterval(level=statistics.level, success_rate=success, mean_score=mean, words=words),
        lower_bound_success=statistics.lower_bound_success,
        lower_bound_mean=statistics.lower_bound_mean,
        denominator_words=statistics.denominator_words,
    )


def task_set(row: models.TaskSet) -> schemas.TaskSetRef:
    """A task set's version."""
    return schemas.TaskSetRef(id=row.id, version=row.version, content_hash=row.content_hash)


def runs(session: Session, rows: Sequence[models.Run], summaries: Mapping[UUID, Computed]) -> list[schemas.RunView]:
    """Runs with their names and summaries."""
    names = repository.run_names(session, [row.id for row in rows])
    return [_run(row, names[row.id], summaries[row.id]) for row in rows]


def _run(row: models.Run, names: repository.RunNames, computed: Computed) -> schemas.RunView:
    shown = summary(computed)
    return schemas.RunView(
        id=row.id,
        name=row.name,
        status=row.state,
        benchmark=names.benchmark,
        task_set=task_set(names.task_set),
        agent=names.agent.name,
        params=names.agent.params,
        provider=row.provider,
        config=row.config,
        pins=row.pins,
        purpose=row.purpose,
        open=row.open,
        priority=row.priority,
        concurrency=row.concurrency,
        actor=names.actor,
        counts=shown.counts,
        summary=shown,
        created_at=row.created_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
    )


def concurrency(concurrency: Concurrency | None) -> schemas.ConcurrencyView | None:
    """What limits a run."""
    if concurrency is None:
        return None
    return schemas.ConcurrencyView(
        at_once=concurrency.at_once, slots=concurrency.slots, factor=concurrency.factor, words=concurrency.words
    )


def waiting(why: WaitExplanation | None) -> schemas.WaitView | None:
    """Why an episode waits."""
    return None if why is None else schemas.WaitView(why=why.sentence, ahead=why.ahead, starts_at=why.starts_at)


def episode(row: EpisodeSummary, why: WaitExplanation | None = None) -> schemas.EpisodeView:
    """An episode with its task and newest attempt."""
    episode, task = row.episode, row.task
    return schemas.EpisodeView(
        id=episode.id,
        run_id=episode.run_id,
        task_id=task.id,
        task=task.key,
        domain=task.domain,
        difficulty=task.difficulty,
        level=task.level,
        repeat=episode.repeat,
        seed=episode.seed,
        state=episode.state,
        reason=episode.reason,
        waiting=waiting(why),
        outcome=episode.outcome,
        mixed=episode.mixed,
        ended_by=episode.ended_by,
        failure_class=episode.failure_class,
        failure_message=episode.failure_message,
        score=episode.score,
        solved=episode.solved,
        steps=row.steps,
        attempts=episode.attempts_count,
        seconds={name: float(value) for name, value in row.seconds.items()},
        flagged=episode.flagged,
        flag_reason=episode.flag_reason,
        started_at=episode.started_at,
        ended_at=episode.ended_at,
    )


def attempts(
    session: Session, rows: Sequence[models.Attempt], evaluations: Sequence[EvaluationRow]
) -> list[own.AttemptView]:
    """Attempts with where they ran and how they were scored."""
    places = repository.places(session, [row.id for row in rows])
    by_attempt: dict[UUID, list[own.EvaluationView]] = {row.id: [] for row in rows}
    for row in evaluations:
        by_attempt[row.evaluation.attempt_id].append(evaluation(row))
    return [_attempt(row, places[row.id], by_attempt[row.id]) for row in rows]


def _attempt(
    row: models.Attempt, place: repository.AttemptLocation, evaluations: list[own.EvaluationView]
) -> own.AttemptView:
    return own.AttemptView(
        id=row.id,
        episode_id=row.episode_id,
        number=row.number,
        state=row.state,
        controller=row.controller,
        worker=place.worker,
        slot=f"{place.node} · {place.provider} {place.index}",
        ended_by=row.ended_by,
        failure_class=row.failure_class,
        failure_message=row.failure_message,
        seconds={name: float(value) for name, value in row.seconds.items()},
        desktop=row.desktop,
        current_step=row.current_step,
        live=row.live,
        started_at=row.started_at,
        first_observation_at=row.first_observation_at,
        ended_at=row.ended_at,
        evaluations=evaluations,
    )


def evaluation(row: EvaluationRow) -> own.EvaluationView:
    """An evaluation with measures and evidence."""
    evaluation = row.evaluation
    return own.EvaluationView(
        id=evaluation.id,
        attempt_id=evaluation.attempt_id,
        version=evaluation.version,
        score=evaluation.score,
        failure=evaluation.failure,
        rule=evaluation.rule,
        metrics=evaluation.metrics,
        spec=evaluation.spec,
        task_id=evaluation.task_id,
        measures=dict(row.measures),
        evidence=[_evidence(item) for item in row.evidence],
        current=evaluation.current,
        seconds=evaluation.seconds,
        created_at=evaluation.created_at,
    )


def _evidence(item: models.Evidence) -> own.EvidenceView:
    return own.EvidenceView(
        position=item.position,
        role=item.role,
        getter=item.getter,
        blob_name=item.blob_name,
        part=item.part,
        sha256=item.sha256,
        url=artifact_url(item.sha256) if item.sha256 else None,
        note=item.note,
    )


def step(row: models.Step) -> own.StepView:
    """A step; pictures and trees by address."""
    frame = row.frame_sha256
    return own.StepView(
        id=row.id,
        attempt_id=row.attempt_id,
        index=row.index,
        frame=_artifact(frame, row.frame_media_type or "", row.width, row.height) if frame else None,
        a11y=_artifact(row.a11y_sha256, "application/xml") if row.a11y_sha256 else None,
        shown=_artifact(row.shown_sha256, "image/jpeg") if row.shown_sha256 else None,
        prompt=_artifact(row.prompt_sha256, "text/plain") if row.prompt_sha256 else None,
        extras=row.extras,
        windows=row.windows,
        words=row.words,
        reply=row.reply,
        actions=row.actions,
        results=_objects(row.results),
        invalid=row.invalid,
        usage=row.usage,
        timing=row.timing,
        created_at=row.created_at,
    )


def _artifact(sha256: str, media_type: str, width: int | None = None, height: int | None = None) -> own.ArtifactView:
    url = artifact_url(sha256)
    return own.ArtifactView(sha256=sha256, url=url, media_type=media_type, width=width, height=height)


def _objects(values: Sequence[Any]) -> list[dict[str, Any]]:
    return [value if isinstance(value, dict) else {"value": value} for value in values]


def event(row: models.Event) -> own.EventView:
    """An event of a run."""
    return own.EventView(
        seq=row.seq,
        kind=row.kind,
        run_id=row.run_id,
        episode_id=row.episode_id,
        attempt_id=row.attempt_id,
        data=row.data,
        created_at=row.created_at,
    )
