"""A migration's effects on the release that still runs meanwhile, read from its own SQL."""

import io
import re
from functools import cache

from alembic import command
from alembic.script import Script, ScriptDirectory

from backend.db.migrate import config

HARMFUL = {
    "drops a table": r"DROP TABLE",
    "drops a column": r"DROP COLUMN",
    "renames": r"\bRENAME\b",
    "changes a column's type": r"ALTER COLUMN \S+ (?:SET DATA )?TYPE",
    "forbids what was allowed": r"SET NOT NULL",
    "lets NULL appear where none was": r"DROP NOT NULL",
    "takes a default away": r"DROP DEFAULT",
    "adds a column that older releases do not fill": r"ADD COLUMN (?:(?!DEFAULT|,).)*NOT NULL(?!(?:(?!,).)*DEFAULT)",
    "adds a constraint on what older releases write": r"ADD CONSTRAINT \S+ (?!FOREIGN KEY)",
    "makes something unique": r"CREATE UNIQUE INDEX",
    "drops a uniqueness that ON CONFLICT may name": r"DROP (?:CONSTRAINT|INDEX) uq_",
}


@cache
def scripts() -> list[Script]:
    """All migrations, oldest first."""
    return list(ScriptDirectory.from_config(config("postgresql://nowhere/none")).walk_revisions())[::-1]


@cache
def sql(revision: str, before: str) -> str:
    """The SQL of one migration."""
    written, settings = io.StringIO(), config("postgresql://offline/offline")
    settings.output_buffer = written
    command.upgrade(settings, f"{before}:{revision}" if before else revision, sql=True)
    return written.getvalue()


def harms(statements: str) -> list[str]:
    """Columns and tables that these statements remove from, or require of, a release that does not know them.

    Changes to tables that they create themselves are harmless.
    """
    made = set(re.findall(r"CREATE TABLE (\S+)", statements))
    found = []
    for statement in re.split(r";\s*\n", statements):
        table = re.search(r"(?:ALTER TABLE|INDEX \S+ ON) (\S+)", statement)
        if table and table[1] in made:
            continue
        flat = " ".join(statement.split())
        found += [what for what, pattern in HARMFUL.items() if re.search(pattern, flat)]
    return found
