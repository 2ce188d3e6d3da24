"""Cells of pooled passes count each task once, as their rows do: all cubes are computed again."""

from collections.abc import Sequence

from alembic import op

revision: str = "2.0034"
down_revision: str | None = "2.0033"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.execute("UPDATE run SET rollup_stale = true")


def downgrade() -> None:
    op.execute("UPDATE run SET rollup_stale = true")
