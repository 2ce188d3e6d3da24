"""Submissions that people compare: the next pair, preferences, ratings."""

from random import SystemRandom
from typing import Annotated

from fastapi import Path, Query, Response

from backend.addresses import API
from backend.db.models.enums import Preference
from backend.services.accounts.projects import LONGEST_NAME, person_or_local
from backend.services.submissions import pairwise_preferences as service
from backend.services.submissions import submissions
from backend.services.submissions.pairwise_preferences import SubmissionBoard
from backend.web.api_common import Id, Name, api_router
from backend.web.dependencies import EdgeDep, ProjectDep, SessionDep
from backend.web.file_responses import guest_file
from backend.web.submissions import schemas

router = api_router("comparisons")
Person = Annotated[str, Query(max_length=LONGEST_NAME, description="Who compares; empty: `local`.")]


@router.get("/benchmarks/{name}/pairs/next")
def next_pair(session: SessionDep, project: ProjectDep, name: Name, person: Person = "") -> schemas.PairView | None:
    """The next pair of submissions for a person to compare, on random sides; null when none is left."""
    pair = service.next_pair(session, name, person_or_local(session, project, person), SystemRandom())
    if pair is None:
        return None
    left, right = (
        schemas.SubmissionView(
            id=row.id, files=[f"{API}/submissions/{row.id}/files/{at}" for at in range(len(row.files))]
        )
        for row in (pair.left, pair.right)
    )
    return schemas.PairView(
        task=pair.task.key,
        instruction=pair.task.instruction,
        left=left,
        right=right,
        compared=pair.judged,
        remaining=pair.remaining,
    )


@router.post("/preferences", status_code=201)
def choose(session: SessionDep, project: ProjectDep, body: schemas.PreferenceBody) -> schemas.PreferenceView:
    """Store which of two submissions a person prefers; each person compares a pair once."""
    actor = person_or_local(session, project, body.person)
    service.choose(session, body.left, body.right, Preference(body.preferred), actor)
    return schemas.PreferenceView(left=body.left, right=body.right, preferred=body.preferred, person=actor.name)


@router.get("/submissions/{submission_id}/files/{number}", response_class=Response)
def file(
    session: SessionDep, edge: EdgeDep, submission_id: Id, number: Annotated[int, Path(ge=0, le=1000)]
) -> Response:
    """One file of a submission."""
    return guest_file(submissions.read_file(session, edge.store, submission_id, number), f"submission-{number + 1}")


@router.get("/benchmarks/{name}/submissions")
def ratings(session: SessionDep, name: Name) -> SubmissionBoard:
    """Ratings of all agents whose submissions were compared."""
    return service.board(session, name)
