"""Maintenance mode: while it is on, no work starts."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "2.0027"
down_revision: str | None = "2.0026"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "maintenance",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("started_by", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_maintenance"),
    )
    # At most one row is open.
    op.create_index(
        "uq_maintenance_open",
        "maintenance",
        [sa.text("(ended_at IS NULL)")],
        unique=True,
        postgresql_where=sa.text("ended_at IS NULL"),
    )


def downgrade() -> None:
    op.drop_table("maintenance")
