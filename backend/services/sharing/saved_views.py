"""Saved views: named queries of boards, of the project that has the benchmark."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import SavedView
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.sharing import saved_views as repository
from backend.domain.errors import Conflict, Invalid, NotFound
from backend.services.benchmarks.benchmarks import get_benchmark
from backend.services.read_model import ReadModel
from backend.services.results.board_query import checked_query, stored_query

LONGEST_NAME = 80
MOST_VIEWS = 100
"""Views of one benchmark."""


class SavedBoardView(ReadModel):
    """A view of a board under a name."""

    id: UUID
    benchmark: str
    name: str = Field(examples=["50 steps, by cost"])
    query: dict[str, Any] = Field(description="Of the board's address.", examples=[{"sort": "steps"}])
    ignored: list[str] = Field(description="Keys of the stored query that this release does not support.")
    address: str = Field(
        description="Address that opens the view.", examples=["/leaderboards/starter?sort=steps&view=018f..."]
    )


def list_views(session: Session, benchmark: str | None = None) -> list[SavedBoardView]:
    """The views of a benchmark, or all of them, by name. Raises NotFound."""
    benchmark_id = get_benchmark(session, benchmark).id if benchmark is not None else None
    return [_view(row) for row in repository.listing(session, benchmark_id)]


def get_view(session: Session, view_id: UUID, *, lock: bool = False) -> SavedBoardView:
    """The view, locked until the commit if asked for. Raises NotFound."""
    return _view(_row(session, view_id, lock=lock))


def save_view(session: Session, benchmark: str, name: str, query: Mapping[str, Any]) -> SavedBoardView:
    """Saves a query of a board under a name.

    Raises:
        NotFound: there is no such benchmark.
        Invalid: the name is empty, too long or not on one line; or boards cannot have this query.
        Conflict: the benchmark has a view of this name, or as many views as it may have.
    """
    benchmark_row, name, stored = get_benchmark(session, benchmark), _checked_name(name), checked_query(query).stored
    if repository.number(session, benchmark_row.id) >= MOST_VIEWS:
        raise Conflict(
            f"{benchmark} has {MOST_VIEWS} saved views", code="too_many_views", hint="Delete one that is not needed."
        )
    view_id = repository.create(session, benchmark_row.id, name, stored)
    if view_id is None:
        raise _name_used(name)
    return get_view(session, view_id)


def change_view(
    session: Session, view_id: UUID, *, name: str | None = None, query: Mapping[str, Any] | None = None
) -> SavedBoardView:
    """Renames a view, or replaces its query; None leaves either as it is. Raises as `save_view`."""
    view: SavedView = _row(session, view_id).SavedView
    if query is not None:
        view.query = checked_query(query).stored
    if name is not None:
        name = _checked_name(name)
        if repository.has_name(session, view, name):
            raise _name_used(name)
        view.name = name
    session.flush()
    return get_view(session, view_id)


def delete_view(session: Session, view_id: UUID) -> None:
    """Deletes a view, if it exists: safe to repeat."""
    repository.remove(session, view_id)


def _row(session: Session, view_id: UUID, *, lock: bool = False) -> AnyRow:
    row = repository.by_id(session, view_id, lock=lock)
    if row is None:
        raise NotFound("Saved view not found.", code="view_not_found", hint="The board lists its saved views.")
    return row


def _view(row: AnyRow) -> SavedBoardView:
    view: SavedView = row.SavedView
    query, ignored = stored_query(view.query)
    text = "&".join(filter(None, [query.text, f"view={view.id}"]))
    return SavedBoardView(
        id=view.id,
        benchmark=row.benchmark,
        name=view.name,
        query=query.stored,
        ignored=ignored,
        address=f"/leaderboards/{row.benchmark}?{text}",
    )


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise Invalid(
            f"expected a name of 1 to {LONGEST_NAME} characters on one line", code="invalid_name", path="name"
        )
    return name


def _name_used(name: str) -> Conflict:
    return Conflict(f"another view is called {name!r}", code="name_already_used", hint="Choose another name.")
