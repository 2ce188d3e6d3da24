"""Budgets of runs, projects and months: what they may spend, and what they have spent."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "2.0029"
down_revision: str | None = "2.0028"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "project_budget",
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("period", sa.Text(), nullable=False),
        sa.Column("usd", sa.Double(), nullable=True),
        sa.Column("tokens", sa.BigInteger(), nullable=True),
        sa.Column("desktop_hours", sa.Double(), nullable=True),
        sa.Column("spent_usd", sa.Double(), server_default=sa.text("0"), nullable=False),
        sa.Column("spent_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("spent_desktop_hours", sa.Double(), server_default=sa.text("0"), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("counted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reached", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "period", name="pk_project_budget"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name="fk_project_budget_project_id", ondelete="RESTRICT"
        ),
        sa.CheckConstraint("period IN ('month', 'total')", name=op.f("ck_project_budget_period")),
        sa.CheckConstraint("usd >= 0 AND tokens >= 0 AND desktop_hours >= 0", name=op.f("ck_project_budget_limits")),
    )
    op.add_column("run", sa.Column("run_usd", sa.Double(), nullable=True))
    op.add_column("run", sa.Column("run_tokens", sa.BigInteger(), nullable=True))
    op.add_column("run", sa.Column("run_desktop_hours", sa.Double(), nullable=True))
    op.add_column("run", sa.Column("budget_reached", sa.Text(), server_default=sa.text("''"), nullable=False))


def downgrade() -> None:
    for name in ("budget_reached", "run_desktop_hours", "run_tokens", "run_usd"):
        op.drop_column("run", name)
    op.drop_table("project_budget")
