"""What published suites bring: test lists as selections, people's labels, and parts of reported results."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

DIFFICULTY = "difficulty IS NULL OR difficulty IN ('easy', 'medium', 'hard')"
SOURCE = (
    "difficulty_source IS NULL OR difficulty_source IN "
    "('author', 'human_time', 'human_rating', 'paper_domain', 'empirical')"
)


def upgrade() -> None:
    op.create_table(
        "task_selection",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("task_set_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("tasks", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(
            ["task_set_id"], ["task_set.id"], name=op.f("fk_task_selection_task_set_id"), ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task_selection")),
        sa.UniqueConstraint("task_set_id", "name", name=op.f("uq_task_selection_task_set_id_name")),
    )
    op.create_table(
        "task_label",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("benchmark_id", sa.Uuid(), nullable=False),
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("difficulty", sa.Text(), nullable=True),
        sa.Column("difficulty_source", sa.Text(), nullable=True),
        sa.Column("human_seconds", sa.Double(), nullable=True),
        sa.Column("human_steps", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(DIFFICULTY, name=op.f("ck_task_label_difficulty")),
        sa.CheckConstraint(SOURCE, name=op.f("ck_task_label_difficulty_source")),
        sa.ForeignKeyConstraint(
            ["benchmark_id"], ["benchmark.id"], name=op.f("fk_task_label_benchmark_id"), ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task_label")),
        sa.UniqueConstraint("benchmark_id", "domain", "name", name=op.f("uq_task_label_benchmark_id_domain_name")),
    )
    op.add_column("task", sa.Column("human_seconds", sa.Double(), nullable=True))
    op.add_column("task", sa.Column("human_steps", sa.BigInteger(), nullable=True))
    for name in ("unit", "group_kind", "group_name"):
        op.add_column("reported_result", sa.Column(name, sa.Text(), server_default="", nullable=False))


def downgrade() -> None:
    for name in ("group_name", "group_kind", "unit"):
        op.drop_column("reported_result", name)
    op.drop_column("task", "human_steps")
    op.drop_column("task", "human_seconds")
    op.drop_table("task_label")
    op.drop_table("task_selection")
