"""Licences: how many seats there are, and how many are in use."""

from dataclasses import asdict

from backend.services.capacity import licences as service
from backend.web.api_common import Page, api_router
from backend.web.capacity.licences_schemas import LicenceBody, LicenceView
from backend.web.dependencies import ActorDep, SessionDep

router = api_router("licences")


@router.get("/licences")
def licences(session: SessionDep) -> Page[LicenceView]:
    """List licences that are set up or that a task needs, by name."""
    return Page[LicenceView](items=[LicenceView(**asdict(row)) for row in service.list_licences(session)])


@router.post("/licences")
def set_seats(session: SessionDep, actor: ActorDep, body: LicenceBody) -> LicenceView:
    """Set the number of seats of a licence; running attempts keep theirs."""
    return LicenceView(**asdict(service.set_seats(session, body.name, body.seats, actor)))
