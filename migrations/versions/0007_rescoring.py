"""Scoring again: what an evaluation was told to check, by which version of the task, and who waits to be scored."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

STATES = "state IN ('waiting', 'done', 'failed')"


def upgrade() -> None:
    op.add_column(
        "evaluation",
        sa.Column("spec", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
    )
    op.add_column("evaluation", sa.Column("task_id", sa.Uuid(), nullable=True))
    op.create_foreign_key(op.f("fk_evaluation_task_id"), "evaluation", "task", ["task_id"], ["id"], ondelete="RESTRICT")
    op.create_table(
        "rescore",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("episode_id", sa.Uuid(), nullable=False),
        sa.Column("attempt_id", sa.Uuid(), nullable=False),
        sa.Column("task_id", sa.Uuid(), nullable=False),
        sa.Column("before_id", sa.Uuid(), nullable=False),
        sa.Column("after_id", sa.Uuid(), nullable=True),
        sa.Column("actor_id", sa.Uuid(), nullable=True),
        sa.Column("make_current", sa.Boolean(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(STATES, name=op.f("ck_rescore_state")),
        *(
            sa.ForeignKeyConstraint([column], [target], name=op.f(f"fk_rescore_{column}"), ondelete="RESTRICT")
            for column, target in (
                ("episode_id", "episode.id"),
                ("attempt_id", "attempt.id"),
                ("task_id", "task.id"),
                ("before_id", "evaluation.id"),
                ("after_id", "evaluation.id"),
                ("actor_id", "actor.id"),
            )
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rescore")),
    )
    op.create_index(op.f("ix_rescore_episode_id"), "rescore", ["episode_id"])
    op.create_index(
        "uq_rescore_waiting",
        "rescore",
        ["attempt_id", "task_id", "make_current"],
        unique=True,
        postgresql_where=sa.text("state = 'waiting'"),
    )


def downgrade() -> None:
    op.drop_table("rescore")
    op.drop_constraint(op.f("fk_evaluation_task_id"), "evaluation", type_="foreignkey")
    op.drop_column("evaluation", "task_id")
    op.drop_column("evaluation", "spec")
