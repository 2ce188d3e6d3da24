"""Schema versions that this release works with: its own, and newer ones that removed nothing that it uses.

Migrations are additive: they add what the next release needs and keep what the running one uses. A migration that
removes something declares it (`contract = "0023"`: releases whose history ends before 0023 must not run any more), and
runs when the old release is gone. The newest contract is stored as a comment on the version table, where a release that
does not know the migration can read it. Why: docs/internals/decisions/0014.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from alembic.config import Config
from alembic.script import Script, ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.orm import Session

from backend.db.session import make_engine, session_factory, unit_of_work
from backend.domain.errors import Conflict, Unavailable

ROOT = Path(__file__).resolve().parents[2]
FLOOR = "oldest release that may run has migration "
OLD_REVISION = re.compile(r"00\d\d")


class OldSchema(Conflict):
    """The data was written by a release before 0.2, which this one can neither use nor upgrade."""

    code = "old_schema"

    def __init__(self, subject: str) -> None:
        super().__init__(
            f"{subject} has the schema of a release before 0.2, which cannot be upgraded. Export what you need with "
            "that release, then set DESKARENA_DATA_DIR to a new folder (or DATABASE_URL to a new database)."
        )


def is_old(revision: str) -> bool:
    """Whether a schema version is one of the history that ended with 0.2."""
    return OLD_REVISION.fullmatch(revision) is not None


@dataclass(frozen=True)
class MigrationHistory:
    """The migrations that this release knows.

    Attributes:
        revisions: all of them, oldest first.
        contracts: for each removing migration, the migration that a release must know to run after it.
    """

    revisions: Sequence[str]
    contracts: Mapping[str, str]

    @property
    def needed(self) -> str:
        """The oldest schema that this release works on: its newest one without the trailing contracts."""
        revisions = [*self.revisions]
        while len(revisions) > 1 and revisions[-1] in self.contracts:
            revisions.pop()
        return revisions[-1]

    def expandable_to(self, current: str) -> str:
        """The newest schema with which the release of `current` still works: up to the next contract."""
        reached = current
        for revision in self.revisions[self._next(current) :]:
            if revision in self.contracts:
                break
            reached = revision
        return reached

    def floor(self, current: str) -> str:
        """The migration that a release must know to run on a schema at `current`; empty: any."""
        past = self.revisions[: self._next(current)]
        contracts = [self.contracts[revision] for revision in past if revision in self.contracts]
        return max(contracts, key=self.revisions.index) if contracts else ""

    def _next(self, current: str) -> int:
        return self.revisions.index(current) + 1 if current in self.revisions else 0


@cache
def history(folder: Path = ROOT / "migrations") -> MigrationHistory:
    """The migrations of a folder, by default this release's."""
    settings = Config()
    settings.set_main_option("script_location", str(folder))
    scripts = list(ScriptDirectory.from_config(settings).walk_revisions())[::-1]
    contracts = {script.revision: contract_of(script) for script in scripts}
    return MigrationHistory(list(contracts), {name: contract for name, contract in contracts.items() if contract})


def contract_of(script: Script) -> str:
    """A migration's contract; empty for an additive one."""
    return str(getattr(script.module, "contract", ""))


def why_not(revisions: MigrationHistory, revision: str, note: str) -> str:
    """Why this release cannot work on a schema; empty if it can.

    Args:
        revisions: the migrations of this release.
        revision: the schema's version; empty: none.
        note: the comment on the version table.
    """
    if not revision:
        return "the database has no schema yet: run the migrations"
    if is_old(revision):
        return OldSchema("The database").message
    if revision in revisions.revisions:
        if revisions.revisions.index(revision) < revisions.revisions.index(revisions.needed):
            return f"the schema is at {revision}, this release needs {revisions.needed}: run the migrations"
        return ""
    floor = note.removeprefix(FLOOR) if note.startswith(FLOOR) else ""
    if floor and floor not in revisions.revisions:
        return f"the schema is at {revision} and serves no release older than migration {floor}: this one is too old"
    return ""


def schema_problem(session: Session) -> str:
    """Why this release cannot work on the database's schema; empty if it can."""
    revision = schema_version(session.connection())
    note = session.scalar(text("SELECT obj_description('alembic_version'::regclass)")) if revision else ""
    return why_not(history(), revision, note or "")


def schema_version(connection: Connection) -> str:
    """The version of the database's schema; empty: it has none yet."""
    if connection.scalar(text("SELECT to_regclass('alembic_version')::text")) is None:
        return ""
    return connection.scalar(text("SELECT version_num FROM alembic_version")) or ""


def refuse_old(connection: Connection) -> None:
    """Raises OldSchema on a database older than 0.2."""
    if is_old(schema_version(connection)):
        raise OldSchema("The database")


def old_schema(url: str) -> str:
    """Why no process of this release may start on the database: it is older than 0.2. Else empty.

    A database that does not answer is not an obstacle: API and workers start before it and retry.
    """
    if not url:
        return ""
    engine = make_engine(url, pool_size=1)
    try:
        with unit_of_work(session_factory(engine)) as session:
            refuse_old(session.connection())
    except OldSchema as error:
        return error.message
    except Unavailable:
        return ""
    finally:
        engine.dispose()
    return ""
