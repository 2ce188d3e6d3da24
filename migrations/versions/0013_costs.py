"""Sums of tokens and cost of each attempt, and costs of all passes. All cubes are computed again, which fills these."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision: str = "2.0013"
down_revision: str | None = "2.0012"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

SUMS = """
    UPDATE attempt SET usage = (
        SELECT jsonb_build_object(
            'input_tokens', coalesce(sum((s.usage ->> 'input_tokens')::double precision), 0),
            'output_tokens', coalesce(sum((s.usage ->> 'output_tokens')::double precision), 0),
            'calls', coalesce(sum((s.usage ->> 'calls')::double precision), 0),
            'usd', coalesce(sum((s.usage ->> 'usd')::double precision), 0),
            'priced', coalesce(bool_and(coalesce(s.usage ->> 'priced', 'true') <> 'false'), true)
        ) FROM step s WHERE s.attempt_id = attempt.id
    ) WHERE state = 'scored'
"""


def upgrade() -> None:
    op.add_column("attempt", sa.Column("usage", JSONB(), nullable=True))
    op.add_column("pass_rollup", sa.Column("costs", JSONB(), server_default=sa.text("'{}'"), nullable=False))
    op.execute(SUMS)
    op.execute("UPDATE run SET rollup_stale = true")


def downgrade() -> None:
    op.drop_column("pass_rollup", "costs")
    op.drop_column("attempt", "usage")
