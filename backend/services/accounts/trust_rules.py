"""CI without a stored secret: a job shows the id token of its CI system and gets a short-lived token of a project.

As other services do it: GitHub's and GitLab's jobs get an OpenID Connect id token that says which repository, branch
and workflow they are of. A project's rule says which of them it trusts.
"""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import AccessToken, TrustRule
from backend.db.models.enums import Role
from backend.db.repositories.accounts import trust_rules as repository
from backend.db.repositories.accounts import users
from backend.db.session import SessionFactory, read_only, unit_of_work
from backend.domain.errors import Conflict, Invalid, NotFound
from backend.services.accounts import audit
from backend.services.accounts.access_tokens import LONGEST_NAME, PROJECT_PREFIX, SHOWN
from backend.services.accounts.id_tokens import IdTokenRefused, Issuers, checked_issuer, unverified_claims
from backend.services.accounts.principal import Principal, bind, principal_of
from backend.services.accounts.projects import default_project
from backend.services.accounts.read_models import JobToken, TrustRuleView
from backend.services.accounts.secret_tokens import new_token, token_hash

LONGEST_MINUTES = 720
MOST_RULES, MOST_CLAIMS, MOST_STARS = 100, 20, 5
LONGEST_TEXT = 500
TOKEN_AGE = timedelta(days=1)
_CLAIM = re.compile(r"[A-Za-z0-9_./:-]{1,100}")


def create(  # noqa: PLR0913 - a rule's fields
    session: Session,
    name: str,
    *,
    issuer: str,
    audience: str,
    claims: Mapping[str, str],
    role: Role,
    minutes: int,
    plain: tuple[str, ...] = (),
) -> TrustRuleView:
    """Lets jobs get tokens of the project.

    Args:
        session: the transaction.
        name: the rule's; its tokens act under it.
        issuer: address of the CI system, as in its tokens.
        audience: that the tokens must name: one that nothing else uses, such as this service's address.
        claims: pattern by claim, `*` for any text. `sub` must be among them and begin with what nobody else can have.
        role: what the tokens may do.
        minutes: how long they last.
        plain: hosts of issuers that need no TLS.

    Raises:
        NotAllowed: only admins of the project may, in a browser's session.
        Invalid: a field.
        Conflict: there is such a rule, or there are too many.
    """
    _require_admin(principal_of(session))
    name, audience = name.strip(), audience.strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise Invalid(f"expected a name of 1 to {LONGEST_NAME} characters", code="invalid_name", path="name")
    checked_issuer(issuer, plain=plain)
    if not 0 < len(audience) <= LONGEST_TEXT or not audience.isprintable():
        raise Invalid("expected a name such as this service's address", code="invalid_request", path="audience")
    if not 1 <= minutes <= LONGEST_MINUTES:
        raise Invalid(f"expected 1 to {LONGEST_MINUTES} minutes", code="invalid_request", path="minutes")
    project = default_project(session)
    rules = repository.listing(session, project.id)
    if any(rule.name == name for rule in rules) or len(rules) >= MOST_RULES:
        raise Conflict(
            f"there is already a rule called {name}, or the maximum of {MOST_RULES} is reached",
            code="trust_rule_exists",
        )
    row = TrustRule(
        project_id=project.id,
        name=name,
        issuer=issuer,
        audience=audience,
        claims=_check(claims),
        role=role,
        minutes=minutes,
    )
    session.add(row)
    session.flush()  # The view has its id.
    view = _view(row)
    new = view.model_dump(mode="json", include={"issuer", "audience", "claims", "role", "minutes"})
    audit.record(session, "trust_rule_created", name, {field: [None, value] for field, value in new.items()})
    return view


def _check(claims: Mapping[str, str]) -> dict[str, str]:
    """Patterns that say whom they trust. Raises Invalid."""
    patterns = {claim.strip(): pattern.strip() for claim, pattern in claims.items()}
    if "sub" not in patterns or len(patterns) > MOST_CLAIMS:
        raise Invalid("expected a pattern for the claim sub", code="invalid_request", path="claims")
    for claim, pattern in patterns.items():
        is_text = 0 < len(pattern) <= LONGEST_TEXT and pattern.isprintable() and pattern.count("*") <= MOST_STARS
        if not _CLAIM.fullmatch(claim) or not is_text:
            raise Invalid(
                f"expected a text with at most {MOST_STARS} * for {claim[:50]!r}", code="invalid_request", path="claims"
            )
    if patterns["sub"].startswith("*") or ("*" in patterns["sub"] and not _is_anchored(patterns["sub"])):
        raise Invalid(
            "the pattern of sub would trust everybody's jobs",
            code="invalid_request",
            path="claims",
            hint="Name the repository: repo:OWNER/NAME:ref:refs/heads/main, or repo:OWNER/*.",
        )
    return patterns


def _is_anchored(pattern: str) -> bool:
    """Whether the fixed prefix names an owner (`repo:owner/`), so that no other owner's subjects match."""
    return bool(re.match(r"[^*]*[/:|]$", pattern.partition("*")[0])) and "/" in pattern.partition("*")[0]


