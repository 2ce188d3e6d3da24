"""The scheduler: priorities, quotas, shares, what tasks need of a machine, and how long episodes should take."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0018"
down_revision: str | None = "0020"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None
expand = "the constraints are on columns that this adds, with defaults; older releases write none of them"

JSON = postgresql.JSONB(astext_type=sa.Text())
NOW, NONE, EMPTY = sa.text("now()"), sa.text("0"), sa.text("'{}'")
NEEDS = "CAST(md5(os || chr(10) || CAST(requires AS text) || chr(10) || CAST(licences AS text)) AS uuid)"
"""Equal for tasks that need the same of a machine."""
READY = "state = 'waiting' AND available_at < '9000-01-01 00:00:00+00'"


def upgrade() -> None:
    """Adds; an older release may go on beside it: what it does not write is filled in by the workers' upkeep."""
    op.add_column("task", sa.Column("needs", sa.Uuid(), sa.Computed(NEEDS, persisted=True)))
    op.add_column("episode", sa.Column("needs", sa.Uuid()))
    op.add_column("episode", sa.Column("expected_seconds", sa.Double(), server_default=sa.text("600"), nullable=False))
    op.execute("UPDATE episode SET needs = task.needs FROM task WHERE task.id = task_id AND state = 'waiting'")
    op.drop_index("ix_episode_claim", "episode")
    order: list[str | sa.TextClause] = [
        "run_id",
        "needs",
        sa.text("priority DESC"),
        "repeat",
        sa.text("expected_seconds DESC"),
        "id",
    ]
    op.create_index("ix_episode_claim", "episode", order, postgresql_where=sa.text(READY))
    op.create_index(
        "ix_episode_no_needs", "episode", ["id"], postgresql_where=sa.text("state = 'waiting' AND needs IS NULL")
    )
    op.add_column("run", sa.Column("priority", sa.BigInteger(), server_default=NONE, nullable=False))
    op.add_column("run", sa.Column("concurrency", sa.BigInteger()))
    op.add_column("run", sa.Column("in_use", sa.BigInteger(), server_default=NONE, nullable=False))
    op.add_column("run", sa.Column("used_seconds", sa.Double(), server_default=NONE, nullable=False))
    for name in ("used_at", "turn_at", "expected_at"):
        op.add_column("run", sa.Column(name, sa.DateTime(timezone=True), server_default=NOW, nullable=False))
    op.create_check_constraint(op.f("ck_run_priority"), "run", "priority BETWEEN -10 AND 10")
    op.create_check_constraint(op.f("ck_run_concurrency"), "run", "concurrency >= 1")
    op.execute(
        "UPDATE run SET in_use = busy.number FROM (SELECT run_id, count(*) AS number FROM episode "
        "WHERE state = 'running' GROUP BY run_id) busy WHERE busy.run_id = run.id"
    )
    op.create_index(
        "ix_run_scheduled", "run", ["id"], postgresql_where=sa.text("state IN ('queued', 'running', 'paused')")
    )
    op.create_index("ix_run_cancelled", "run", ["ended_at"], postgresql_where=sa.text("state = 'cancelled'"))
    op.add_column("project", sa.Column("weight", sa.Double(), server_default=sa.text("1"), nullable=False))
    op.add_column("project", sa.Column("quota", JSON, server_default=EMPTY, nullable=False))
    op.add_column("project", sa.Column("reserved", JSON, server_default=EMPTY, nullable=False))
    op.create_check_constraint(op.f("ck_project_weight"), "project", "weight > 0")
    op.add_column("lease", sa.Column("waits", sa.Text(), server_default=sa.text("''"), nullable=False))
    op.create_index("ix_lease_waits", "lease", ["id"], postgresql_where=sa.text("released_at IS NULL AND waits <> ''"))


def downgrade() -> None:
    op.drop_index("ix_lease_waits", table_name="lease")
    op.drop_column("lease", "waits")
    op.drop_constraint(op.f("ck_project_weight"), "project")
    for name in ("reserved", "quota", "weight"):
        op.drop_column("project", name)
    op.drop_index("ix_run_cancelled", table_name="run")
    op.drop_index("ix_run_scheduled", table_name="run")
    for constraint in ("concurrency", "priority"):
        op.drop_constraint(op.f(f"ck_run_{constraint}"), "run")
    for name in ("expected_at", "turn_at", "used_at", "used_seconds", "in_use", "concurrency", "priority"):
        op.drop_column("run", name)
    op.drop_index("ix_episode_no_needs", table_name="episode")
    op.drop_index("ix_episode_claim", table_name="episode")
    op.create_index(
        "ix_episode_claim",
        "episode",
        ["run_id", sa.text("priority DESC"), "id"],
        postgresql_where=sa.text("state = 'waiting'"),
    )
    op.drop_column("episode", "expected_seconds")
    op.drop_column("episode", "needs")
    op.drop_column("task", "needs")
