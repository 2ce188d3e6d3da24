"""Judges: who they are, every answer of theirs, and their verdicts on criteria; tasks that need one."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0012"
down_revision: str | None = "0011"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

JSON = postgresql.JSONB(astext_type=sa.Text())
JUDGED = """UPDATE task SET judged = true WHERE spec @? '$.evaluator.**.func ? (@ == "vlm_judge")'"""


def upgrade() -> None:
    op.add_column("task", sa.Column("judged", sa.Boolean(), server_default=sa.false(), nullable=False))
    # Tasks that were imported before this migration went down and up again.
    op.execute(JUDGED)
    op.create_table(
        "judge",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("prompt_sha256", sa.Text(), nullable=False),
        sa.Column("config", JSON, nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        _created(),
        sa.CheckConstraint("kind IN ('vlm', 'graph')", name=op.f("ck_judge_kind")),
        *_refs("judge", "project"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judge")),
        sa.UniqueConstraint("project_id", "identity", name=op.f("uq_judge_project_id_identity")),
    )
    op.create_table(
        "judge_answer",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("judge_id", sa.Uuid(), nullable=False),
        sa.Column("attempt_id", sa.Uuid(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("vote", sa.BigInteger(), nullable=False),
        sa.Column("usable", sa.Boolean(), nullable=False),
        sa.Column("answer", JSON, nullable=False),
        sa.Column("usd", sa.Double(), nullable=False),
        sa.Column("priced", sa.Boolean(), nullable=False),
        _created(),
        *_refs("judge_answer", "judge", "attempt"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judge_answer")),
    )
    op.create_index("ix_judge_answer_usable", "judge_answer", ["question", "vote"], postgresql_where=sa.text("usable"))
    op.create_index("ix_judge_answer_attempt", "judge_answer", ["attempt_id"])
    op.create_table(
        "judge_verdict",
        sa.Column("judge_id", sa.Uuid(), nullable=False),
        sa.Column("attempt_id", sa.Uuid(), nullable=False),
        sa.Column("criterion", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("reached", sa.Boolean(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        _created(),
        *_refs("judge_verdict", "judge", "attempt"),
        sa.PrimaryKeyConstraint("judge_id", "attempt_id", "criterion", name=op.f("pk_judge_verdict")),
    )
    op.create_index("ix_judge_verdict_attempt", "judge_verdict", ["attempt_id"])


def downgrade() -> None:
    for table in ("judge_verdict", "judge_answer", "judge"):
        op.drop_table(table)
    op.drop_column("task", "judged")


def _created() -> sa.Column[object]:
    return sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False)


def _refs(table: str, *targets: str) -> list[sa.ForeignKeyConstraint]:
    return [
        sa.ForeignKeyConstraint(
            [f"{target}_id"], [f"{target}.id"], name=op.f(f"fk_{table}_{target}_id"), ondelete="RESTRICT"
        )
        for target in targets
    ]
