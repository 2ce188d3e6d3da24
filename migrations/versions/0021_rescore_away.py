"""Since when what a request to score again needs cannot be had."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0021"
down_revision: str | None = "0018"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("rescore", sa.Column("away_since", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    """The older release counts from when it was asked for."""
    op.drop_column("rescore", "away_since")
