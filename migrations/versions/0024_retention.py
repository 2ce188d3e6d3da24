"""How long data are kept, and how much a project may store."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "2.0024"
down_revision: str | None = "2.0023"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "retention",
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("run_days", sa.BigInteger(), nullable=True),
        sa.Column("draft_days", sa.BigInteger(), nullable=True),
        sa.Column("screen_days", sa.BigInteger(), nullable=True),
        sa.Column("disk_quota_mib", sa.BigInteger(), nullable=True),
        sa.Column("stored_bytes", sa.BigInteger(), nullable=True),
        sa.Column("stored_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("applied_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("thinned_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("project_id", name="pk_retention"),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_retention_project_id", ondelete="RESTRICT"),
        sa.CheckConstraint("run_days >= 1 AND draft_days >= 1 AND screen_days >= 1", name=op.f("ck_retention_days")),
        sa.CheckConstraint("disk_quota_mib >= 0", name=op.f("ck_retention_disk_quota")),
    )


def downgrade() -> None:
    op.drop_table("retention")
