"""Tokens of programs, and of jobs of CI systems."""

from fastapi import Request, Response

from backend.services.accounts import access_tokens as service
from backend.services.accounts import stream_tickets, trust_rules
from backend.services.accounts.read_models import AccessTokenView, JobToken, TrustRuleView
from backend.web.accounts.authentication import credential_of
from backend.web.accounts.login_page import AccountsOff
from backend.web.accounts.schemas import (
    IdTokenBody,
    NewStreamTicket,
    NewToken,
    StreamTicketBody,
    TokenBody,
    TrustRuleBody,
)
from backend.web.api_common import Id, Page, api_router
from backend.web.dependencies import EdgeDep, SessionDep

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


@router.post("/stream-tickets", status_code=201)
def create_stream_ticket(
    request: Request, session: SessionDep, body: StreamTicketBody, response: Response
) -> NewStreamTicket:
    """Create a ticket that opens one websocket or event stream once, within 30 seconds.

    For clients that cannot send a header there: append `?ticket=TICKET` to the address. The stream ends with the
    session or token that asked for the ticket.
    """
    ticket, ends = stream_tickets.issue(session, credential_of(request), body.path)
    response.headers["Cache-Control"] = "no-store"
    return NewStreamTicket(ticket=ticket, path=body.path, expires_at=ends)


@router.get("/trust-rules")
def list_trust_rules(session: SessionDep) -> Page[TrustRuleView]:
    """List which jobs of CI systems get tokens of the project. Needs an admin of the project, in a browser."""
    return Page[TrustRuleView](items=trust_rules.list_rules(session))


@router.post("/trust-rules", status_code=201)
def create_trust_rule(session: SessionDep, edge: EdgeDep, body: TrustRuleBody) -> TrustRuleView:
    """Let jobs get tokens of the project without a stored secret. Needs an admin of the project, in a browser."""
    fields = body.model_dump(exclude={"name"})
    return trust_rules.create(session, body.name, **fields, plain=edge.settings.web_private_hosts)


@router.delete("/trust-rules/{rule_id}", status_code=204)
def revoke_trust_rule(session: SessionDep, rule_id: Id) -> None:
    """Revoke a rule; its tokens end at once. Needs an admin of the project, in a browser."""
    trust_rules.revoke(session, rule_id)


@router.post("/id-token-exchange", status_code=201)
def exchange_id_token(request: Request, edge: EdgeDep, body: IdTokenBody, response: Response) -> JobToken:
    """Exchange the id token that a CI system gave a job for a short-lived token of a project that trusts it.

    Needs no other credentials. 403: the token is not valid, or no rule of the project is about it.
    """
    if not edge.settings.accounts:
        raise AccountsOff("this service has no accounts", hint="Set DESKARENA_ACCOUNTS=true.")
    response.headers["Cache-Control"] = "no-store"
    address = request.state.principal.address
    return trust_rules.exchange(edge.factory, edge.issuers, body.id_token, body.project, address)
