"""Artifacts and references to them."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, select, union_all
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from backend.db.models import (
    Artifact,
    Attempt,
    AttemptVideo,
    Benchmark,
    DemonstrationRecord,
    DemonstrationSet,
    DemonstrationStepRecord,
    Episode,
    Evaluation,
    Evidence,
    Run,
    Step,
    TaskAsset,
    TaskDraft,
    TaskDraftAsset,
    TaskSet,
    WebAsset,
)


def register(session: Session, rows: Iterable[tuple[str, int, str]]) -> None:
    """Registers (sha256, size, media type); existing ones are touched, so that garbage collection keeps them.

    Sorted, so that concurrent transactions with the same pictures cannot deadlock.
    """
    values = [{"sha256": sha, "size": size, "media_type": media} for sha, size, media in sorted(set(rows))]
    if values:
        query = insert(Artifact).values(values)
        session.execute(
            query.on_conflict_do_update(index_elements=[Artifact.sha256], set_={"last_stored_at": func.now()})
        )


def get(session: Session, sha256: str) -> Artifact | None:
    """Metadata of an artifact."""
    return session.get(Artifact, sha256)


def projects_of(session: Session, sha256: str) -> set[UUID]:
    """Projects with an episode, a task set, a draft or a demonstration that refers to the bytes."""
    owner = (
        select(Run.project_id).join(Episode, Episode.run_id == Run.id).join(Attempt, Attempt.episode_id == Episode.id)
    )
    steps = owner.join(Step, Step.attempt_id == Attempt.id)
    scored = owner.join(Evaluation, Evaluation.attempt_id == Attempt.id)
    proof = scored.join(Evidence, Evidence.evaluation_id == Evaluation.id)
    asset = select(Benchmark.project_id).join(TaskSet).join(TaskAsset)
    of_demonstrations = select(DemonstrationSet.project_id).join(DemonstrationRecord).join(DemonstrationStepRecord)
    query = union_all(
        steps.where(Step.frame_sha256 == sha256),
        steps.where(Step.a11y_sha256 == sha256),
        steps.where(Step.agent_view_sha256 == sha256),
        steps.where(Step.prompt_sha256 == sha256),
        proof.where(Evidence.sha256 == sha256),
        owner.join(AttemptVideo, AttemptVideo.attempt_id == Attempt.id).where(AttemptVideo.sha256 == sha256),
        asset.where(TaskAsset.sha256 == sha256),
        select(WebAsset.project_id).where(WebAsset.sha256 == sha256),
        select(TaskDraft.project_id).join(TaskDraftAsset).where(TaskDraftAsset.sha256 == sha256),
        of_demonstrations.where(DemonstrationStepRecord.frame_sha256 == sha256),
        of_demonstrations.where(DemonstrationStepRecord.tree_sha256 == sha256),
    )
    return set(session.scalars(query))


def remove_unused(session: Session, before: datetime, limit: int) -> list[str]:
    """Deletes rows of unreferenced artifacts that were last stored before `before`."""
    used = (
        select(Step.id).where(Step.frame_sha256 == Artifact.sha256).exists()
        | select(Step.id).where(Step.a11y_sha256 == Artifact.sha256).exists()
        | select(Step.id).where(Step.agent_view_sha256 == Artifact.sha256).exists()
        | select(Step.id).where(Step.prompt_sha256 == Artifact.sha256).exists()
        | select(Evidence.evaluation_id).where(Evidence.sha256 == Artifact.sha256).exists()
        | select(AttemptVideo.attempt_id).where(AttemptVideo.sha256 == Artifact.sha256).exists()
        | select(TaskAsset.task_set_id).where(TaskAsset.sha256 == Artifact.sha256).exists()
        | select(TaskDraftAsset.draft_id).where(TaskDraftAsset.sha256 == Artifact.sha256).exists()
        | select(DemonstrationStepRecord.id).where(DemonstrationStepRecord.frame_sha256 == Artifact.sha256).exists()
        | select(DemonstrationStepRecord.id).where(DemonstrationStepRecord.tree_sha256 == Artifact.sha256).exists()
        | select(WebAsset.url).where(WebAsset.sha256 == Artifact.sha256).exists()
    )
    idle = select(Artifact.sha256).where(Artifact.last_stored_at < before, ~used).limit(limit)
    locked = idle.with_for_update(skip_locked=True, of=Artifact)
    query = delete(Artifact).where(Artifact.sha256.in_(locked.scalar_subquery())).returning(Artifact.sha256)
    return list(session.scalars(query.execution_options(synchronize_session=False)))


def existing_hashes(session: Session, names: Iterable[str]) -> set[str]:
    """Those of the hashes that have a row."""
    return set(session.scalars(select(Artifact.sha256).where(Artifact.sha256.in_(list(names)))))
