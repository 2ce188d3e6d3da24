"""Sets of demonstrations, and offline studies: agents asked at recorded steps."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision: str = "2.0018"
down_revision: str | None = "2.0017"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "demonstration_set",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("actor_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("form", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.UniqueConstraint("project_id", "name", name="uq_demonstration_set_project_id_name"),
        sa.ForeignKeyConstraint(["actor_id"], ["actor.id"], name="fk_demonstration_set_actor_id", ondelete="RESTRICT"),
        sa.CheckConstraint(
            "form IN ('deskarena', 'mind2web', 'android_control', 'omniact', 'run')",
            name=op.f("ck_demonstration_set_form"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name="fk_demonstration_set_project_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_demonstration_set"),
    )
    op.create_table(
        "demonstration",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("set_id", sa.Uuid(), nullable=False),
        sa.Column("attempt_id", sa.Uuid(), nullable=True),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("instruction", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("labels", JSONB(), nullable=False),
        sa.ForeignKeyConstraint(
            ["set_id"], ["demonstration_set.id"], name="fk_demonstration_set_id", ondelete="RESTRICT"
        ),
        sa.UniqueConstraint("set_id", "key", name="uq_demonstration_set_id_key"),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempt.id"], name="fk_demonstration_attempt_id", ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_demonstration"),
    )
    op.create_table(
        "demonstration_step",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("demonstration_id", sa.Uuid(), nullable=False),
        sa.Column("index", sa.BigInteger(), nullable=False),
        sa.Column("frame_sha256", sa.Text(), nullable=False),
        sa.Column("frame_media_type", sa.Text(), nullable=False),
        sa.Column("width", sa.BigInteger(), nullable=False),
        sa.Column("height", sa.BigInteger(), nullable=False),
        sa.Column("tree_sha256", sa.Text(), nullable=True),
        sa.Column("reference", JSONB(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("reply", sa.Text(), nullable=False),
        sa.Column("action_space", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tree_sha256"], ["artifact.sha256"], name="fk_demonstration_step_tree_sha256", ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(
            ["demonstration_id"],
            ["demonstration.id"],
            name="fk_demonstration_step_demonstration_id",
            ondelete="RESTRICT",
        ),
        sa.ForeignKeyConstraint(
            ["frame_sha256"], ["artifact.sha256"], name="fk_demonstration_step_frame_sha256", ondelete="RESTRICT"
        ),
        sa.UniqueConstraint("demonstration_id", "index", name="uq_demonstration_step_demonstration_id_index"),
        sa.PrimaryKeyConstraint("id", name="pk_demonstration_step"),
    )
    op.create_index("ix_demonstration_step_tree", "demonstration_step", ["tree_sha256"])
    op.create_index("ix_demonstration_step_frame", "demonstration_step", ["frame_sha256"])
    op.create_table(
        "offline_study",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("actor_id", sa.Uuid(), nullable=False),
        sa.Column("set_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("config", JSONB(), nullable=False),
        sa.Column("idempotency_key", sa.Text(), nullable=True),
        sa.Column("request_hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name="fk_offline_study_project_id", ondelete="RESTRICT"
        ),
        sa.UniqueConstraint("project_id", "idempotency_key", name="uq_offline_study_project_id_idempotency_key"),
        sa.ForeignKeyConstraint(
            ["set_id"], ["demonstration_set.id"], name="fk_offline_study_set_id", ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(["actor_id"], ["actor.id"], name="fk_offline_study_actor_id", ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name="pk_offline_study"),
    )
    op.create_table(
        "offline_cell",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("study_id", sa.Uuid(), nullable=False),
        sa.Column("agent_configuration_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("levels", JSONB(), nullable=False),
        sa.Column("config", JSONB(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["offline_study.id"], name="fk_offline_cell_study_id", ondelete="RESTRICT"
        ),
        sa.UniqueConstraint("study_id", "number", name="uq_offline_cell_study_id_number"),
        sa.ForeignKeyConstraint(
            ["agent_configuration_id"],
            ["agent_configuration.id"],
            name="fk_offline_cell_agent_configuration_id",
            ondelete="RESTRICT",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_offline_cell"),
    )
    op.create_table(
        "offline_answer",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("cell_id", sa.Uuid(), nullable=False),
        sa.Column("step_id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.Text(), server_default=sa.text("'waiting'"), nullable=False),
        sa.Column("tries", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("available_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.Column("actions", JSONB(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("reply", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("invalid", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("usage", JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("seconds", sa.Double(), server_default=sa.text("0"), nullable=False),
        sa.Column("message", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["step_id"], ["demonstration_step.id"], name="fk_offline_answer_step_id", ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(
            ["cell_id"], ["offline_cell.id"], name="fk_offline_answer_cell_id", ondelete="RESTRICT"
        ),
        sa.UniqueConstraint("cell_id", "step_id", name="uq_offline_answer_cell_id_step_id"),
        sa.CheckConstraint(
            "state IN ('waiting', 'answered', 'failed', 'cancelled')", name=op.f("ck_offline_answer_state")
        ),
        sa.PrimaryKeyConstraint("id", name="pk_offline_answer"),
    )
    op.create_index(
        "ix_offline_answer_waiting",
        "offline_answer",
        ["available_at", "id"],
        postgresql_where=sa.text("state = 'waiting'"),
    )


def downgrade() -> None:
    op.drop_table("offline_answer")
    op.drop_table("offline_cell")
    op.drop_table("offline_study")
    op.drop_table("demonstration_step")
    op.drop_table("demonstration")
    op.drop_table("demonstration_set")
