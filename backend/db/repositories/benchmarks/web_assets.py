"""Files of the web that tasks need."""

from collections.abc import Collection, Mapping
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from backend.db.models import Artifact, WebAsset

AssetRow = tuple[WebAsset, Artifact | None]


def by_urls(session: Session, project_id: UUID, urls: Collection[str]) -> Mapping[str, AssetRow]:
    """Stored information per address, with the row of its bytes if any."""
    query = (
        select(WebAsset, Artifact)
        .outerjoin(Artifact, Artifact.sha256 == WebAsset.sha256)
        .where(WebAsset.project_id == project_id, WebAsset.url.in_(urls))
    )
    return {row.url: (row, artifact) for row, artifact in session.execute(query)}


def hashes(session: Session, project_id: UUID, urls: Collection[str]) -> dict[str, str]:
    """Hash of the bytes, by address."""
    if not urls:
        return {}
    query = select(WebAsset.url, WebAsset.sha256).where(
        WebAsset.project_id == project_id, WebAsset.url.in_(urls), WebAsset.sha256.is_not(None)
    )
    return {row.url: row.sha256 for row in session.execute(query)}


def put(session: Session, project_id: UUID, url: str, *, sha256: str, source: str) -> None:
    """Stores the bytes of an address, replacing earlier ones."""
    values = {"project_id": project_id, "url": url, "sha256": sha256, "source": source, "problem": ""}
    query = insert(WebAsset).values(values)
    new = {"sha256": sha256, "source": source, "problem": "", "checked_at": func.now()}
    session.execute(query.on_conflict_do_update(index_elements=["project_id", "url"], set_=new))


def put_problem(session: Session, project_id: UUID, url: str, problem: str) -> None:
    """Stores why a download failed; existing bytes stay."""
    values = {"project_id": project_id, "url": url, "sha256": None, "source": "", "problem": problem}
    query = insert(WebAsset).values(values)
    new = {"problem": problem, "checked_at": func.now()}
    session.execute(query.on_conflict_do_update(index_elements=["project_id", "url"], set_=new))
