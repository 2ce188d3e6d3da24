"""People, their sessions, and the audit log."""

from typing import Annotated

from fastapi import Path, Request

from backend.services.accounts import audit, sign_in, users
from backend.services.accounts.read_models import AuditView, UserSessionView, UserView
from backend.web.accounts.login_page import link_address
from backend.web.accounts.schemas import OneTimeLink, PersonBody, PersonChanges
from backend.web.api_common import Cursor, Id, Limit, Page, api_router, next_page_url
from backend.web.dependencies import SessionDep

router = api_router("accounts")
PersonName = Annotated[str, Path(min_length=1, max_length=100, examples=["ada@example.org"])]


@router.get("/people")
def list_people(session: SessionDep) -> Page[UserView]:
    """List the people who have accounts, with their roles. Needs an administrator."""
    return Page[UserView](items=users.list_people(session))


@router.post("/people", status_code=201)
def add_person(request: Request, session: SessionDep, body: PersonBody) -> OneTimeLink:
    """Create an account. The answer has a one-time link, shown once, with which its person chooses a password."""
    token = users.add_person(session, body.name, role=body.role, admin=body.admin)
    return OneTimeLink(address=link_address(request, token))


@router.patch("/people/{name}")
def change_person(session: SessionDep, name: PersonName, body: PersonChanges) -> UserView:
    """Change a person's role, whether they administer the installation, and whether they may sign in."""
    return users.change_person(session, name, role=body.role, admin=body.admin, enabled=body.enabled)


@router.post("/people/{name}/link", status_code=201)
def renew_link(request: Request, session: SessionDep, name: PersonName) -> OneTimeLink:
    """Create a new one-time link for somebody who has lost theirs, or their password."""
    return OneTimeLink(address=link_address(request, users.renew_link(session, name)))


@router.get("/account/sessions")
def list_sessions(session: SessionDep) -> Page[UserSessionView]:
    """List the browsers in which you are signed in."""
    return Page[UserSessionView](items=sign_in.list_sessions(session))


@router.delete("/account/sessions/{session_id}", status_code=204)
def end_session(session: SessionDep, session_id: Id) -> None:
    """Sign out one of your browsers."""
    sign_in.end_session(session, session_id)


@router.get("/audit-log")
def audit_log(request: Request, session: SessionDep, cursor: Cursor = None, limit: Limit = 50) -> Page[AuditView]:
    """Audit log: actor, address and change of each entry; newest first. Needs an administrator."""
    page = audit.page(session, cursor, limit)
    return Page[AuditView](items=page.items, next=next_page_url(request, page.next))
