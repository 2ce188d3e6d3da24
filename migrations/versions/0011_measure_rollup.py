"""Roll-ups of measures, and by OmniBench's capabilities and complexities. They are computed from the episodes."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0011"
down_revision: str | None = "0010"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

DIMENSIONS = ("all", "domain", "difficulty", "domain_difficulty", "level", "app")
WITH_OMNIBENCH = (*DIMENSIONS, "capability", "complexity")


def upgrade() -> None:
    op.create_table(
        "measure_rollup",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("dimension", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("measure", sa.Text(), nullable=False),
        sa.Column("tasks", sa.BigInteger(), nullable=False),
        sa.Column("undefined_tasks", sa.BigInteger(), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.Double(), nullable=False),
        sa.Column("low", sa.Double(), nullable=False),
        sa.Column("high", sa.Double(), nullable=False),
        sa.CheckConstraint(f"dimension IN ({_listed(WITH_OMNIBENCH)})", name=op.f("ck_measure_rollup_dimension")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_measure_rollup_run_id"), ondelete="RESTRICT"),
        sa.PrimaryKeyConstraint("run_id", "dimension", "key", "measure", name=op.f("pk_measure_rollup")),
    )
    _dimension(WITH_OMNIBENCH)
    op.execute("UPDATE run SET rollup_stale = true")


def downgrade() -> None:
    op.drop_table("measure_rollup")
    op.execute("DELETE FROM rollup WHERE dimension IN ('capability', 'complexity')")
    _dimension(DIMENSIONS)


def _dimension(words: Sequence[str]) -> None:
    name = op.f("ck_rollup_dimension")
    op.drop_constraint(name, "rollup", type_="check")
    op.create_check_constraint(name, "rollup", f"dimension IN ({_listed(words)})")


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)
