"""Attempts and episodes: a stable code beside the class and text of the failure by which one was lost."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "2.0003"
down_revision: str | None = "2.0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLES = ("attempt", "episode")


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("failure_code", sa.Text()))


def downgrade() -> None:
    for table in TABLES:
        op.drop_column(table, "failure_code")
