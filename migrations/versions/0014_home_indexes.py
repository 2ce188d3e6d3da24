"""Indexes for the home page: episodes of the last day, and flagged ones."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "2.0014"
down_revision: str | None = "2.0013"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    with op.get_context().autocommit_block():  # Built while episodes go on.
        op.create_index(
            "ix_episode_ended_at", "episode", ["ended_at"], postgresql_concurrently=True, if_not_exists=True
        )
        op.create_index(
            "ix_episode_flagged",
            "episode",
            ["id"],
            postgresql_where=sa.text("flagged"),
            postgresql_concurrently=True,
            if_not_exists=True,
        )


def downgrade() -> None:
    op.drop_index("ix_episode_flagged", "episode")
    op.drop_index("ix_episode_ended_at", "episode")
