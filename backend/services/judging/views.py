"""Views of judges, and of items for their reviewers."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.addresses import API
from backend.db.models import Judge, Project
from backend.db.models.enums import JudgeKind
from backend.db.repositories.judging import judges as repository
from backend.db.repositories.judging import reviews as review_repository
from backend.domain.statistics.intervals import Interval
from backend.services.judging.judge_agreement import Alpha, Disagreement, JudgeAgreement, Level, agreement_of
from backend.services.judging.judges import JudgeCost, get_judge, list_judges
from backend.services.judging.reviews import ReviewProgress, ReviewTask, progress
from backend.services.read_model import ReadModel

SHOWN = 200
"""Maximum disagreements on a page; the CSV has all answers."""


class Coefficient(ReadModel):
    """A coefficient of agreement; null if undefined."""

    value: float | None = Field(examples=[0.61])
    interval: Interval | None = Field(description="95 %.")
    n: int = Field(description="What it is over.", examples=[120])


class LevelAgreement(ReadModel):
    """Agreement of judge and people on tasks of one level, or on `all`; each verdict of a person is one pair."""

    level: str = Field(examples=["L2"])
    both_yes: int
    only_judge_yes: int
    only_person_yes: int
    both_no: int
    agreed: float | None = Field(description="Share of pairs in which both say the same.")
    kappa: Coefficient = Field(description="Cohen's, over pairs.")


class RatingCorrelation(ReadModel):
    """Pearson's r of a measure of graphs and people's ratings, over attempts rated by two people."""

    measure: Literal["CR", "LC"]
    rating: Literal["completion", "logic"]
    r: Coefficient


class JudgeView(ReadModel):
    """A judge whose verdicts people can check."""

    id: UUID
    kind: JudgeKind = Field(description="A model, or the evaluator of graphs of subtasks.")
    endpoint: str
    model: str = Field(examples=["gpt-4o"])
    prompt_sha256: str
    config: dict[str, Any] = Field(description="The judge of a run.")
    created_at: datetime
    attempts_judged: int
    answers: int = Field(description="All answers, including unusable ones.")
    usd: float = Field(description="Cost of the answers.")
    priced: bool = Field(description="False: some answers have no price here.")
    attempts_sampled: int = Field(description="Attempts drawn for people.")
    attempts_reviewed: int = Field(description="Of them, judged by two people.")
    attempts_checked: int = Field(description="Attempts that at least one person has judged.")
    agreement: list[LevelAgreement] = Field(description="All pairs, then by level.")
    alpha_people: Coefficient = Field(description="Krippendorff's, nominal: people among themselves.")
    alpha_with_judge: Coefficient = Field(description="The same with the judge as one more.")
    correlations: list[RatingCorrelation]

    @property
    def graph(self) -> bool:
        """Whether it is the evaluator of graphs, whose measures people rate."""
        return self.kind is JudgeKind.GRAPH


class ReviewCriterion(ReadModel):
    """A criterion to judge."""

    name: str
    text: str


class ReviewStep(ReadModel):
    """A step's actions with the screen before it; or the final screen."""

    index: int
    actions: str
    picture: str | None = Field(description="Address of the picture.")
    final: bool


class ReviewTaskView(ReadModel):
    """The next item for a person, without the judge's verdict and the agent."""

    item: UUID
    kind: Literal["vlm", "graph"]
    instruction: str
    criteria: list[ReviewCriterion]
    steps: list[ReviewStep]


@dataclass(frozen=True)
class JudgePage:
    """Content of a judge's page.

    Attributes:
        people: items of its queue, by person.
        unsure: people's "cannot tell" answers, which are not counted.
    """

    judge: JudgeView
    people: dict[str, int]
    unsure: int
    disagreements: list[Disagreement]


def judge_views(session: Session, project: Project) -> list[JudgeView]:
    """All judges, newest first."""
    return [_page(session, judge).judge for judge in list_judges(session, project)]


