"""Licences: number of seats, and seats in use."""

from pydantic import Field

from backend.services.capacity import licences as service
from backend.services.capacity.licences import LONGEST_NAME, MOST_SEATS, LicenceView
from backend.web.api_common import Page, RequestModel, api_router
from backend.web.dependencies import ActorDep, SessionDep

router = api_router("licences")


class LicenceBody(RequestModel):
    """New number of seats of a licence."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME, examples=["Photoshop"])
    seats: int = Field(ge=0, le=MOST_SEATS, examples=[1])


@router.get("/licences")
def licences(session: SessionDep) -> Page[LicenceView]:
    """List licences that are set up or that a task needs, by name."""
    return Page[LicenceView](items=service.list_licences(session))


@router.post("/licences")
def set_seats(session: SessionDep, actor: ActorDep, body: LicenceBody) -> LicenceView:
    """Set the number of seats of a licence; running attempts keep theirs."""
    return service.set_seats(session, body.name, body.seats, actor)
