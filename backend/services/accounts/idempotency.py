"""Requests with an `Idempotency-Key`: done once, however often they are repeated and whatever dies meanwhile.

A key belongs to one person or program in one project. It is claimed before the work, in a transaction of its own, so
that repetitions wait for the answer and hold no connection. The answer is stored in the transaction of the work: either
both are there or neither is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.accounts import idempotent_requests as repository
from backend.domain.errors import Conflict, Invalid
from backend.services.accounts.principal import Principal, principal_of
from backend.services.accounts.projects import default_project

KEEP = timedelta(days=7)
"""How long a key is known."""
LEASE = timedelta(seconds=20)
"""Age of the last renewal at which a claim counts as lost with its process."""
RENEW_SECONDS = 5.0


@dataclass(frozen=True)
class StoredAnswer:
    """The answer that repetitions get."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class KeyClaim:
    """The right to do a request's work; `id` changes when another process takes it over."""

    id: UUID


def claim_key(session: Session, key: str, fingerprint: str) -> KeyClaim | StoredAnswer | None:
    """Claims a key for a request.

    Args:
        session: a transaction that is committed before the work begins.
        key: as received.
        fingerprint: SHA-256 (hex) of everything that is asked.

    Returns:
        The claim, the stored answer, or None while another request with this key is worked on.

    Raises:
        Invalid: the key was used for another request.
    """
    project_id, caller = default_project(session).id, _caller(principal_of(session))
    for _ in range(3):
        stored = repository.find(session, project_id, caller, key, LEASE)
        if stored is not None and stored.fingerprint != fingerprint:
            raise Invalid(
                f"the idempotency key {key!r} was used for another request",
                code="idempotency_key_reused",
                path="Idempotency-Key",
                hint="Use a new key for a new request.",
            )
        if stored is not None:
            return None if stored.status is None else StoredAnswer(stored.status, stored.headers, stored.body or b"")
        values = {"project_id": project_id, "caller": caller, "key": key, "fingerprint": fingerprint}
        claim_id = repository.claim(session, values, keep=KEEP, lease=LEASE)
        if claim_id is not None:
            repository.clean(session)
            return KeyClaim(claim_id)
    return None


def renew_claim(session: Session, claim: KeyClaim) -> None:
    """Renews a claim while its work runs."""
    repository.renew(session, claim.id)


def store_answer(session: Session, claim: KeyClaim, answer: StoredAnswer) -> None:
    """Stores the answer of a request, in the transaction of its work.

    Raises:
        Conflict: the claim was taken over: the work must not be committed.
    """
    if not repository.store(session, claim.id, answer.status, answer.headers, answer.body):
        raise Conflict(
            "another process is handling the request with this idempotency key",
            code="idempotency_key_in_use",
            hint="Repeat it with the same key to get the answer of the first request.",
        )


def release_claim(session: Session, claim: KeyClaim) -> None:
    """Frees the key of a request that was refused, so that it can be repeated."""
    repository.release(session, claim.id)


def _caller(principal: Principal) -> str:
    return f"user {principal.user_id}" if principal.user_id else principal.name
