"""Quarantines: who lifted them and why; results of quarantined tasks in roll-ups."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "2.0004"
down_revision: str | None = "2.0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("quarantine", sa.Column("lifted_by_id", sa.Uuid(), nullable=True))
    op.add_column("quarantine", sa.Column("lift_reason", sa.Text(), server_default="", nullable=False))
    op.create_foreign_key(
        "fk_quarantine_lifted_by_id", "quarantine", "actor", ["lifted_by_id"], ["id"], ondelete="RESTRICT"
    )
    op.add_column("rollup", sa.Column("quarantined", sa.BigInteger(), server_default=sa.text("0"), nullable=False))
    op.execute(
        "UPDATE run SET rollup_stale = true WHERE id IN (SELECT e.run_id FROM episode e"
        " JOIN quarantine q ON q.task_id = e.task_id AND q.lifted_at IS NULL)"
    )


def downgrade() -> None:
    op.drop_column("rollup", "quarantined")
    op.execute("UPDATE run SET rollup_stale = true")
    op.drop_column("quarantine", "lift_reason")
    op.drop_column("quarantine", "lifted_by_id")
