"""Failure labels: samples of a run's failures with labels, and reviews."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from backend.domain.judging.failure_labels import LABELS, LabelShare
from backend.services.accounts.projects import LONGEST_NAME
from backend.services.results import failure_labels as service
from backend.services.results.failure_labels import Failure
from backend.web.api_common import Id, RequestModel, api_router
from backend.web.dependencies import ProjectDep, SessionDep
from backend.web.results import failures_schemas as schemas

router = api_router("failures")


class FailureLabels(RequestModel):
    """A person's labels for a failed episode."""

    person: str = Field(min_length=1, max_length=LONGEST_NAME, description="A name; people are told apart by it.")
    labels: list[str] = Field(max_length=50, description="Keys; empty = none applies.", examples=[["grounding"]])
    note: str = Field(default="", max_length=2000)


@router.get("/runs/{run_id}/failures")
def sample(
    session: SessionDep,
    run_id: Id,
    sample: Annotated[int, Query(ge=1, le=service.MOST, description="Failures to draw.")] = service.SAMPLE,
    seed: Annotated[int, Query(ge=0, le=2**31)] = 0,
) -> schemas.FailureSample:
    """Draw a seeded sample of a run's failures, with suggestions by rules, labels by people, and shares."""
    draw = service.sample(session, run_id, number=sample, seed=seed)
    return schemas.FailureSample(
        run=run_id,
        seed=seed,
        failed=draw.failed,
        judged=len(draw.judged),
        episodes=[failure(row) for row in draw.rows],
        by_people=[_share(one) for one in draw.by_people],
        by_rules=[_share(one) for one in draw.by_rules],
        agreement=[
            schemas.LabelAgreement(label=one.label, alpha=one.alpha, episodes=one.episodes) for one in draw.agreement
        ],
        labels={one.key: schemas.LabelView(**one.model_dump(exclude={"key"})) for one in LABELS},
    )


@router.put("/episodes/{episode_id}/failures")
def judge(session: SessionDep, project: ProjectDep, episode_id: Id, body: FailureLabels) -> schemas.FailureView:
    """Store a person's labels for a failed episode, replacing their previous ones."""
    row = service.review(session, project, episode_id, person=body.person, labels=body.labels, note=body.note)
    return failure(row)


def failure(row: Failure) -> schemas.FailureView:
    return schemas.FailureView(
        episode=row.episode.id,
        task=row.task.key,
        score=row.episode.score or 0.0,
        ended_by=row.episode.ended_by,
        suggested=[schemas.SuggestionView(**one._asdict()) for one in row.suggestions],
        labels=sorted(row.labels),
        reviews=[
            schemas.ReviewView(
                person=one.person,
                labels=list(one.labels),
                accepted=list(one.accepted),
                rejected=list(one.rejected),
                note=one.note,
            )
            for one in row.reviews
        ],
        url=f"/episodes/{row.episode.id}#why",
    )


def _share(one: LabelShare) -> schemas.ShareView:
    return schemas.ShareView(
        label=one.label,
        count=one.count,
        n=one.n,
        share=one.share,
        interval=tuple(one.interval) if one.interval else None,
    )
