"""Blind reviews of judged attempts: people see neither the judge's verdicts nor the agent."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import Actor, Judge, ReviewItem
from backend.db.models.enums import JudgeKind
from backend.db.repositories.judging import reviews as repository
from backend.domain.errors import Invalid, NotFound
from backend.domain.judging.criteria import Criterion
from backend.domain.judging.judge_input import JudgeInputStep
from backend.services.benchmarks.variants import task_of
from backend.services.judging.judges import get_judge, input_steps

PEOPLE = 2
"""Number of reviewers per item."""
TENTHS = tuple(range(0, 101, 10))
MOST_DRAWN = 1000


@dataclass(frozen=True)
class ReviewTask:
    """One item for a reviewer.

    Attributes:
        item: id for the answer.
        kind: `vlm`: each criterion is met or not; `graph`: completion and logic in tenths.
        instruction: the task's.
        criteria: what to judge; for a graph its subtasks, for reading.
        steps: pictures and actions.
    """

    item: UUID
    kind: str
    instruction: str
    criteria: tuple[Criterion, ...]
    steps: tuple[JudgeInputStep, ...]


@dataclass(frozen=True)
class ReviewProgress:
    """Progress of a judge's reviews.

    Attributes:
        items: number drawn.
        reviewed: number judged by enough people.
        judged: attempts by the judge, from which more can be drawn.
        people: items by person.
    """

    items: int
    reviewed: int
    judged: int
    people: Mapping[str, int]


def draw(session: Session, judge_id: UUID, size: int, seed: int) -> int:
    """Draws attempts for people; deterministic for the same attempts, size and seed. Returns the number of new ones.

    Raises:
        NotFound: There is no such judge.
        Invalid: the number is not valid, or all judged attempts were drawn already.
    """
    if not 1 <= size <= MOST_DRAWN:
        raise Invalid(f"expected 1 to {MOST_DRAWN}", code="invalid_request", path="size")
    judge = get_judge(session, judge_id)
    undrawn = sorted(repository.judged_attempts(session, judge) - repository.drawn_attempts(session, judge.id))
    if not undrawn:
        raise Invalid(
            "nothing is left to review", code="nothing_to_review", path="size", hint="Run more judged tasks first."
        )
    drawn = random.Random(seed).sample(undrawn, min(size, len(undrawn)))  # noqa: S311 - a draw that anybody can repeat.
    repository.add_items(
        session, [{"id": uuid7(), "judge_id": judge.id, "attempt_id": attempt_id, "seed": seed} for attempt_id in drawn]
    )
    return len(drawn)


def next_task(session: Session, judge_id: UUID, person: Actor) -> ReviewTask | None:
    """The next item for a person; None if there is none."""
    judge = get_judge(session, judge_id)
    item = repository.next_item(session, judge, person.id, PEOPLE)
    if item is None:
        return None
    row, run = repository.task_of_attempt(session, item.attempt_id)
    task = task_of(session, row, run.config)
    return ReviewTask(
        item=item.id,
        kind=judge.kind,
        instruction=task.instruction,
        criteria=_criteria(session, judge, item, [part.name for part in task.evaluator.parts])
        if judge.kind == JudgeKind.VLM
        else tuple(Criterion(name=part.name, text=part.text) for part in task.evaluator.parts),
        steps=input_steps(session, item.attempt_id),
    )


def give_verdicts(
    session: Session, judge_id: UUID, item_id: UUID, person: Actor, verdicts: Mapping[str, bool | None]
) -> None:
    """Stores a person's verdict on every criterion of an item; None: cannot tell from what is shown.

    Raises:
        NotFound: There is no such item.
        Invalid: a criterion is missing or unknown.
    """
    judge, item = _item(session, judge_id, item_id, JudgeKind.VLM)
    criteria = _criteria(session, judge, item, ())
    names = {criterion.name for criterion in criteria}
    if wrong := names ^ set(verdicts):
        raise Invalid(
            f"give a verdict for exactly the task's criteria; wrong: {', '.join(sorted(wrong))[:200]}",
            code="invalid_answer",
            path="said",
        )
    repository.put_verdicts(
        session,
        [
            {
                "attempt_id": item.attempt_id,
                "actor_id": person.id,
                "criterion": criterion.name,
                "text": criterion.text,
                "reached": verdicts[criterion.name],
            }
            for criterion in criteria
        ],
    )


def give_rating(  # noqa: PLR0913 - who says what of which item
    session: Session, judge_id: UUID, item_id: UUID, person: Actor, *, completion: int, logic: int
) -> None:
    """Stores how complete a graph is and how sensible the order, in tenths.

    Raises:
        NotFound: There is no such item.
        Invalid: It is not in tenths.
    """
    _, item = _item(session, judge_id, item_id, JudgeKind.GRAPH)
    for name, value in (("completion", completion), ("logic", logic)):
        if value not in TENTHS:
            raise Invalid("expected 0, 10 .. 100", code="invalid_request", path=name)
    row = {"attempt_id": item.attempt_id, "actor_id": person.id, "completion": completion, "logic": logic}
    repository.put_rating(session, row)


def progress(session: Session, judge: Judge) -> ReviewProgress:
    items, reviewed = repository.progress(session, judge, PEOPLE)
    people = {row.name: int(row.n) for row in repository.by_person(session, judge)}
    return ReviewProgress(items, reviewed, repository.judged_count(session, judge), people)


def _item(session: Session, judge_id: UUID, item_id: UUID, kind: JudgeKind) -> tuple[Judge, ReviewItem]:
    judge, item = get_judge(session, judge_id), repository.item(session, item_id)
    if item is None or item.judge_id != judge.id:
        raise NotFound("Item not found.", code="review_item_not_found")
    if judge.kind != kind:
        raise Invalid("this item needs another form of answer", code="invalid_answer", path="said")
    return judge, item


def _criteria(session: Session, judge: Judge, item: ReviewItem, order: Sequence[str]) -> tuple[Criterion, ...]:
    """Criteria of this attempt, in the task's order."""
    rows = repository.verdicts(session, judge.id, item.attempt_id)
    rows.sort(key=lambda row: order.index(row.criterion) if row.criterion in order else len(order))
    return tuple(Criterion(name=row.criterion, text=row.text) for row in rows)