def judge_page(session: Session, judge_id: UUID) -> JudgePage:
    """One judge. Raises NotFound."""
    return _page(session, get_judge(session, judge_id))


def _page(session: Session, judge: Judge) -> JudgePage:
    review_progress, agreement = progress(session, judge), agreement_of(session, judge)
    cost = JudgeCost(*repository.judge_costs(session, judge_id=judge.id))
    view = _judge(judge, review_progress, agreement, cost)
    return JudgePage(view, dict(review_progress.people), agreement.unsure, agreement.disagreements)


def _judge(judge: Judge, done: ReviewProgress, agreement: JudgeAgreement, cost: JudgeCost) -> JudgeView:
    return JudgeView(
        id=judge.id,
        kind=judge.kind,
        endpoint=judge.endpoint,
        model=judge.model,
        prompt_sha256=judge.prompt_sha256,
        config=judge.config,
        created_at=judge.created_at,
        attempts_judged=done.judged,
        answers=cost.answers,
        usd=cost.usd,
        priced=cost.priced,
        attempts_sampled=done.items,
        attempts_reviewed=done.reviewed,
        attempts_checked=agreement.attempts,
        agreement=[_level(level) for level in (agreement.whole, *agreement.levels)],
        alpha_people=_alpha(agreement.people),
        alpha_with_judge=_alpha(agreement.everybody),
        correlations=[
            RatingCorrelation(
                measure=correlation.measure,
                rating=correlation.rating,
                r=_coefficient(correlation.r, correlation.interval, correlation.n),
            )
            for correlation in agreement.correlations
        ],
    )


def _level(level: Level) -> LevelAgreement:
    """Agreement on one level."""
    counts = level.counts
    return LevelAgreement(
        level=level.name,
        both_yes=counts.both,
        only_judge_yes=counts.only_judge,
        only_person_yes=counts.only_people,
        both_no=counts.neither,
        agreed=counts.agreed,
        kappa=_coefficient(counts.kappa, level.interval, counts.n),
    )


def _alpha(alpha: Alpha) -> Coefficient:
    """Krippendorff's alpha."""
    return _coefficient(alpha.value, alpha.interval, alpha.n)


def _coefficient(value: float | None, interval: Interval | None, n: int) -> Coefficient:
    """A coefficient with its interval."""
    return Coefficient(value=value, interval=interval, n=n)


def review_task_view(task: ReviewTask) -> ReviewTaskView:
    """An item without the hidden fields."""
    return ReviewTaskView.model_validate(
        {
            "item": task.item,
            "kind": task.kind,
            "instruction": task.instruction,
            "criteria": [criterion.model_dump() for criterion in task.criteria],
            "steps": [
                {
                    "index": step.index,
                    "actions": step.actions,
                    "picture": f"{API}/artifacts/{step.picture.sha256}" if step.picture else None,
                    "final": step.final,
                }
                for step in task.steps
            ],
        }
    )


def agreement_rows(judge: JudgeView) -> Iterator[dict[str, Any]]:
    """Judge versus people by level, as flat rows."""
    for level in judge.agreement:
        low, high = level.kappa.interval or (None, None)
        yield {
            "level": level.level,
            "pairs": level.kappa.n,
            **level.model_dump(include={"both_yes", "only_judge_yes", "only_person_yes", "both_no", "agreed"}),
            "kappa": level.kappa.value,
            "low": low,
            "high": high,
        }


def answer_rows(session: Session, judge: JudgeView) -> Iterator[dict[str, Any]]:
    """People's and the judge's answers, as flat rows."""
    if judge.graph:
        for row in review_repository.rated_items(session, judge.id):
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
    for row in review_repository.compared_verdicts(session, judge.id):
        yield {
            "attempt": str(row.attempt_id),
            "task": row.task,
            "level": row.level,
            "criterion": row.criterion,
            "person": row.person,
            "person_says": row.reached,
            "judge_says": row.judge,
        }
