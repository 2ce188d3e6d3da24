"""Nodes of clusters: why they are in their state, when they were seen, what their slots are counted from."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0019"
down_revision: str | None = "0017"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None
expand = (
    "what older releases write is as unique and as allowed as before: the new constraints are wider, and their "
    "ON CONFLICT names no columns"
)


def upgrade() -> None:
    for name in ("cluster", "reason"):
        op.add_column("node", sa.Column(name, sa.Text(), server_default=sa.text("''"), nullable=False))
    op.add_column(
        "node",
        sa.Column("capacity", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
    )
    op.add_column(
        "node", sa.Column("seen_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False)
    )
    op.drop_constraint(op.f("uq_node_name"), "node")
    op.create_unique_constraint(op.f("uq_node_cluster_name"), "node", ["cluster", "name"])
    op.create_index(
        "ix_attempt_lost", "attempt", ["ended_at"], unique=False, postgresql_where=sa.text("state = 'lost'")
    )
    _states("'ready', 'draining', 'unready', 'lost', 'gone'")


def downgrade() -> None:
    """The nodes of clusters stay, as machines that nobody works on: attempts were made there."""
    op.execute("UPDATE node SET state = 'draining' WHERE cluster <> '' OR state NOT IN ('ready', 'draining')")
    op.execute("UPDATE node SET name = cluster || '/' || name WHERE cluster <> ''")
    op.drop_index("ix_attempt_lost", "attempt")
    _states("'ready', 'draining'")
    op.drop_constraint(op.f("uq_node_cluster_name"), "node")
    op.create_unique_constraint(op.f("uq_node_name"), "node", ["name"])
    for name in ("seen_at", "capacity", "reason", "cluster"):
        op.drop_column("node", name)


def _states(states: str) -> None:
    op.drop_constraint(op.f("ck_node_state"), "node")
    op.create_check_constraint(op.f("ck_node_state"), "node", f"state IN ({states})")
