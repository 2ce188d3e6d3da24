"""Trust rules: jobs of CI systems that projects trust."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from backend.db.models import AccessToken, Project, TrustRule


def listing(session: Session, project_id: UUID) -> Sequence[TrustRule]:
    """A project's rules that are not revoked, by name."""
    query = select(TrustRule).where(TrustRule.project_id == project_id, TrustRule.revoked_at.is_(None))
    return session.scalars(query.order_by(TrustRule.name, TrustRule.id)).all()


def of_issuer(session: Session, project: str, issuer: str) -> Sequence[TrustRule]:
    """The rules of a project about an issuer, the oldest first."""
    query = select(TrustRule).join(Project, Project.id == TrustRule.project_id)
    query = query.where(Project.name == project, TrustRule.issuer == issuer, TrustRule.revoked_at.is_(None))
    return session.scalars(query.order_by(TrustRule.id)).all()


def lock(session: Session, rule_id: UUID) -> TrustRule | None:
    """A rule that is not revoked, locked."""
    query = select(TrustRule).where(TrustRule.id == rule_id, TrustRule.revoked_at.is_(None))
    return session.scalar(query.with_for_update())


def end_tokens(session: Session, rule_id: UUID) -> int:
    """Revokes all tokens of a rule. Returns how many were in force."""
    where = (AccessToken.trust_rule_id == rule_id, AccessToken.revoked_at.is_(None))
    query = update(AccessToken).where(*where, AccessToken.expires_at > func.now()).values(revoked_at=func.now())
    return int(getattr(session.execute(query), "rowcount", 0))


def is_used(session: Session, rule_id: UUID, id_token_hash: str) -> bool:
    """Whether an id token was exchanged by this rule. The rule must be locked."""
    query = select(AccessToken.id).where(
        AccessToken.trust_rule_id == rule_id, AccessToken.id_token_hash == id_token_hash
    )
    return session.scalar(query.limit(1)) is not None


def remove_old_tokens(session: Session, rule_id: UUID, age: timedelta) -> None:
    """Removes tokens of a rule that ended long ago: there is one per job."""
    where = (AccessToken.trust_rule_id == rule_id, AccessToken.expires_at < func.now() - age)
    session.execute(delete(AccessToken).where(*where))
