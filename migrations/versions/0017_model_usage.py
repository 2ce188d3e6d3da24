"""Use of models by endpoint, and what an attempt waits for at its model."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision: str = "2.0017"
down_revision: str | None = "2.0016"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None
expand = "A new table, and a column that may be empty; releases before neither write nor read them."

NUMBERS = ("answered", "gave_up")
TOKENS = ("input_tokens", "cached_tokens", "output_tokens")


def upgrade() -> None:
    op.create_table(
        "model_usage",
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("source", sa.Uuid(), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in NUMBERS),
        sa.Column("errors", JSONB(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in TOKENS),
        sa.Column("usd", sa.Double(), nullable=False),
        sa.Column("unpriced", sa.BigInteger(), nullable=False),
        sa.Column("wait_seconds", sa.Double(), nullable=False),
        sa.Column("latencies", JSONB(), nullable=False),
        sa.Column("last_answer_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_error_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_error", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.PrimaryKeyConstraint("started_at", "source", "endpoint", "model", name="pk_model_usage"),
    )
    op.add_column("lease", sa.Column("model_wait", JSONB(), nullable=True))


def downgrade() -> None:
    op.drop_column("lease", "model_wait")
    op.drop_table("model_usage")
