"""Review items and answers, with the judges' verdicts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Select, and_, case, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, aliased

from backend.db.models import (
    Actor,
    Attempt,
    Episode,
    Evaluation,
    HumanJudgement,
    HumanRating,
    Judge,
    JudgeVerdict,
    Measure,
    ReviewItem,
    Run,
    Task,
)
from backend.db.models.enums import JudgeKind
from backend.db.repositories.common_queries import AnyRow


def _judged_attempts(judge: Judge) -> Select[UUID]:
    """Attempts that a judge has judged; for graphs, those whose current verdict has a CR."""
    if judge.kind == JudgeKind.VLM:
        return select(JudgeVerdict.attempt_id).where(JudgeVerdict.judge_id == judge.id).distinct()
    return (
        select(Evaluation.attempt_id)
        .join(Measure, and_(Measure.evaluation_id == Evaluation.id, Measure.name == "CR"))
        .join(Attempt, Attempt.id == Evaluation.attempt_id)
        .join(Episode, Episode.id == Attempt.episode_id)
        .join(Run, Run.id == Episode.run_id)
        .where(Evaluation.current, Run.project_id == judge.project_id)
    )


def judged_attempts(session: Session, judge: Judge) -> set[UUID]:
    """The attempts from which items can be drawn."""
    return set(session.scalars(_judged_attempts(judge)))


def judged_count(session: Session, judge: Judge) -> int:
    """Their number."""
    return session.scalars(select(func.count()).select_from(_judged_attempts(judge).subquery())).one()


def drawn_attempts(session: Session, judge_id: UUID) -> set[UUID]:
    """Attempts that are already items."""
    return set(session.scalars(select(ReviewItem.attempt_id).where(ReviewItem.judge_id == judge_id)))


def add_items(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Adds items; existing ones are not changed."""
    if rows:
        query = insert(ReviewItem).values([dict(row) for row in rows])
        session.execute(query.on_conflict_do_nothing(index_elements=["judge_id", "attempt_id"]))


def _answers(kind: str) -> Select[UUID, UUID]:
    """(attempt, actor) of every review."""
    table = HumanJudgement if kind == JudgeKind.VLM else HumanRating
    return select(table.attempt_id, table.actor_id).distinct()


def next_item(session: Session, judge: Judge, actor_id: UUID, people: int) -> ReviewItem | None:
    """The next item for a person: not judged by them and by fewer than `people`; partly judged ones first."""
    answers = _answers(judge.kind).subquery()
    reviewed_by_actor = select(answers.c.attempt_id).where(answers.c.actor_id == actor_id)
    counts = select(answers.c.attempt_id, func.count().label("n")).group_by(answers.c.attempt_id).subquery()
    number = func.coalesce(counts.c.n, 0)
    query = (
        select(ReviewItem)
        .outerjoin(counts, counts.c.attempt_id == ReviewItem.attempt_id)
        .where(ReviewItem.judge_id == judge.id, ReviewItem.attempt_id.not_in(reviewed_by_actor), number < people)
        .order_by(number.desc(), ReviewItem.id)
    )
    return session.scalar(query.limit(1))


def item(session: Session, item_id: UUID) -> ReviewItem | None:
    return session.get(ReviewItem, item_id)


def progress(session: Session, judge: Judge, people: int) -> tuple[int, int]:
    """(items, those that enough people have judged)."""
    answers = _answers(judge.kind).subquery()
    counts = select(answers.c.attempt_id, func.count().label("n")).group_by(answers.c.attempt_id).subquery()
    query = (
        select(func.count(ReviewItem.id), func.count(case((counts.c.n >= people, 1))))
        .outerjoin(counts, counts.c.attempt_id == ReviewItem.attempt_id)
        .where(ReviewItem.judge_id == judge.id)
    )
    items, reviewed = session.execute(query).one()
    return int(items), int(reviewed)


def by_person(session: Session, judge: Judge) -> Sequence[AnyRow]:
    """(name, items): number of a judge's items judged by each person."""
    answers = _answers(judge.kind).subquery()
    query = (
        select(Actor.name, func.count().label("n"))
        .join(answers, answers.c.actor_id == Actor.id)
        .join(ReviewItem, ReviewItem.attempt_id == answers.c.attempt_id)
        .where(ReviewItem.judge_id == judge.id)
        .group_by(Actor.name)
        .order_by(Actor.name)
    )
    return session.execute(query).all()


