"""Requests with an idempotency key, and their answers."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "2.0025"
down_revision: str | None = "2.0024"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "idempotent_request",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("caller", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("claim", sa.Uuid(), nullable=False),
        sa.Column("renewed_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.Column("status", sa.BigInteger(), nullable=True),
        sa.Column("headers", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_idempotent_request"),
        sa.UniqueConstraint("project_id", "caller", "key", name="uq_idempotent_request_project_id_caller_key"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name="fk_idempotent_request_project_id", ondelete="RESTRICT"
        ),
    )
    op.create_index("ix_idempotent_request_expires_at", "idempotent_request", ["expires_at"])


def downgrade() -> None:
    op.drop_table("idempotent_request")
