"""Tickets with which a client opens one stream; which id token a job's token was exchanged for."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "2.0030"
down_revision: str | None = "2.0029"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None
expand = "a release that does not know the new column leaves it null, and nulls are all different"


def upgrade() -> None:
    op.create_table(
        "stream_ticket",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("credential", sa.Text(), nullable=False),
        sa.Column("credential_hash", sa.Text(), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_stream_ticket"),
        sa.UniqueConstraint("token_hash", name="uq_stream_ticket_token_hash"),
    )
    op.create_index("ix_stream_ticket_expires_at", "stream_ticket", ["expires_at"])
    op.add_column("access_token", sa.Column("id_token_hash", sa.Text(), nullable=True))
    op.create_unique_constraint(
        "uq_access_token_trust_rule_id_id_token_hash", "access_token", ["trust_rule_id", "id_token_hash"]
    )


def downgrade() -> None:
    op.drop_column("access_token", "id_token_hash")
    op.drop_table("stream_ticket")
