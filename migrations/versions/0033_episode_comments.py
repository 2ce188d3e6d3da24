"""Comments by people on episodes."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "2.0033"
down_revision: str | None = "2.0032"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "episode_comment",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("episode_id", sa.Uuid(), nullable=False),
        sa.Column("actor_id", sa.Uuid(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_episode_comment"),
        sa.ForeignKeyConstraint(
            ["episode_id"], ["episode.id"], name="fk_episode_comment_episode_id", ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(["actor_id"], ["actor.id"], name="fk_episode_comment_actor_id", ondelete="RESTRICT"),
    )
    op.create_index("ix_episode_comment_episode_id", "episode_comment", ["episode_id"])


def downgrade() -> None:
    op.drop_table("episode_comment")
