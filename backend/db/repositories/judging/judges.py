"""Judges, their answers and their verdicts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import Attempt, Episode, Judge, JudgeResponse, JudgeVerdict, Run, Step
from backend.db.repositories.common_queries import AnyRow


def get(session: Session, judge_id: UUID) -> Judge | None:
    return session.get(Judge, judge_id)


def listing(session: Session, project_id: UUID) -> list[Judge]:
    """A project's judges, newest first."""
    return list(session.scalars(select(Judge).where(Judge.project_id == project_id).order_by(Judge.id.desc())))


def get_or_make(session: Session, project_id: UUID, identity: str, values: Mapping[str, Any]) -> Judge:
    """The project's judge of this identity. Safe to call from several workers at once."""
    row = {"id": uuid7(), "project_id": project_id, "identity": identity, **values}
    session.execute(insert(Judge).values(row).on_conflict_do_nothing(index_elements=["project_id", "identity"]))
    query = select(Judge).where(Judge.project_id == project_id, Judge.identity == identity)
    return session.scalars(query).one()


def project_of(session: Session, attempt_id: UUID) -> UUID:
    """The project that an attempt belongs to."""
    query = (
        select(Run.project_id).join(Episode, Episode.run_id == Run.id).join(Attempt, Attempt.episode_id == Episode.id)
    )
    return session.scalars(query.where(Attempt.id == attempt_id)).one()


def add_answer(session: Session, values: Mapping[str, Any]) -> None:
    """Inserts an answer; an existing one with that id is not changed."""
    session.execute(insert(JudgeResponse).values(dict(values)).on_conflict_do_nothing(index_elements=["id"]))


def usable_answer(session: Session, question: str, vote: int) -> JudgeResponse | None:
    """The first usable answer to this question."""
    query = select(JudgeResponse).where(
        JudgeResponse.request_hash == question, JudgeResponse.vote_index == vote, JudgeResponse.usable
    )
    return session.scalar(query.order_by(JudgeResponse.id).limit(1))


def replace_verdicts(session: Session, judge_id: UUID, attempt_id: UUID, rows: Iterable[Mapping[str, Any]]) -> None:
    """Replaces the judge's verdicts on the attempt."""
    same = (JudgeVerdict.judge_id == judge_id, JudgeVerdict.attempt_id == attempt_id)
    session.execute(delete(JudgeVerdict).where(*same))
    session.execute(
        insert(JudgeVerdict), [{"judge_id": judge_id, "attempt_id": attempt_id, **dict(row)} for row in rows]
    )


def input_steps(session: Session, attempt_id: UUID) -> Sequence[AnyRow]:
    """Index, actions, results and picture of each step, in order."""
    query = select(
        Step.index,
        Step.actions,
        Step.results,
        Step.frame_sha256.label("sha256"),
        Step.frame_media_type.label("media_type"),
        Step.width,
        Step.height,
    )
    return session.execute(query.where(Step.attempt_id == attempt_id).order_by(Step.index)).all()


def judge_costs(
    session: Session, *, run_id: UUID | None = None, attempt_id: UUID | None = None, judge_id: UUID | None = None
) -> tuple[int, float, bool]:
    """(answers, USD, all of them priced): cost of judges for a run or an attempt, or of one judge."""
    query = select(
        func.count(JudgeResponse.id),
        func.coalesce(func.sum(JudgeResponse.usd), 0.0),
        func.coalesce(func.bool_and(JudgeResponse.priced), True),
    )
    if attempt_id is not None:
        query = query.where(JudgeResponse.attempt_id == attempt_id)
    if judge_id is not None:
        query = query.where(JudgeResponse.judge_id == judge_id)
    if run_id is not None:
        of_run = select(Attempt.id).join(Episode, Episode.id == Attempt.episode_id).where(Episode.run_id == run_id)
        query = query.where(JudgeResponse.attempt_id.in_(of_run))
    answers, usd, priced = session.execute(query).one()
    return int(answers), float(usd), bool(priced)
