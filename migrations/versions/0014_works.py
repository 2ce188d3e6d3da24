"""Works that people judge: handed in by attempts or made by experts, and the choices between two of them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0014"
down_revision: str | None = "0013"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

JSON = postgresql.JSONB(astext_type=sa.Text())
NOW = sa.text("now()")
OLD = ("scored", "lost", "cancelled")
NEW = ("scored", "handed_in", "lost", "cancelled")


def upgrade() -> None:
    op.alter_column("evaluation", "score", existing_type=sa.Double(), nullable=True)
    op.add_column("rollup", sa.Column("handed_in", sa.BigInteger(), server_default=sa.text("0"), nullable=False))
    for table in ("episode", "attempt"):
        _one_of(table, "state", _states(table, NEW))
    _one_of("episode", "outcome", NEW, optional=True)
    _one_of("task_validation", "outcome", NEW)
    _works()
    _choices()


def downgrade() -> None:
    op.drop_table("choice")
    op.drop_table("work")
    # The older schema knows no episode that people judge; the nearest word without a score is that it was called off.
    op.execute("UPDATE task_validation SET outcome = 'cancelled' WHERE outcome = 'handed_in'")
    op.drop_constraint(op.f("ck_episode_outcome_is_state"), "episode", type_="check")
    op.execute("UPDATE episode SET state = 'cancelled', outcome = 'cancelled' WHERE state = 'handed_in'")
    op.execute("UPDATE attempt SET state = 'cancelled' WHERE state = 'handed_in'")
    op.execute("UPDATE run SET rollup_stale = true")
    op.create_check_constraint(op.f("ck_episode_outcome_is_state"), "episode", "outcome IS NULL OR outcome = state")
    for table in ("episode", "attempt"):
        _one_of(table, "state", _states(table, OLD))
    _one_of("episode", "outcome", OLD, optional=True)
    _one_of("task_validation", "outcome", OLD)
    op.drop_column("rollup", "handed_in")
    for table in ("measure", "evidence"):
        op.execute(f"DELETE FROM {table} WHERE evaluation_id IN (SELECT id FROM evaluation WHERE score IS NULL)")  # noqa: S608 - fixed names
    op.execute("DELETE FROM evaluation WHERE score IS NULL")
    op.alter_column("evaluation", "score", existing_type=sa.Double(), nullable=False)


def _one_of(table: str, column: str, words: Sequence[str], *, optional: bool = False) -> None:
    name = op.f(f"ck_{table}_{column}")
    op.drop_constraint(name, table, type_="check")
    clause = f"{column} IN ({_listed(words)})"
    op.create_check_constraint(name, table, f"{column} IS NULL OR {clause}" if optional else clause)


def _states(table: str, outcomes: Sequence[str]) -> tuple[str, ...]:
    if table == "episode":
        return ("waiting", "running", *outcomes, "not_runnable")
    return ("preparing", "running", "evaluating", *outcomes)


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def _works() -> None:
    op.create_table(
        "work",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("task_id", sa.Uuid(), nullable=False),
        sa.Column("attempt_id", sa.Uuid(), nullable=True),
        sa.Column("files", JSON, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_work_task_id"), ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempt.id"], name=op.f("fk_work_attempt_id"), ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_work")),
    )
    op.create_index("uq_work_attempt_id", "work", ["attempt_id"], unique=True)
    op.create_index("uq_work_expert", "work", ["task_id"], unique=True, postgresql_where=sa.text("attempt_id IS NULL"))
    op.create_index("ix_work_task_id", "work", ["task_id"])


def _choices() -> None:
    op.create_table(
        "choice",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("task_id", sa.Uuid(), nullable=False),
        sa.Column("left_id", sa.Uuid(), nullable=False),
        sa.Column("right_id", sa.Uuid(), nullable=False),
        sa.Column("preferred", sa.Text(), nullable=False),
        sa.Column("actor_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.CheckConstraint("preferred IN ('left', 'right', 'equal')", name=op.f("ck_choice_preferred")),
        sa.CheckConstraint("left_id <> right_id", name=op.f("ck_choice_two_works")),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_choice_task_id"), ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["left_id"], ["work.id"], name=op.f("fk_choice_left_id"), ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["right_id"], ["work.id"], name=op.f("fk_choice_right_id"), ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["actor_id"], ["actor.id"], name=op.f("fk_choice_actor_id"), ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_choice")),
    )
    op.create_index(
        "uq_choice_pair",
        "choice",
        ["actor_id", sa.text("least(left_id, right_id)"), sa.text("greatest(left_id, right_id)")],
        unique=True,
    )
    op.create_index("ix_choice_task_id", "choice", ["task_id"])
