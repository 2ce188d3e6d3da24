"""People check judges: what was drawn for them, and what they say."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0016"
down_revision: str | None = "0015"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "review_item",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("judge_id", sa.Uuid(), nullable=False),
        sa.Column("attempt_id", sa.Uuid(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        _created(),
        *_refs("review_item", "judge", "attempt"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_review_item")),
        sa.UniqueConstraint("judge_id", "attempt_id", name=op.f("uq_review_item_judge_id_attempt_id")),
    )
    op.create_index(op.f("ix_review_item_attempt_id"), "review_item", ["attempt_id"])
    op.create_table(
        "person_verdict",
        sa.Column("attempt_id", sa.Uuid(), nullable=False),
        sa.Column("actor_id", sa.Uuid(), nullable=False),
        sa.Column("criterion", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("reached", sa.Boolean(), nullable=True),
        _created(),
        *_refs("person_verdict", "attempt", "actor"),
        sa.PrimaryKeyConstraint("attempt_id", "actor_id", "criterion", name=op.f("pk_person_verdict")),
    )
    op.create_table(
        "person_rating",
        sa.Column("attempt_id", sa.Uuid(), nullable=False),
        sa.Column("actor_id", sa.Uuid(), nullable=False),
        sa.Column("completion", sa.BigInteger(), nullable=False),
        sa.Column("logic", sa.BigInteger(), nullable=False),
        _created(),
        *(
            sa.CheckConstraint(
                f"{name} BETWEEN 0 AND 100 AND {name} % 10 = 0", name=op.f(f"ck_person_rating_{name}_tenths")
            )
            for name in ("completion", "logic")
        ),
        *_refs("person_rating", "attempt", "actor"),
        sa.PrimaryKeyConstraint("attempt_id", "actor_id", name=op.f("pk_person_rating")),
    )


def downgrade() -> None:
    for table in ("person_rating", "person_verdict", "review_item"):
        op.drop_table(table)


def _created() -> sa.Column[object]:
    return sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False)


def _refs(table: str, *targets: str) -> list[sa.ForeignKeyConstraint]:
    return [
        sa.ForeignKeyConstraint(
            [f"{target}_id"], [f"{target}.id"], name=op.f(f"fk_{table}_{target}_id"), ondelete="RESTRICT"
        )
        for target in targets
    ]
