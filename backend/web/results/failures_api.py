"""Failure labels: samples of a run's failures with labels, and reviews."""

from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import Field

from backend.services.accounts.projects import LONGEST_NAME
from backend.services.results import failure_labels as service
from backend.services.results.failure_labels import Failure, FailureSample
from backend.services.results.views.failure_breakdown import FailureBreakdown, failure_breakdown
from backend.web.api_common import Id, RequestModel, api_router
from backend.web.dependencies import ProjectDep, SessionDep

router = api_router("failures")


class FailureLabels(RequestModel):
    """A person's labels for a failed episode."""

    person: str = Field(
        min_length=1, max_length=LONGEST_NAME, description="Name that distinguishes the person from others."
    )
    labels: list[str] = Field(max_length=50, description="Keys; empty = none applies.", examples=[["grounding"]])
    note: str = Field(default="", max_length=2000)


@router.get("/failures")
def breakdown(
    session: SessionDep,
    run: Annotated[list[UUID], Query(max_length=50, description="1 to 8 runs of one benchmark.")],
    label: Annotated[str | None, Query(max_length=100, description="Label of the tasks to cut by.")] = None,
    sample: Annotated[int, Query(ge=1, le=service.MOST, description="Failures to draw of each run.")] = service.SAMPLE,
    seed: Annotated[int, Query(ge=0, le=2**31)] = 0,
) -> FailureBreakdown:
    """Why and how runs fail, by configuration: labels, endings, tasks that fail always, never or sometimes."""
    return failure_breakdown(session, run, label, number=sample, seed=seed)


@router.get("/runs/{run_id}/failure-sample")
def sample(
    session: SessionDep,
    run_id: Id,
    sample: Annotated[int, Query(ge=1, le=service.MOST, description="Failures to draw.")] = service.SAMPLE,
    seed: Annotated[int, Query(ge=0, le=2**31)] = 0,
) -> FailureSample:
    """Draw a seeded sample of a run's failures, with suggestions by rules, labels by people, and shares."""
    return service.sample(session, run_id, number=sample, seed=seed)


@router.put("/episodes/{episode_id}/failure-labels")
def judge(session: SessionDep, project: ProjectDep, episode_id: Id, body: FailureLabels) -> Failure:
    """Store a person's labels for a failed episode, replacing their previous ones."""
    return service.review(session, project, episode_id, person=body.person, labels=body.labels, note=body.note)
