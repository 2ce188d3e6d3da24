"""Licences: how many seats an installation has, and how many a task needs."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0010"
down_revision: str | None = "0009"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

JSON = postgresql.JSONB(astext_type=sa.Text())
NOW = sa.text("now()")


def upgrade() -> None:
    op.create_table(
        "licence",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("seats", sa.BigInteger(), nullable=False),
        sa.Column("actor_id", sa.Uuid(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.CheckConstraint("seats >= 0", name=op.f("ck_licence_seats")),
        sa.ForeignKeyConstraint(["actor_id"], ["actor.id"], name=op.f("fk_licence_actor_id"), ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_licence")),
        sa.UniqueConstraint("name", name=op.f("uq_licence_name")),
    )
    op.add_column("task", sa.Column("licences", JSON, server_default=sa.text("'{}'"), nullable=False))
    op.create_index("ix_task_licensed", "task", ["id"], postgresql_where=sa.text("licences <> '{}'::jsonb"))


def downgrade() -> None:
    op.drop_index("ix_task_licensed", table_name="task")
    op.drop_column("task", "licences")
    op.drop_table("licence")
