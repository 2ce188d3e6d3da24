"""Pairs of labels by which results are cut together. All cubes are computed again, which adds ratios of steps."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "2.0016"
down_revision: str | None = "2.0015"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "label_pair",
        sa.Column("benchmark_id", sa.Uuid(), nullable=False),
        sa.Column("first", sa.Text(), nullable=False),
        sa.Column("second", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.ForeignKeyConstraint(
            ["benchmark_id"], ["benchmark.id"], name="fk_label_pair_benchmark_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("benchmark_id", "first", "second", name="pk_label_pair"),
    )
    op.execute("UPDATE run SET rollup_stale = true")


def downgrade() -> None:
    op.drop_table("label_pair")
    op.execute("DELETE FROM rollup WHERE dimension LIKE '%*%'")
    op.execute("DELETE FROM measure_rollup WHERE dimension LIKE '%*%'")
