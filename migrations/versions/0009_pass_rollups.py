"""Roll-ups of all passes of a configuration under equal conditions. All cubes are computed again, which fills them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision: str = "2.0009"
down_revision: str | None = "2.0008"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "pass_rollup",
        sa.Column("task_set_id", sa.Uuid(), nullable=False),
        sa.Column("agent_configuration_id", sa.Uuid(), nullable=False),
        sa.Column("conditions_key", sa.Text(), nullable=False),
        sa.Column("as_of", sa.DateTime(timezone=True), nullable=False),
        sa.Column("passes", sa.BigInteger(), nullable=False),
        sa.Column("attempted_tasks", sa.BigInteger(), nullable=False),
        sa.Column("tasks_key", sa.Text(), nullable=False),
        sa.Column("lost_share", sa.Double(), nullable=False),
        *(sa.Column(name, JSONB(), nullable=False) for name in ("rates", "pass_rates", "runs", "summary")),
        *(sa.Column(name, JSONB(), nullable=False) for name in ("measures", "cells", "means")),
        sa.Column("ended_desktops", sa.BigInteger(), nullable=False),
        sa.Column("flagged", sa.BigInteger(), nullable=False),
        sa.Column("agent_seconds", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["task_set_id"], ["task_set.id"], name="fk_pass_rollup_task_set_id", ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(
            ["agent_configuration_id"],
            ["agent_configuration.id"],
            name="fk_pass_rollup_agent_configuration_id",
            ondelete="RESTRICT",
        ),
        sa.PrimaryKeyConstraint("task_set_id", "agent_configuration_id", "conditions_key", name="pk_pass_rollup"),
    )
    op.execute("UPDATE run SET rollup_stale = true")


def downgrade() -> None:
    op.drop_table("pass_rollup")
