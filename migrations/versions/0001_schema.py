"""The whole schema of release 0.2: one SQL file per room, in the order in which tables refer to each other."""

import re
from collections.abc import Sequence
from pathlib import Path

from alembic import op

revision: str = "2.0001"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

FOLDER = Path(__file__).with_suffix("")
ROOMS = (
    "accounts",
    "artifacts",
    "benchmarks",
    "agents",
    "studies",
    "capacity",
    "runs",
    "attempts",
    "events",
    "results",
    "judging",
    "people",
    "submissions",
    "authoring",
)


def upgrade() -> None:
    for statement in _statements():
        op.execute(statement)


def downgrade() -> None:
    for kind, name in re.findall(r"^CREATE (TABLE|SEQUENCE) (\w+)", "\n".join(_statements()), re.MULTILINE)[::-1]:
        op.execute(f"DROP {kind} {name}")


def _statements() -> list[str]:
    files = [(FOLDER / f"{room}.sql").read_text() for room in ROOMS]
    return [statement for text in files for statement in text.split(";\n") if statement.strip()]
