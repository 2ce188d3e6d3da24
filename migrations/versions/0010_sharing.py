"""Saved views of boards, and public links to them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision: str = "2.0010"
down_revision: str | None = "2.0009"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "saved_view",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("benchmark_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("query", JSONB(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.ForeignKeyConstraint(
            ["benchmark_id"], ["benchmark.id"], name="fk_saved_view_benchmark_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_saved_view"),
        sa.UniqueConstraint("benchmark_id", "name", name="uq_saved_view_benchmark_id_name"),
    )
    op.create_table(
        "public_link",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("benchmark_id", sa.Uuid(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("query", JSONB(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.ForeignKeyConstraint(
            ["benchmark_id"], ["benchmark.id"], name="fk_public_link_benchmark_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_public_link"),
        sa.UniqueConstraint("token_hash", name="uq_public_link_token_hash"),
    )
    op.create_index("ix_public_link_benchmark_id", "public_link", ["benchmark_id"])


def downgrade() -> None:
    op.drop_table("public_link")
    op.drop_table("saved_view")
