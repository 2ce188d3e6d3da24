"""Failure labels: what people say of why an agent failed."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0015"
down_revision: str | None = "0014"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

JSON = postgresql.JSONB(astext_type=sa.Text())
NOW = sa.text("now()")


def upgrade() -> None:
    op.create_table(
        "failure_review",
        sa.Column("id", sa.Uuid(), nullable=False),
        *(sa.Column(f"{target}_id", sa.Uuid(), nullable=False) for target in ("episode", "attempt", "actor")),
        sa.Column("labels", JSON, nullable=False),
        sa.Column("suggested", JSON, nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        *(
            sa.ForeignKeyConstraint(
                [f"{target}_id"], [f"{target}.id"], name=op.f(f"fk_failure_review_{target}_id"), ondelete="RESTRICT"
            )
            for target in ("episode", "attempt", "actor")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_failure_review")),
        sa.UniqueConstraint("episode_id", "actor_id", name=op.f("uq_failure_review_episode_id_actor_id")),
    )
    # Whether a board has anything to compare with people's steps is asked at each look at it.
    op.create_index("ix_task_human_steps", "task", ["task_set_id"], postgresql_where=sa.text("human_steps > 0"))
    op.create_index("ix_failure_review_attempt", "failure_review", ["attempt_id"])


def downgrade() -> None:
    op.drop_index("ix_task_human_steps", "task")
    op.drop_table("failure_review")
