"""Views of judges."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Judge, Project
from backend.db.models.enums import JudgeKind
from backend.db.repositories.judging import judges as repository
from backend.db.repositories.judging import reviews as review_repository
from backend.services.judging.judge_agreement import JudgeAgreement, Level, agreement_of
from backend.services.judging.judges import JudgeCost, get_judge, list_judges
from backend.services.judging.reviews import ReviewProgress, progress

SHOWN = 200
"""Maximum disagreements on a page; the CSV has all answers."""


@dataclass(frozen=True)
class JudgePage:
    """A judge with its agreement statistics.

    Attributes:
        cost: of all its answers.
    """

    judge: Judge
    progress: ReviewProgress
    agreement: JudgeAgreement
    cost: JudgeCost

    @property
    def graph(self) -> bool:
        """Whether it is the graph evaluator, whose measures people rate."""
        return self.judge.kind == JudgeKind.GRAPH


def judge_pages(session: Session, project: Project) -> list[JudgePage]:
    """All judges, newest first."""
    return [_page(session, judge) for judge in list_judges(session, project)]


def judge_page(session: Session, judge_id: UUID) -> JudgePage:
    """One judge. Raises NotFound."""
    return _page(session, get_judge(session, judge_id))


def _page(session: Session, judge: Judge) -> JudgePage:
    cost = JudgeCost(*repository.spent(session, judge_id=judge.id))
    return JudgePage(judge, progress(session, judge), agreement_of(session, judge), cost)


def agreement_rows(page: JudgePage) -> Iterator[dict[str, Any]]:
    """Judge versus people by level, as flat rows."""
    agreement = page.agreement
    for level in (agreement.whole, *agreement.levels):
        yield _level_row(level)


def _level_row(level: Level) -> dict[str, Any]:
    counts, interval = level.counts, level.interval
    return {
        "level": level.name,
        "pairs": counts.n,
        "both_yes": counts.both,
        "only_judge_yes": counts.only_judge,
        "only_person_yes": counts.only_people,
        "both_no": counts.neither,
        "agreed": counts.agreed,
        "kappa": counts.kappa,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
    }


def answer_rows(session: Session, page: JudgePage) -> Iterator[dict[str, Any]]:
    """People's answers beside the judge's, as flat rows."""
    if page.graph:
        for row in review_repository.rated(session, page.judge.id):
            yield {
                "attempt": str(row.attempt_id),
                "task": row.task,
                "person": row.person,
                "completion": row.completion,
                "logic": row.logic,
                "CR": row.CR,
                "LC": row.LC,
            }
        return
    for row in review_repository.compared(session, page.judge.id):
        yield {
            "attempt": str(row.attempt_id),
            "task": row.task,
            "level": row.level,
            "criterion": row.criterion,
            "person": row.person,
            "person_says": row.reached,
            "judge_says": row.judge,
        }
