"""Notifications of a project, subscriptions to them, and deliveries."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision: str = "2.0028"
down_revision: str | None = "2.0027"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TYPES = "'run.ended', 'run.regression', 'run.losses', 'worker.gone', 'test'"


def upgrade() -> None:
    op.create_table(
        "subscription",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("events", JSONB(), nullable=False),
        sa.Column("loss_bound", sa.Double(), nullable=False),
        sa.Column("alpha", sa.Double(), nullable=False),
        sa.Column("baseline_run_id", sa.Uuid(), nullable=True),
        sa.Column("secret", sa.Text(), nullable=True),
        sa.Column("previous_secret", sa.Text(), nullable=True),
        sa.Column("previous_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.Column("succeeded_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("disabled_reason", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_subscription"),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_subscription_project_id", ondelete="RESTRICT"),
        sa.CheckConstraint("kind IN ('webhook', 'email')", name=op.f("ck_subscription_kind")),
        sa.CheckConstraint("loss_bound >= 0 AND loss_bound <= 1", name=op.f("ck_subscription_loss_bound")),
        sa.CheckConstraint("alpha > 0 AND alpha < 1", name=op.f("ck_subscription_alpha")),
        sa.CheckConstraint("(kind = 'webhook') = (secret IS NOT NULL)", name=op.f("ck_subscription_secret")),
    )
    op.create_index("ix_subscription_project_id", "subscription", ["project_id"])
    op.create_table(
        "notification",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.Uuid(), nullable=False),
        sa.Column("data", JSONB(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.Column("prepared_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_notification"),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_notification_project_id", ondelete="RESTRICT"),
        sa.CheckConstraint(f"type IN ({TYPES})", name=op.f("ck_notification_type")),
    )
    op.create_index("ix_notification_waiting", "notification", ["id"], postgresql_where=sa.text("prepared_at IS NULL"))
    op.create_index("ix_notification_project_id", "notification", ["project_id"])
    op.create_table(
        "delivery",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("subscription_id", sa.Uuid(), nullable=False),
        sa.Column("notification_id", sa.Uuid(), nullable=False),
        sa.Column("occasion", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("payload", JSONB(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("tries", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.Column("scheduled_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.Column("attempts", JSONB(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_delivery"),
        sa.UniqueConstraint("subscription_id", "occasion", name="uq_delivery_subscription_id_occasion"),
        sa.ForeignKeyConstraint(
            ["subscription_id"], ["subscription.id"], name="fk_delivery_subscription_id", ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(
            ["notification_id"], ["notification.id"], name="fk_delivery_notification_id", ondelete="RESTRICT"
        ),
        sa.CheckConstraint("state IN ('waiting', 'delivered', 'failed')", name=op.f("ck_delivery_state")),
    )
    op.create_index("ix_delivery_due", "delivery", ["next_at"], postgresql_where=sa.text("state = 'waiting'"))
    op.create_index("ix_delivery_notification_id", "delivery", ["notification_id"])


def downgrade() -> None:
    op.drop_table("delivery")
    op.drop_table("notification")
    op.drop_table("subscription")