def task_of_attempt(session: Session, attempt_id: UUID) -> tuple[Task, Run]:
    """An attempt's task and run."""
    query = (
        select(Task, Run)
        .join(Episode, Episode.task_id == Task.id)
        .join(Run, Run.id == Episode.run_id)
        .join(Attempt, Attempt.episode_id == Episode.id)
        .where(Attempt.id == attempt_id)
    )
    row = session.execute(query).one()
    return row[0], row[1]


def verdicts(session: Session, judge_id: UUID, attempt_id: UUID) -> list[JudgeVerdict]:
    """A judge's verdicts on an attempt."""
    query = select(JudgeVerdict).where(JudgeVerdict.judge_id == judge_id, JudgeVerdict.attempt_id == attempt_id)
    return list(session.scalars(query.order_by(JudgeVerdict.criterion)))


def put_verdicts(session: Session, rows: Iterable[Mapping[str, Any]]) -> None:
    """Stores a person's verdicts on one attempt, replacing earlier ones."""
    query = insert(HumanJudgement).values([dict(row) for row in rows])
    changes = {"text": query.excluded.text, "reached": query.excluded.reached, "created_at": func.now()}
    session.execute(query.on_conflict_do_update(index_elements=["attempt_id", "actor_id", "criterion"], set_=changes))


def put_rating(session: Session, row: Mapping[str, Any]) -> None:
    """Stores a person's rating of one attempt, replacing an earlier one."""
    query = insert(HumanRating).values(dict(row))
    changes = {"completion": query.excluded.completion, "logic": query.excluded.logic, "created_at": func.now()}
    session.execute(query.on_conflict_do_update(index_elements=["attempt_id", "actor_id"], set_=changes))


def compared_verdicts(session: Session, judge_id: UUID) -> Sequence[AnyRow]:
    """Every person's verdict and the judge's: attempt, episode, task, level, criterion, judge, person, reached.

    Only if both had the same question.
    """
    judge, person = JudgeVerdict, HumanJudgement
    same = and_(person.attempt_id == judge.attempt_id, person.criterion == judge.criterion, person.text == judge.text)
    query = (
        select(
            judge.attempt_id,
            Episode.id.label("episode_id"),
            (Task.domain + "/" + Task.name).label("task"),
            Task.level,
            judge.criterion,
            judge.reached.label("judge"),
            Actor.name.label("person"),
            person.reached,
        )
        .join(person, same)
        .join(Actor, Actor.id == person.actor_id)
        .join(Attempt, Attempt.id == judge.attempt_id)
        .join(Episode, Episode.id == Attempt.episode_id)
        .join(Task, Task.id == Episode.task_id)
        .where(judge.judge_id == judge_id)
        .order_by(judge.attempt_id, judge.criterion, Actor.name)
    )
    return session.execute(query).all()


def rated_items(session: Session, judge_id: UUID) -> Sequence[AnyRow]:
    """Every person's rating of an item with its measures: attempt, task, completion, logic, CR, LC."""
    cr, lc = aliased(Measure), aliased(Measure)
    query = (
        select(
            HumanRating.attempt_id,
            (Task.domain + "/" + Task.name).label("task"),
            Actor.name.label("person"),
            HumanRating.completion,
            HumanRating.logic,
            cr.value.label("CR"),
            lc.value.label("LC"),
        )
        .join(ReviewItem, ReviewItem.attempt_id == HumanRating.attempt_id)
        .join(Actor, Actor.id == HumanRating.actor_id)
        .join(Attempt, Attempt.id == HumanRating.attempt_id)
        .join(Episode, Episode.id == Attempt.episode_id)
        .join(Task, Task.id == Episode.task_id)
        .join(Evaluation, and_(Evaluation.attempt_id == Attempt.id, Evaluation.current))
        .outerjoin(cr, and_(cr.evaluation_id == Evaluation.id, cr.name == "CR"))
        .outerjoin(lc, and_(lc.evaluation_id == Evaluation.id, lc.name == "LC"))
        .where(ReviewItem.judge_id == judge_id)
        .order_by(HumanRating.attempt_id, Actor.name)
    )
    return session.execute(query).all()