def list_rules(session: Session) -> list[TrustRuleView]:
    """The project's rules by name. Raises NotAllowed unless an admin of the project asks."""
    _require_admin(principal_of(session))
    return [_view(row) for row in repository.listing(session, default_project(session).id)]


def revoke(session: Session, rule_id: UUID) -> None:
    """Revokes a rule; its tokens end at once.

    Raises:
        NotFound: the project has no such rule.
        NotAllowed: only admins of the project may, in a browser's session.
    """
    _require_admin(principal_of(session))
    row = repository.lock(session, rule_id)
    if row is None or row.project_id != default_project(session).id:
        raise NotFound("there is no such rule", code="trust_rule_not_found")
    row.revoked_at = users.now(session)
    ended = repository.end_tokens(session, rule_id)
    audit.record(session, "trust_rule_revoked", row.name, {"tokens": [ended, 0]})


def exchange(factory: SessionFactory, issuers: Issuers, id_token: str, project: str, address: str) -> JobToken:
    """A token of a project for a job that the project trusts. No transaction is open while its issuer is asked.

    Args:
        factory: of transactions.
        issuers: knows their keys.
        id_token: the job's.
        project: name of the project.
        address: where the request comes from.

    Raises:
        IdTokenRefused: the token is not valid, was exchanged before, or no rule of the project is about it.
        Unavailable: the issuer does not answer.
    """
    unverified = unverified_claims(id_token)
    issuer = unverified.get("iss")
    with read_only(factory) as session:
        rules = repository.of_issuer(session, project, issuer) if isinstance(issuer, str) else ()
        session.expunge_all()
    audiences = list(dict.fromkeys(rule.audience for rule in rules if _is_for(unverified, rule.audience)))
    if not audiences or not isinstance(issuer, str):  # Nobody makes us ask a server that no rule names.
        raise _no_rule(project, unverified)
    claims = issuers.verify(id_token, issuer=issuer, audience=audiences[0])
    for rule in rules:
        if _is_for(claims, rule.audience) and _matches(rule.claims, claims):
            with unit_of_work(factory) as session:
                return _issue(session, rule.id, claims, address)
    raise _no_rule(project, claims)


def _issue(session: Session, rule_id: UUID, claims: Mapping[str, Any], address: str) -> JobToken:
    rule = repository.lock(session, rule_id)  # It may have been revoked in between.
    if rule is None:
        raise IdTokenRefused("the rule was revoked")
    repository.remove_old_tokens(session, rule.id, TOKEN_AGE)
    id_token_hash = _jti_hash(claims)
    if id_token_hash and repository.is_used(session, rule.id, id_token_hash):
        raise IdTokenRefused(
            "this id token was exchanged before", code="id_token_used", hint="Ask the CI system for another one."
        )
    now = users.now(session)
    token, expires_at = new_token(PROJECT_PREFIX), now + timedelta(minutes=rule.minutes)
    rule.used_at = now
    session.add(
        AccessToken(
            project_id=rule.project_id,
            trust_rule_id=rule.id,
            id_token_hash=id_token_hash,
            name=rule.name,
            beginning=token[:SHOWN],
            token_hash=token_hash(token),
            role=rule.role,
            expires_at=expires_at,
        )
    )
    bind(session, Principal(f"token:{rule.name}", None, program=True, project_id=rule.project_id, address=address))
    subject = {"subject": [None, str(claims["sub"])[:LONGEST_TEXT]], "token": [None, token[:SHOWN]]}
    audit.record(session, "id_token_exchanged", rule.name, subject)
    return JobToken(token=token, role=Role(rule.role), expires_at=expires_at)


def _jti_hash(claims: Mapping[str, Any]) -> str | None:
    """Of the token's own id; None without one: then only its end bounds how often it can be exchanged."""
    jti = claims.get("jti")
    return token_hash(jti) if isinstance(jti, str) and jti else None


def _is_for(claims: Mapping[str, Any], audience: str) -> bool:
    named = claims.get("aud")
    return audience == named or (isinstance(named, list) and audience in named)


def _matches(patterns: Mapping[str, str], claims: Mapping[str, Any]) -> bool:
    return all(_fits(pattern, claims.get(claim)) for claim, pattern in patterns.items())


def _fits(pattern: str, value: Any) -> bool:
    """Whether a claim's value is the pattern's, where `*` stands for any text. Case counts."""
    text = str(value).lower() if isinstance(value, bool) else str(value) if isinstance(value, str | int) else None
    return text is not None and re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def _no_rule(project: str, claims: Mapping[str, Any]) -> IdTokenRefused:
    """The error has the token's own claims, which help to write a rule."""
    claim_text = ", ".join(f"{name} {str(claims.get(name))[:200]!r}" for name in ("iss", "aud", "sub"))
    return IdTokenRefused(
        f"no trust rule of the project {project[:100]!r} matches this token: {claim_text}",
        hint="An admin of the project can add one at /account.",
    )


def _require_admin(principal: Principal) -> None:
    principal.require(Role.ADMIN)
    principal.require_session()


def _view(row: TrustRule) -> TrustRuleView:
    return TrustRuleView.model_validate(row)
