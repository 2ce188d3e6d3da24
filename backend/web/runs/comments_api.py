"""Comments on episodes."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from backend.services.accounts.projects import LONGEST_NAME
from backend.services.runs import episode_comments as service
from backend.services.runs.episode_comments import LONGEST, Comment
from backend.web.api_common import Id, Page, RequestModel, api_router
from backend.web.dependencies import ProjectDep, SessionDep

router = api_router("episodes")


class NewComment(RequestModel):
    """A comment on an episode."""

    person: str = Field(min_length=1, max_length=LONGEST_NAME, description="A name that identifies the person.")
    text: str = Field(
        min_length=1, max_length=LONGEST, description="`#step-12` mentions a step.", examples=["stuck from #step-3 on"]
    )


@router.get("/episodes/{episode_id}/comments")
def comments(session: SessionDep, episode_id: Id) -> Page[Comment]:
    """List the comments on an episode, oldest first."""
    return Page[Comment](items=service.comments(session, episode_id))


@router.post("/episodes/{episode_id}/comments", status_code=201)
def comment(session: SessionDep, project: ProjectDep, episode_id: Id, body: NewComment) -> Comment:
    """Comment on an episode."""
    return service.add(session, project, episode_id, person=body.person, text=body.text)


@router.delete("/episodes/{episode_id}/comments/{comment_id}", status_code=204)
def delete(
    session: SessionDep,
    project: ProjectDep,
    episode_id: Id,
    comment_id: Id,
    person: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME, description="Who wrote it.")],
) -> None:
    """Delete a comment of one's own."""
    service.delete(session, project, episode_id, comment_id, person=person)
