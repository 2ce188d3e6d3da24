"""Evaluations that came to no verdict keep their evidence and are repeated; other judges look at kept pictures."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0017"
down_revision: str | None = "0016"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

WAITING = "uq_rescore_waiting"
SAME = ["attempt_id", "task_id", "make_current"]


def upgrade() -> None:
    op.add_column("evaluation", sa.Column("failure", sa.Text(), server_default=sa.text("''"), nullable=False))
    op.create_check_constraint(
        op.f("ck_evaluation_failure_is_no_verdict"), "evaluation", "failure = '' OR (score IS NULL AND NOT current)"
    )
    op.add_column("rescore", sa.Column("tries", sa.BigInteger(), server_default=sa.text("0"), nullable=False))
    op.add_column("rescore", sa.Column("anew", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    op.add_column(
        "rescore",
        sa.Column("available_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
    )
    op.add_column(
        "rescore",
        sa.Column("judge", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
    )
    op.drop_index(WAITING, "rescore")
    _one_waiting([*SAME, "judge"])


def downgrade() -> None:
    """What only waits to be repeated is given up: the older release could neither finish nor fail it."""
    op.execute(
        "UPDATE episode SET state = 'lost', outcome = 'lost', failure_class = 'evaluator', ended_at = now(), "
        "reason = '', failure_message = evaluation.failure FROM rescore JOIN evaluation ON evaluation.id = before_id "
        "WHERE rescore.state = 'waiting' AND evaluation.failure <> '' AND episode.id = rescore.episode_id "
        "AND episode.state = 'waiting'"
    )
    op.execute(
        "DELETE FROM rescore WHERE judge <> '{}' OR before_id IN (SELECT id FROM evaluation WHERE failure <> '')"
    )
    for table in ("evidence", "measure"):
        op.execute(f"DELETE FROM {table} WHERE evaluation_id IN (SELECT id FROM evaluation WHERE failure <> '')")  # noqa: S608
    op.execute("DELETE FROM evaluation WHERE failure <> ''")
    op.execute("UPDATE run SET rollup_stale = true")
    op.drop_index(WAITING, "rescore")
    for column in ("judge", "available_at", "anew", "tries"):
        op.drop_column("rescore", column)
    _one_waiting(SAME)
    op.drop_constraint(op.f("ck_evaluation_failure_is_no_verdict"), "evaluation")
    op.drop_column("evaluation", "failure")


def _one_waiting(columns: list[str]) -> None:
    op.create_index(WAITING, "rescore", columns, unique=True, postgresql_where=sa.text("state = 'waiting'"))
