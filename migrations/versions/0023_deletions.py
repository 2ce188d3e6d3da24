"""Rows that are being deleted."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "2.0023"
down_revision: str | None = "2.0022"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None
MARKED = ("run", "study", "agent_configuration", "task_draft", "benchmark")


def upgrade() -> None:
    for table in MARKED:
        op.add_column(table, sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "deletion",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("target_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("requested_by", sa.Text(), nullable=False),
        sa.Column("removed", sa.dialects.postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_deletion"),
        sa.UniqueConstraint("kind", "target_id", name="uq_deletion_kind_target_id"),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_deletion_project_id", ondelete="RESTRICT"),
        sa.CheckConstraint(
            "kind IN ('run', 'study', 'configuration', 'draft', 'task_set', 'benchmark')",
            name=op.f("ck_deletion_kind"),
        ),
    )
    op.create_index("ix_deletion_project_id", "deletion", ["project_id", "id"])
    op.create_index("ix_deletion_unfinished", "deletion", ["id"], postgresql_where=sa.text("finished_at IS NULL"))


def downgrade() -> None:
    op.drop_table("deletion")
    for table in reversed(MARKED):
        op.drop_column(table, "deleted_at")
