"""Schema versions that this release works with: its own, and newer ones that removed nothing that it uses.

Migrations expand: they add what the next release needs and keep what the running one uses. A migration that removes
something declares it (`contract = "0023"`: releases whose history ends before 0023 must not run any more), and runs
when the old release is gone. The newest contract is stored as a comment on the version table, where a release that does
not know the migration can read it. Why: docs/internals/decisions/0014.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from alembic.config import Config
from alembic.script import Script, ScriptDirectory
from sqlalchemy import text
from sqlalchemy.orm import Session

ROOT = Path(__file__).resolve().parents[2]
FLOOR = "oldest release that may run has migration "


@dataclass(frozen=True)
class MigrationHistory:
    """The migrations that this release knows.

    Attributes:
        revisions: all of them, oldest first.
        contracts: of those that take something away: the migration that a release must know to live with it.
    """

    revisions: Sequence[str]
    contracts: Mapping[str, str]

    @property
    def needed(self) -> str:
        """The oldest schema that this release works on: its newest, before the takings away at its end."""
        revisions = [*self.revisions]
        while len(revisions) > 1 and revisions[-1] in self.contracts:
            revisions.pop()
        return revisions[-1]

    def expandable_to(self, current: str) -> str:
        """The newest schema with which the release that made `current` still works: up to the next contract."""
        reached = current
        for revision in self.revisions[self._next(current) :]:
            if revision in self.contracts:
                break
            reached = revision
        return reached

    def floor(self, current: str) -> str:
        """The migration that a release must know to run on a schema at `current`; empty: none in particular."""
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
    """A migration's contract; empty: it only adds."""
    return str(getattr(script.module, "contract", ""))


def why_not(known: MigrationHistory, revision: str, note: str) -> str:
    """Why this release cannot work on a schema; empty if it can.

    Args:
        known: what this release knows.
        revision: the schema's version; empty: none.
        note: the comment beside it.
    """
    if not revision:
        return "the database has no schema yet: run the migrations"
    if revision in known.revisions:
        if known.revisions.index(revision) < known.revisions.index(known.needed):
            return f"the schema is at {revision}, this release needs {known.needed}: run the migrations"
        return ""
    floor = note.removeprefix(FLOOR) if note.startswith(FLOOR) else ""
    if floor and floor not in known.revisions:
        return f"the schema is at {revision} and serves no release older than migration {floor}: this one is too old"
    return ""


def schema_problem(session: Session) -> str:
    """Why this release cannot work on the database's schema; empty if it can."""
    table = session.scalar(text("SELECT to_regclass('alembic_version')::text"))
    if table is None:
        return why_not(history(), "", "")
    revision = session.scalar(text("SELECT version_num FROM alembic_version"))
    note = session.scalar(text("SELECT obj_description('alembic_version'::regclass)"))
    return why_not(history(), revision or "", note or "")
