"""`/account`, `/people`, `/audit-log`: one's own password and sessions; who may do what; who did what."""

import json
from typing import Annotated
from urllib.parse import quote

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, Response

from backend.db.models.enums import Role
from backend.domain.errors import Conflict, Invalid, NotAllowed
from backend.services.accounts import access_tokens, audit, passwords, sign_in, trust_rules, users
from backend.services.accounts.access_tokens import TokenKind
from backend.services.accounts.principal import principal_of
from backend.services.accounts.projects import create_project, default_project, own_projects
from backend.web.accounts.login_page import MONTH, AccountsOff, Password, browser_of, link_address, set_cookie
from backend.web.dependencies import EdgeDep, SessionDep
from backend.web.page_common import Cursor, Id, Text, next_page, page_router, redirect
from backend.web.security_middleware import PROJECT_COOKIE
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()
PAGE = 100
MOST_ROWS = 10_000
PersonName = Annotated[str, Form(max_length=200)]
Line = Annotated[str, Form(max_length=500)]


@router.get("/account")
def account(request: Request, session: SessionDep, edge: EdgeDep) -> HTMLResponse:
    """The person's own sessions and password."""
    _require_accounts(edge.settings.accounts)
    return _account(request, session)


@router.post("/account/password")
def change_password(
    request: Request, session: SessionDep, current: Password, password: Password, repeated: Password
) -> Response:
    """Changes the password; every other browser is signed out."""
    try:
        passwords.require_same(password, repeated)
        cookie = sign_in.change_password(session, current, password, user_agent=browser_of(request))
    except Invalid as error:
        return _account(request, session, problem=error.text_at_field)
    if cookie is None:
        return _account(request, session, problem="Wrong password, or too many attempts: wait a moment.")
    answer = redirect("/account")
    set_cookie(request, answer, cookie)
    return answer


@router.post("/account/project")
def choose_project(session: SessionDep, project: PersonName) -> Response:
    """Shows another of the person's projects in this browser."""
    return _in_project(project if project in own_projects(session) else "", "/")


@router.post("/account/sessions/{session_id}/end")
def end_session(session: SessionDep, session_id: Id) -> Response:
    """Signs another browser out."""
    sign_in.end_session(session, session_id)
    return redirect("/account")


@router.post("/account/tokens")
def create_token(  # noqa: PLR0913 - the form's fields
    request: Request,
    session: SessionDep,
    name: PersonName,
    *,
    role: Annotated[Role, Form()],
    kind: Annotated[TokenKind, Form()] = TokenKind.PERSONAL,
    days: Annotated[int, Form()] = 90,
) -> HTMLResponse:
    """Creates a token; the answer shows it, once."""
    try:
        token, _ = access_tokens.create(session, name, kind=kind, role=role, days=days)
    except (Invalid, NotAllowed) as error:
        return _account(request, session, token_problem=error.text)
    page = _account(request, session, token=token)
    page.headers["Cache-Control"] = "no-store"
    return page


@router.post("/account/tokens/{token_id}/revoke")
def revoke_token(session: SessionDep, token_id: Id) -> Response:
    """Revokes a token."""
    access_tokens.revoke(session, token_id)
    return redirect("/account#tokens")


@router.post("/account/trust-rules")
def create_trust_rule(  # noqa: PLR0913 - the form's fields
    request: Request,
    session: SessionDep,
    edge: EdgeDep,
    name: PersonName,
    *,
    issuer: Line,
    audience: Line,
    claims: Annotated[str, Form(max_length=5000)],
    role: Annotated[Role, Form()] = Role.RUNNER,
    minutes: Annotated[int, Form()] = 60,
) -> Response:
    """Lets jobs of a CI system get tokens of the project."""
    pairs = [line.partition("=") for line in claims.splitlines() if line.strip()]
    patterns = {claim.strip(): pattern.strip() for claim, _, pattern in pairs}
    plain = edge.settings.web_private_hosts
    try:
        trust_rules.create(
            session,
            name,
            issuer=issuer.strip(),
            audience=audience,
            claims=patterns,
            role=role,
            minutes=minutes,
            plain=plain,
        )
    except (Invalid, Conflict) as error:
        return _account(request, session, trust_problem=error.text)
    return redirect("/account#trust-rules")


@router.post("/account/trust-rules/{rule_id}/revoke")
def revoke_trust_rule(session: SessionDep, rule_id: Id) -> Response:
    """Revokes a rule with its tokens."""
    trust_rules.revoke(session, rule_id)
    return redirect("/account#trust-rules")


@router.get("/people")
def people(request: Request, session: SessionDep, edge: EdgeDep) -> HTMLResponse:
    """Accounts and roles."""
    _require_accounts(edge.settings.accounts)
    return _people(request, session)


