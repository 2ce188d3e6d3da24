"""Contexts of traces on runs and attempts."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "2.0032"
down_revision: str | None = "2.0031"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("run", sa.Column("trace_parent", sa.Text(), nullable=True))
    op.add_column("run", sa.Column("trace_per_episode", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    op.add_column("attempt", sa.Column("trace_parent", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("attempt", "trace_parent")
    op.drop_column("run", "trace_per_episode")
    op.drop_column("run", "trace_parent")
