"""Runs, episodes, attempts, steps, evaluations, events."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "run",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("actor_id", sa.Uuid(), nullable=False),
        sa.Column("task_set_id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("config", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("config_hash", sa.Text(), nullable=False),
        sa.Column("condition_hash", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("next_event_seq", sa.BigInteger(), nullable=False),
        sa.Column("rollup_stale", sa.Boolean(), nullable=False),
        sa.Column("idempotency_key", sa.Text(), nullable=True),
        sa.Column("request_hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("purpose IN ('measure', 'validate', 'demo')", name=op.f("ck_run_purpose")),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'paused', 'completed', 'cancelled')", name=op.f("ck_run_state")
        ),
        sa.ForeignKeyConstraint(["actor_id"], ["actor.id"], name=op.f("fk_run_actor_id"), ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["agent_id"], ["agent.id"], name=op.f("fk_run_agent_id"), ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_run_project_id"), ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["task_set_id"], ["task_set.id"], name=op.f("fk_run_task_set_id"), ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
        sa.UniqueConstraint("project_id", "idempotency_key", name=op.f("uq_run_project_id_idempotency_key")),
    )
    op.create_table(
        "episode",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("task_id", sa.Uuid(), nullable=False),
        sa.Column("repeat", sa.BigInteger(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("priority", sa.BigInteger(), nullable=False),
        sa.Column("available_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("ended_by", sa.Text(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("failure_class", sa.Text(), nullable=True),
        sa.Column("failure_message", sa.Text(), nullable=False),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("solved", sa.Boolean(), nullable=True),
        sa.Column("steps", sa.BigInteger(), nullable=False),
        sa.Column("flagged", sa.Boolean(), nullable=False),
        sa.Column("flag_reason", sa.Text(), nullable=False),
        sa.Column("attempts_count", sa.BigInteger(), nullable=False),
        sa.Column("retries_from", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(outcome IS NOT DISTINCT FROM 'lost') = (failure_class IS NOT NULL)",
            name=op.f("ck_episode_class_when_lost"),
        ),
        sa.CheckConstraint(
            "(outcome IS NOT DISTINCT FROM 'scored') = (score IS NOT NULL) AND (score IS NULL) = (solved IS NULL)",
            name=op.f("ck_episode_score_when_scored"),
        ),
        sa.CheckConstraint(
            "ended_by IS NULL OR ended_by IN ('done', 'infeasible', 'steps', 'time', 'tokens', 'money', "
            "'invalid', 'agent_error')",
            name=op.f("ck_episode_ended_by"),
        ),
        sa.CheckConstraint(
            "failure_class IS NULL OR failure_class IN ('model_api', 'task_setup', 'guest', 'cluster', 'evaluator')",
            name=op.f("ck_episode_failure_class"),
        ),
        sa.CheckConstraint(
            "outcome IS NULL OR outcome IN ('scored', 'lost', 'cancelled')", name=op.f("ck_episode_outcome")
        ),
        sa.CheckConstraint(
            "state IN ('waiting', 'running', 'scored', 'lost', 'cancelled', 'not_runnable')",
            name=op.f("ck_episode_state"),
        ),
        sa.CheckConstraint("outcome IS NULL OR outcome = state", name=op.f("ck_episode_outcome_is_state")),
        sa.CheckConstraint("score BETWEEN 0 AND 1", name=op.f("ck_episode_score_range")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_episode_run_id"), ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_episode_task_id"), ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_episode")),
        sa.UniqueConstraint("run_id", "task_id", "repeat", name=op.f("uq_episode_run_id_task_id_repeat")),
    )
    op.create_table(
        "attempt",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("episode_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("live", sa.Boolean(), nullable=False),
        sa.Column("controller", sa.Text(), nullable=False),
        sa.Column("worker_id", sa.Uuid(), nullable=False),
        sa.Column("slot_id", sa.Uuid(), nullable=False),
        sa.Column("lease_id", sa.Uuid(), nullable=False),
        sa.Column("fencing_token", sa.BigInteger(), nullable=False),
        sa.Column("ended_by", sa.Text(), nullable=True),
        sa.Column("failure_class", sa.Text(), nullable=True),
        sa.Column("failure_message", sa.Text(), nullable=False),
        sa.Column("after_action", sa.Boolean(), nullable=False),
        sa.Column("seconds", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("desktop", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("current_step", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("first_observation_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("(state = 'lost') = (failure_class IS NOT NULL)", name=op.f("ck_attempt_class_when_lost")),
        sa.CheckConstraint("controller IN ('agent', 'person')", name=op.f("ck_attempt_controller")),
        sa.CheckConstraint(
            "ended_by IS NULL OR ended_by IN ('done', 'infeasible', 'steps', 'time', 'tokens', 'money', "
            "'invalid', 'agent_error')",
            name=op.f("ck_attempt_ended_by"),
        ),
        sa.CheckConstraint(
            "failure_class IS NULL OR failure_class IN ('model_api', 'task_setup', 'guest', 'cluster', 'evaluator')",
            name=op.f("ck_attempt_failure_class"),
        ),
        sa.CheckConstraint(
            "live = (state IN ('preparing', 'running', 'evaluating'))", name=op.f("ck_attempt_live_until_ended")
        ),
        sa.CheckConstraint(
            "state IN ('preparing', 'running', 'evaluating', 'scored', 'lost', 'cancelled')",
            name=op.f("ck_attempt_state"),
        ),
        sa.ForeignKeyConstraint(
            ["episode_id"], ["episode.id"], name=op.f("fk_attempt_episode_id"), ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(["lease_id"], ["lease.id"], name=op.f("fk_attempt_lease_id"), ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["slot_id"], ["slot.id"], name=op.f("fk_attempt_slot_id"), ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_attempt_worker_id"), ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempt")),
        sa.UniqueConstraint("episode_id", "number", name=op.f("uq_attempt_episode_id_number")),
    )
    op.create_table(
        "task_validation",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("task_id", sa.Uuid(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("episode_id", sa.Uuid(), nullable=False),
        sa.Column("evaluator_version", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("agent IN ('oracle', 'noop', 'always_fail')", name=op.f("ck_task_validation_agent")),
        sa.CheckConstraint("outcome IN ('scored', 'lost', 'cancelled')", name=op.f("ck_task_validation_outcome")),
        sa.ForeignKeyConstraint(
            ["episode_id"], ["episode.id"], name=op.f("fk_task_validation_episode_id"), ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_task_validation_task_id"), ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task_validation")),
        sa.UniqueConstraint("episode_id", name=op.f("uq_task_validation_episode_id")),
    )
    op.create_table(
        "evaluation",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("attempt_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("metrics", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("score BETWEEN 0 AND 1", name=op.f("ck_evaluation_score_range")),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempt.id"], name=op.f("fk_evaluation_attempt_id"), ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evaluation")),
    )
    op.create_table(
        "event",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("episode_id", sa.Uuid(), nullable=True),
        sa.Column("attempt_id", sa.Uuid(), nullable=True),
        sa.Column("data", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempt.id"], name=op.f("fk_event_attempt_id"), ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["episode_id"], ["episode.id"], name=op.f("fk_event_episode_id"), ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_event_run_id"), ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
        sa.UniqueConstraint("run_id", "seq", name=op.f("uq_event_run_id_seq")),
    )
    op.create_table(
        "step",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("attempt_id", sa.Uuid(), nullable=False),
        sa.Column("index", sa.BigInteger(), nullable=False),
        sa.Column("frame_sha256", sa.Text(), nullable=True),
        sa.Column("frame_media_type", sa.Text(), nullable=True),
        sa.Column("width", sa.BigInteger(), nullable=True),
        sa.Column("height", sa.BigInteger(), nullable=True),
        sa.Column("a11y_sha256", sa.Text(), nullable=True),
        sa.Column("windows", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("reply", sa.Text(), nullable=False),
        sa.Column("actions", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("results", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("invalid", sa.Text(), nullable=False),
        sa.Column("usage", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("timing", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["a11y_sha256"], ["artifact.sha256"], name=op.f("fk_step_a11y_sha256"), ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempt.id"], name=op.f("fk_step_attempt_id"), ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(
            ["frame_sha256"], ["artifact.sha256"], name=op.f("fk_step_frame_sha256"), ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_step")),
        sa.UniqueConstraint("attempt_id", "index", name=op.f("uq_step_attempt_id_index")),
    )
    op.create_table(
        "evidence",
        sa.Column("evaluation_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("part", sa.BigInteger(), nullable=False),
        sa.Column("getter", sa.Text(), nullable=False),
        sa.Column("blob_name", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.CheckConstraint("role IN ('result', 'expected')", name=op.f("ck_evidence_role")),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluation.id"], name=op.f("fk_evidence_evaluation_id"), ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(["sha256"], ["artifact.sha256"], name=op.f("fk_evidence_sha256"), ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("evaluation_id", "position", "role", "part", name=op.f("pk_evidence")),
    )
    op.create_table(
        "measure",
        sa.Column("evaluation_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["evaluation.id"], name=op.f("fk_measure_evaluation_id"), ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("evaluation_id", "name", name=op.f("pk_measure")),
    )
    op.create_index(
        "ix_run_active", "run", ["id"], unique=False, postgresql_where=sa.text("state IN ('queued', 'running')")
    )
    op.create_index("ix_run_stale", "run", ["id"], unique=False, postgresql_where=sa.text("rollup_stale"))
    op.create_index("ix_run_task_set", "run", ["task_set_id", "id"], unique=False)
    op.create_index(
        "ix_episode_claim",
        "episode",
        ["run_id", sa.literal_column("priority DESC"), "id"],
        unique=False,
        postgresql_where=sa.text("state = 'waiting'"),
    )
    op.create_index("ix_episode_run_page", "episode", ["run_id", "id"], unique=False)
    op.create_index(
        "ix_episode_running", "episode", ["run_id"], unique=False, postgresql_where=sa.text("state = 'running'")
    )
    op.create_index("ix_episode_task", "episode", ["task_id", "id"], unique=False)
    op.create_index("ix_attempt_lease", "attempt", ["lease_id"], unique=False)
    op.create_index("uq_attempt_live_episode", "attempt", ["episode_id"], unique=True, postgresql_where=sa.text("live"))
    op.create_index("uq_attempt_live_lease", "attempt", ["lease_id"], unique=True, postgresql_where=sa.text("live"))
    op.create_index(
        op.f("ix_task_validation_task_id_agent_created_at"),
        "task_validation",
        ["task_id", "agent", "created_at"],
        unique=False,
    )
    op.create_index(op.f("ix_evaluation_attempt_id"), "evaluation", ["attempt_id"], unique=False)
    op.create_index(
        "uq_evaluation_current", "evaluation", ["attempt_id"], unique=True, postgresql_where=sa.text("current")
    )
    op.create_index("ix_step_a11y", "step", ["a11y_sha256"], unique=False)
    op.create_index("ix_step_frame", "step", ["frame_sha256"], unique=False)
    op.create_index("ix_evidence_sha256", "evidence", ["sha256"], unique=False)


def downgrade() -> None:
    op.drop_table("measure")
    op.drop_table("evidence")
    op.drop_table("step")
    op.drop_table("event")
    op.drop_table("evaluation")
    op.drop_table("task_validation")
    op.drop_table("attempt")
    op.drop_table("episode")
    op.drop_table("run")
