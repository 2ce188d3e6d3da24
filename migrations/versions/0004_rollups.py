"""Roll-ups. They are computed from the episodes, so going down and up again loses nothing."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "rollup",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("dimension", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("tasks", sa.BigInteger(), nullable=False),
        sa.Column("scored_tasks", sa.BigInteger(), nullable=False),
        sa.Column("episodes", sa.BigInteger(), nullable=False),
        sa.Column("scored", sa.BigInteger(), nullable=False),
        sa.Column("solved", sa.BigInteger(), nullable=False),
        sa.Column("score_sum", sa.Double(), nullable=False),
        sa.Column("score_sq_sum", sa.Double(), nullable=False),
        sa.Column("lost", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("cancelled", sa.BigInteger(), nullable=False),
        sa.Column("not_runnable", sa.BigInteger(), nullable=False),
        sa.Column("waiting", sa.BigInteger(), nullable=False),
        sa.Column("running", sa.BigInteger(), nullable=False),
        sa.Column("steps_sum", sa.BigInteger(), nullable=False),
        sa.Column("success_method", sa.Text(), nullable=False),
        sa.Column("success_low", sa.Double(), nullable=True),
        sa.Column("success_high", sa.Double(), nullable=True),
        sa.Column("mean_low", sa.Double(), nullable=True),
        sa.Column("mean_high", sa.Double(), nullable=True),
        sa.Column("computed_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "dimension IN ('all', 'domain', 'difficulty', 'domain_difficulty', 'level', 'app')",
            name=op.f("ck_rollup_dimension"),
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_rollup_run_id"), ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("run_id", "dimension", "key", name=op.f("pk_rollup")),
    )
    op.execute("UPDATE run SET rollup_stale = true")


def downgrade() -> None:
    op.drop_table("rollup")
