"""Nodes, slots, workers, leases."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.execute(sa.schema.CreateSequence(sa.Sequence("fencing_token")))
    op.create_table(
        "node",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("labels", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("state IN ('ready', 'draining')", name=op.f("ck_node_state")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_node")),
        sa.UniqueConstraint("name", name=op.f("uq_node_name")),
    )
    op.create_table(
        "slot",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("node_id", sa.Uuid(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("index", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.CheckConstraint("state IN ('free', 'broken', 'draining')", name=op.f("ck_slot_state")),
        sa.ForeignKeyConstraint(["node_id"], ["node.id"], name=op.f("fk_slot_node_id"), ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_slot")),
        sa.UniqueConstraint("node_id", "provider", "index", name=op.f("uq_slot_node_id_provider_index")),
    )
    op.create_table(
        "worker",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("node_id", sa.Uuid(), nullable=False),
        sa.Column("pid", sa.BigInteger(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("capabilities", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("state IN ('online', 'offline', 'draining')", name=op.f("ck_worker_state")),
        sa.ForeignKeyConstraint(["node_id"], ["node.id"], name=op.f("fk_worker_node_id"), ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_worker")),
    )
    op.create_table(
        "lease",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("slot_id", sa.Uuid(), nullable=False),
        sa.Column("worker_id", sa.Uuid(), nullable=False),
        sa.Column("fencing_token", sa.BigInteger(), server_default=sa.text("nextval('fencing_token')"), nullable=False),
        sa.Column("acquired_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("released_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("release_reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["slot_id"], ["slot.id"], name=op.f("fk_lease_slot_id"), ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_lease_worker_id"), ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lease")),
        sa.UniqueConstraint("fencing_token", name=op.f("uq_lease_fencing_token")),
    )
    op.create_index(op.f("ix_worker_host"), "worker", ["host"], unique=False)
    op.create_index(
        "ix_lease_worker_live", "lease", ["worker_id"], unique=False, postgresql_where=sa.text("released_at IS NULL")
    )
    op.create_index("uq_lease_live", "lease", ["slot_id"], unique=True, postgresql_where=sa.text("released_at IS NULL"))


def downgrade() -> None:
    op.drop_table("lease")
    op.drop_table("worker")
    op.drop_table("slot")
    op.drop_table("node")
    op.execute(sa.schema.DropSequence(sa.Sequence("fencing_token")))