@router.post("/people")
def add_person(
    request: Request, session: SessionDep, name: PersonName, role: Annotated[Role, Form()] = Role.VIEWER
) -> HTMLResponse:
    """Creates an account; the answer shows its one-time link, once."""
    try:
        token = users.add_person(session, name, role=role)
    except (Invalid, Conflict) as error:
        return _people(request, session, problem=error.text, status=error.status)
    return _people(request, session, link=(name.strip().lower(), link_address(request, token)))


@router.post("/people/projects")
def add_project(request: Request, session: SessionDep, name: PersonName) -> Response:
    """Creates a project and shows its people."""
    try:
        project = create_project(session, name.strip())
    except (Invalid, Conflict) as error:
        return _people(request, session, problem=error.text, status=error.status)
    return _in_project(project.name, "/people")


@router.post("/people/{name}")
def change_person(  # noqa: PLR0913 - the form's fields
    request: Request,
    session: SessionDep,
    name: str,
    *,
    role: Annotated[Role | users.NoRole | None, Form()] = None,
    admin: Annotated[bool | None, Form()] = None,
    enabled: Annotated[bool | None, Form()] = None,
) -> Response:
    """Changes a role, the right to administer, or whether the person may sign in."""
    try:
        users.change_person(session, name, role=role, admin=admin, enabled=enabled)
    except Conflict as error:
        return _people(request, session, problem=error.text, status=error.status)
    return redirect("/people")


@router.post("/people/{name}/link")
def renew_link(request: Request, session: SessionDep, name: str) -> HTMLResponse:
    """A new one-time link, shown once."""
    return _people(request, session, link=(name, link_address(request, users.renew_link(session, name))))


@router.get("/audit-log")
def audit_log(
    request: Request, session: SessionDep, sort: Text = "", q: Text = "", before: Cursor = None
) -> HTMLResponse:
    """Audit log from `before` on in the order of `sort`; `time` for the oldest first."""
    entries = audit.list_entries(session, PAGE + 1, before, words=q, oldest_first=sort == "time")
    more = entries[PAGE - 1].id if len(entries) > PAGE else None
    values = {"entries": entries[:PAGE], "q": q, "by": {"time"}, "next": next_page(None, before=more)}
    return render(request, "audit_log.html", {**values, "begun": before is not None})


@router.get("/audit-log.csv")
def audit_table(session: SessionDep, write: TableDep, q: Text = "", before: Cursor = None) -> Response:
    """The newest entries as a table, at most 10,000; `before` (an id) continues."""
    rows = [
        [entry.created_at, entry.who, entry.action, entry.target, entry.address, json.dumps(entry.changes), entry.id]
        for entry in audit.list_entries(session, MOST_ROWS, before, words=q)
    ]
    return write("audit-log", ["time", "who", "action", "target", "address", "changes", "id"], rows)


def _account(  # noqa: PLR0913 - what the forms of the page say
    request: Request,
    session: SessionDep,
    problem: str = "",
    *,
    token: str = "",
    token_problem: str = "",
    trust_problem: str = "",
) -> HTMLResponse:
    administers = principal_of(session).role is Role.ADMIN
    page = {
        "trust_rules": trust_rules.list_rules(session) if administers else None,
        "trust_problem": trust_problem,
        "address": f"{request.url.scheme}://{request.url.netloc}",
        "sessions": sign_in.list_sessions(session),
        "problem": problem,
        "least": passwords.LEAST,
        "tokens": access_tokens.list_tokens(session),
        "token": token,
        "token_problem": token_problem,
        "roles": list(Role),
        "projects": own_projects(session),
        "longest_days": access_tokens.LONGEST_DAYS,
    }
    return render(request, "account.html", page, status=422 if problem or token_problem or trust_problem else 200)


def _people(
    request: Request, session: SessionDep, *, link: tuple[str, str] | None = None, problem: str = "", status: int = 200
) -> HTMLResponse:
    page = {
        "people": users.list_people(session),
        "roles": list(Role),
        "link": link,
        "problem": problem,
        "project": default_project(session).name,
        "projects": own_projects(session),
    }
    return render(request, "users.html", page, status=status)


def _in_project(name: str, address: str) -> Response:
    answer = redirect(address)
    answer.set_cookie(PROJECT_COOKIE, quote(name), max_age=MONTH, httponly=True, samesite="strict")
    return answer


def _require_accounts(accounts: bool) -> None:  # noqa: FBT001 - the setting
    if not accounts:
        raise AccountsOff(
            "this service has no accounts", hint="Set DESKARENA_ACCOUNTS=true; docs/accounts.md has more."
        )
