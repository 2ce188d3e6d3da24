"""Copies of the scene of page tests, each in a database of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import func, update
from sqlalchemy.orm import Session

from backend.db.models import Base
from backend.db.types import Timestamp
from tests import databases
from tests.factories.records import world
from tests.factories.scene import PageScene, make_scene

_originals: dict[str, tuple[PageScene, datetime]] = {}
"""By server, with the time when it was made."""


@contextmanager
def copied_scene(server: str) -> Iterator[PageScene]:
    """The scene in a database of its own, as if made just now. Making takes ten seconds: once for each test process.

    Args:
        server: address of a server with the template of `tests.databases`.
    """
    if server not in _originals:
        databases.run_as_owner(server, f"CREATE DATABASE scene TEMPLATE {databases.TEMPLATE}")
        with world(databases.renamed(server, "scene")) as installation:
            _originals[server] = (make_scene(installation), datetime.now(UTC))
    original, since = _originals[server]
    with databases.copied(server, "scene") as url, world(url) as installation:
        with installation.work() as session:
            _delay(session, datetime.now(UTC) - since)
        yield replace(
            original, attempts=[*original.attempts], world=replace(installation, store=deepcopy(original.world.store))
        )


def _delay(session: Session, by: timedelta) -> None:
    """Moves all times."""
    interval = func.make_interval(0, 0, 0, 0, 0, 0, by.total_seconds())
    for table in Base.metadata.sorted_tables:
        if times := [column for column in table.columns if isinstance(column.type, Timestamp)]:
            session.execute(update(table).values({column: column + interval for column in times}))
