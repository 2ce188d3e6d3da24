"""Migrates a database to a schema version; used by `make migrate`, `deskarena up`, containers and tests.

`python -m backend.db.migrate` applies all migrations. With `expand` it stops before the first contract (see
`compatibility`), so that the older release can keep serving. Concurrent calls are safe: the second one waits and finds
nothing to do.
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy.orm import Session

from backend.config import get_settings
from backend.db.compatibility import history, refuse_old, schema_version
from backend.db.session import make_engine, session_factory, unit_of_work
from backend.domain.errors import DeskarenaError

ROOT = Path(__file__).resolve().parents[2]


def config(url: str) -> Config:
    """Alembic's configuration for this checkout and that database."""
    settings = Config(ROOT / "alembic.ini")
    settings.attributes["url"] = url
    return settings


def upgrade(url: str, revision: str = "head") -> None:
    """Migrates up. Safe to call twice and from several processes at once: the second waits for the first.

    Raises:
        OldSchema: the database is older than 0.2.
        Unavailable: the database does not answer.
    """
    check_age(url)
    command.upgrade(config(url), revision)


def check_age(url: str) -> None:
    """Raises OldSchema for a database older than 0.2, Unavailable for one that does not answer."""
    with _session(url) as session:
        refuse_old(session.connection())


def downgrade(url: str, revision: str) -> None:
    """Migrates down to `revision`, or to nothing with `base`."""
    command.downgrade(config(url), revision)


def expand(url: str) -> str:
    """Migrates up as far as the running release allows; on an empty database completely.

    Returns:
        The first migration that must wait for the old release's end; empty: none.
    """
    check_age(url)
    revisions, current = history(), version(url)
    reached = revisions.expandable_to(current) if current else revisions.revisions[-1]
    if current in revisions.revisions or not current:
        upgrade(url, reached)
    later = revisions.revisions[revisions.revisions.index(reached) + 1 :] if reached in revisions.revisions else []
    return later[0] if later else ""


def version(url: str) -> str:
    """The schema's version; empty: none yet. Raises Unavailable."""
    with _session(url) as session:
        return schema_version(session.connection())


@contextmanager
def _session(url: str) -> Iterator[Session]:
    engine = make_engine(url, pool_size=1)
    try:
        with unit_of_work(session_factory(engine)) as session:
            yield session
    finally:
        engine.dispose()


def main(arguments: list[str] | None = None) -> int:
    """Migrates the database of DATABASE_URL. Exit code 1 and one sentence on failure."""
    parser = argparse.ArgumentParser(prog="backend.db.migrate", description="Bring the database to the newest schema.")
    parser.add_argument("how_far", nargs="?", choices=("all", "expand"), default="all")
    options = parser.parse_args(arguments)
    url = get_settings().database_url.get_secret_value()
    try:
        left = ""
        if options.how_far == "expand":
            left = expand(url)
        else:
            upgrade(url)
        reached = version(url)
    except DeskarenaError as error:
        sys.stderr.write(f"the schema cannot be migrated: {error.text}\n")
        return 1
    return _report(reached, left)


def _report(reached: str, left: str) -> int:
    revisions = history()
    say = sys.stdout.write
    say(f"the schema is at {reached}\n")
    if left:
        say(f"{left} waits: it takes away what releases before migration {revisions.contracts[left]} use.\n")
        say("When none of them runs any more: python -m backend.db.migrate all\n")
    if reached in revisions.revisions and revisions.revisions.index(reached) < revisions.revisions.index(
        revisions.needed
    ):
        sys.stderr.write(f"this release needs {revisions.needed}: the last step of an earlier upgrade was left out\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
