"""Tokens of people and projects."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "2.0021"
down_revision: str | None = "2.0020"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "access_token",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("beginning", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_access_token"),
        sa.UniqueConstraint("token_hash", name="uq_access_token_token_hash"),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name="fk_access_token_user_id", ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_access_token_project_id", ondelete="RESTRICT"),
        sa.CheckConstraint(
            "role IN ('viewer', 'runner', 'reviewer', 'maintainer', 'admin')", name=op.f("ck_access_token_role")
        ),
    )
    op.create_index("ix_access_token_user_id", "access_token", ["user_id"])
    op.create_index("ix_access_token_project_id", "access_token", ["project_id"])


def downgrade() -> None:
    op.drop_table("access_token")
