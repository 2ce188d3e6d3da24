"""Number of tasks that no pass could run, and cells by task of runs with few repeats: all cubes are computed again."""

from collections.abc import Sequence

from alembic import op

revision: str = "2.0036"
down_revision: str | None = "2.0035"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.execute("ALTER TABLE pass_rollup ADD COLUMN not_runnable_tasks bigint NOT NULL DEFAULT 0")
    op.execute("UPDATE run SET rollup_stale = true")


def downgrade() -> None:
    op.drop_column("pass_rollup", "not_runnable_tasks")
    op.execute("UPDATE run SET rollup_stale = true")
