"""Tokens of programs."""

from fastapi import Response

from backend.services.accounts import access_tokens as service
from backend.services.accounts.read_models import AccessTokenView
from backend.web.accounts.schemas import NewToken, TokenBody
from backend.web.api_common import Id, Page, api_router
from backend.web.dependencies import SessionDep

router = api_router("accounts")


@router.get("/tokens")
def list_tokens(session: SessionDep) -> Page[AccessTokenView]:
    """List your tokens and, for admins of the project, those of the project. Needs a session of a browser."""
    return Page[AccessTokenView](items=service.list_tokens(session))


@router.post("/tokens", status_code=201)
def create_token(session: SessionDep, body: TokenBody, response: Response) -> NewToken:
    """Create a token. It is in this answer only. Needs a session of a browser."""
    token, view = service.create(session, body.name, kind=body.kind, role=body.role, days=body.days)
    response.headers["Cache-Control"] = "no-store"
    return NewToken(token=token, **view.model_dump())


@router.delete("/tokens/{token_id}", status_code=204)
def revoke_token(session: SessionDep, token_id: Id) -> None:
    """Revoke a token; it ends at once. Needs a session of a browser."""
    service.revoke(session, token_id)
