"""Roll-ups of large runs are computed outside the run's lock, and not after every change."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0020"
down_revision: str | None = "0019"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

BEGAN = "ix_run_rollup_began"


def upgrade() -> None:
    op.add_column("run", sa.Column("rollup_began_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("run", sa.Column("rollup_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("run", sa.Column("rollup_seconds", sa.Double(), nullable=True))
    op.create_index(BEGAN, "run", ["id"], postgresql_where=sa.text("rollup_began_at IS NOT NULL"))


def downgrade() -> None:
    """What was under way is computed again by the older release."""
    op.execute("UPDATE run SET rollup_stale = true WHERE rollup_began_at IS NOT NULL")
    op.drop_index(BEGAN, "run")
    for column in ("rollup_seconds", "rollup_at", "rollup_began_at"):
        op.drop_column("run", column)
