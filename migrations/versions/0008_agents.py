"""Agents: what they were shown and asked, what is pinned of them, studies, people, programs from outside."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0008"
down_revision: str | None = "0007"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

JSON = postgresql.JSONB(astext_type=sa.Text())
EMPTY = sa.text("'{}'")
CONTROLLERS = ("agent", "person")
PURPOSES = ("measure", "validate", "demo")
# The picture that the agent was shown where it is not the screen itself, and what it was asked.
KEPT = ("shown_sha256", "prompt_sha256")


def upgrade() -> None:
    for column in KEPT:
        op.add_column("step", sa.Column(column, sa.Text(), nullable=True))
        op.create_foreign_key(op.f(f"fk_step_{column}"), "step", "artifact", [column], ["sha256"], ondelete="RESTRICT")
        op.create_index(f"ix_step_{column.removesuffix('_sha256')}", "step", [column])
    op.add_column("step", sa.Column("extras", JSON, server_default=EMPTY, nullable=False))
    op.create_table(
        "study",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("actor_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("config", JSON, nullable=False),
        sa.Column("idempotency_key", sa.Text(), nullable=True),
        sa.Column("request_hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        *(
            sa.ForeignKeyConstraint(
                [f"{target}_id"], [f"{target}.id"], name=op.f(f"fk_study_{target}_id"), ondelete="RESTRICT"
            )
            for target in ("project", "actor")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study")),
        sa.UniqueConstraint("project_id", "idempotency_key", name=op.f("uq_study_project_id_idempotency_key")),
    )
    op.add_column("run", sa.Column("pins", JSON, server_default=EMPTY, nullable=False))
    op.add_column("run", sa.Column("study_id", sa.Uuid(), nullable=True))
    op.add_column("run", sa.Column("cell", JSON, nullable=True))
    op.create_foreign_key(op.f("fk_run_study_id"), "run", "study", ["study_id"], ["id"], ondelete="RESTRICT")
    op.create_index("ix_run_study", "run", ["study_id"])
    op.add_column("episode", sa.Column("token_sha256", sa.Text(), nullable=True))
    op.create_index("uq_episode_token_sha256", "episode", ["token_sha256"], unique=True)
    op.add_column("attempt", sa.Column("person", JSON, nullable=True))
    _one_of("attempt", "controller", (*CONTROLLERS, "mixed"))
    # What a person said before there was an attempt; whether a person helped the agent, so that it is not its own.
    op.add_column("episode", sa.Column("person", JSON, nullable=True))
    op.add_column("episode", sa.Column("mixed", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("rollup", sa.Column("mixed", sa.BigInteger(), server_default=sa.text("0"), nullable=False))
    op.add_column("agent", sa.Column("human", sa.Boolean(), server_default=sa.false(), nullable=False))
    _one_of("run", "purpose", (*PURPOSES, "practice"))


def downgrade() -> None:
    op.execute("UPDATE attempt SET controller = 'person' WHERE controller = 'mixed'")
    _one_of("attempt", "controller", CONTROLLERS)
    op.execute("UPDATE run SET purpose = 'demo' WHERE purpose = 'practice'")
    _one_of("run", "purpose", PURPOSES)
    op.drop_column("agent", "human")
    op.drop_column("rollup", "mixed")
    for column in ("mixed", "person"):
        op.drop_column("episode", column)
    op.drop_column("attempt", "person")
    op.drop_index("uq_episode_token_sha256", "episode")
    op.drop_column("episode", "token_sha256")
    op.drop_constraint(op.f("fk_run_study_id"), "run", type_="foreignkey")
    op.drop_index("ix_run_study", "run")
    for column in ("cell", "study_id", "pins"):
        op.drop_column("run", column)
    op.drop_table("study")
    op.drop_column("step", "extras")
    for column in KEPT:
        op.drop_index(f"ix_step_{column.removesuffix('_sha256')}", "step")
        op.drop_constraint(op.f(f"fk_step_{column}"), "step", type_="foreignkey")
        op.drop_column("step", column)


def _one_of(table: str, column: str, words: Sequence[str]) -> None:
    name = op.f(f"ck_{table}_{column}")
    op.drop_constraint(name, table, type_="check")
    listed = ", ".join(f"'{word}'" for word in words)
    op.create_check_constraint(name, table, f"{column} IN ({listed})")
