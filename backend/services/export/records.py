"""Database rows as recorded trajectories."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db import models
from backend.db.repositories.attempts import attempts
from backend.db.repositories.export import training_data as repository
from backend.db.repositories.export.training_data import TrainingEpisode
from backend.domain.errors import Conflict
from backend.domain.model.score import PartResult
from backend.domain.model.trajectory import Action, Mark
from backend.domain.model.trajectory_export import AgentKind, AttemptResult, ExportedAttempt, PictureRef, RecordedStep
from backend.domain.ports.storage import ArtifactStore
from backend.services.benchmarks.variants import task_of
from backend.services.export.masks import Masker

TOGETHER = 10
"""Trajectories whose steps are in memory at the same time."""


def episodes_with_records(
    session: Session, page: Sequence[TrainingEpisode], store: ArtifactStore, masker: Masker
) -> Iterator[tuple[TrainingEpisode, ExportedAttempt]]:
    """Each episode with its records, in order."""
    measures = attempts.measures(session, [row.evaluation.id for row in page])
    for start in range(0, len(page), TOGETHER):
        some = page[start : start + TOGETHER]
        steps = steps_of(session, [row.attempt.id for row in some], store, masker)
        for row in some:
            yield (
                row,
                _exported_attempt(session, row, measures[row.evaluation.id], steps.get(row.attempt.id, ()), masker),
            )


def source_of(row: TrainingEpisode) -> dict[str, Any]:
    """Provenance of a trajectory. It names no person: only the kind of actor."""
    return {
        "run": str(row.run.id),
        "purpose": row.run.purpose,
        "episode": str(row.episode.id),
        "repeat": row.episode.repeat_index,
        "seed": row.episode.seed,
        "attempt": str(row.attempt.id),
        "attempt_number": row.attempt.number,
        "provider": row.run.provider,
        "worker": row.worker.name,
        "worker_version": row.worker.version,
        "node": row.node,
        "evaluator_version": row.evaluation.version,
        "task_set": row.task_set.content_hash,
        "task_hash": row.task.content_hash,
        "variant": row.run.config.get("variant"),
        "ended_at": row.episode.ended_at.isoformat() if row.episode.ended_at else None,
    }


def _exported_attempt(
    session: Session, row: TrainingEpisode, measures: Mapping[str, float], steps: Sequence[RecordedStep], masker: Masker
) -> ExportedAttempt:
    task = task_of(session, row.task, row.run.config)
    parts = tuple(PartResult.model_validate(part) for part in row.evaluation.parts)
    return ExportedAttempt(
        id=str(row.attempt.id),
        task=task.model_copy(update={"instruction": masker.text(task.instruction)}),
        benchmark={
            "name": row.benchmark.name,
            "version": row.task_set.version,
            "content_hash": row.task_set.content_hash,
        },
        agent=row.agent.name,
        kind=AgentKind(row.kind),
        result=AttemptResult(row.result),
        score=_score(row),
        ended_by=row.episode.ended_by or "",
        steps=tuple(_with_reached(step, parts) for step in steps),
        measures=measures,
        parts=parts,
        source=source_of(row),
    )


def _score(row: TrainingEpisode) -> float:
    """Only scored attempts are requested: submissions judged by people have no score, which is not 0."""
    if row.evaluation.score is None:
        raise Conflict(
            f"the attempt {row.attempt.id} was submitted for people to judge and has no score",
            code="attempt_not_scored",
        )
    return row.evaluation.score


def _with_reached(step: RecordedStep, parts: Sequence[PartResult]) -> RecordedStep:
    names = tuple(part.name for part in parts if part.reached and part.step == step.index and not step.final)
    return replace(step, reached=names) if names else step


def steps_of(
    session: Session, attempt_ids: Sequence[UUID], store: ArtifactStore, masker: Masker
) -> Mapping[UUID, Sequence[RecordedStep]]:
    """Steps by attempt, in order."""
    rows = list(repository.steps(session, attempt_ids))
    types = repository.media_types(session, {row.agent_view_sha256 for row in rows if row.agent_view_sha256})
    return {
        attempt_id: [_step(row, types, store, masker) for row in own]
        for attempt_id, own in groupby(rows, key=lambda row: row.attempt_id)
    }


def _step(row: models.Step, types: Mapping[str, str], store: ArtifactStore, masker: Masker) -> RecordedStep:
    tree, view_sha256 = row.a11y_sha256, row.agent_view_sha256
    return RecordedStep(
        index=row.index,
        actions=tuple(Action.model_validate(masker.value(action)) for action in row.actions),
        final=any(isinstance(result, dict) and result.get("final") for result in row.results),
        frame=PictureRef(row.frame_sha256, row.frame_media_type or "") if row.frame_sha256 else None,
        width=row.width or 0,
        height=row.height or 0,
        agent_view=PictureRef(view_sha256, types.get(view_sha256, "")) if view_sha256 else None,
        marks=tuple(Mark.model_validate(masker.value(mark)) for mark in row.extras.get("marks") or ()),
        tree=None if tree is None else lambda: masker.text(store.get(tree).decode(errors="replace")),
        explanation=masker.text(row.explanation),
        reply=masker.text(row.reply),
        invalid=masker.text(row.invalid),
        by=row.extras.get("by", "agent"),
        usage=row.usage,
        timing=row.timing,
        model_calls=tuple(masker.value(call) for call in row.extras.get("model_calls", ())),
        at=row.created_at,
    )
