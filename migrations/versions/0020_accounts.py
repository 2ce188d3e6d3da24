"""Accounts: people, their sessions and roles; the audit log."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision: str = "2.0020"
down_revision: str | None = "2.0019"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

EMPTY = sa.text("''")


def upgrade() -> None:
    op.create_table(
        "user_account",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("admin", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("password_hash", sa.Text(), server_default=EMPTY, nullable=False),
        sa.Column("failed_sign_ins", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("locked_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("link_hash", sa.Text(), nullable=True),
        sa.Column("link_expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_user_account"),
        sa.UniqueConstraint("name", name="uq_user_account_name"),
        sa.UniqueConstraint("link_hash", name="uq_user_account_link_hash"),
    )
    op.create_table(
        "user_session",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), server_default=EMPTY, nullable=False),
        sa.Column("user_agent", sa.Text(), server_default=EMPTY, nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_user_session"),
        sa.UniqueConstraint("token_hash", name="uq_user_session_token_hash"),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name="fk_user_session_user_id", ondelete="RESTRICT"),
    )
    op.create_index("ix_user_session_user_id", "user_session", ["user_id"])
    op.create_table(
        "membership",
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "project_id", name="pk_membership"),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name="fk_membership_user_id", ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_membership_project_id", ondelete="RESTRICT"),
        sa.CheckConstraint(
            "role IN ('viewer', 'runner', 'reviewer', 'maintainer', 'admin')", name=op.f("ck_membership_role")
        ),
    )
    op.create_index("ix_membership_project_id", "membership", ["project_id"])
    op.create_table(
        "audit_entry",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=True),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), server_default=EMPTY, nullable=False),
        sa.Column("address", sa.Text(), server_default=EMPTY, nullable=False),
        sa.Column("changes", JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit_entry"),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_audit_entry_project_id", ondelete="RESTRICT"),
    )
    op.create_index("ix_audit_entry_project_id", "audit_entry", ["project_id"])


def downgrade() -> None:
    op.drop_table("audit_entry")
    op.drop_table("membership")
    op.drop_table("user_session")
    op.drop_table("user_account")
