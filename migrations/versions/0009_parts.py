"""Parts of a task: what became of them is kept with the evaluation; an episode may end because it stalled."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0009"
down_revision: str | None = "0008"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

JSON = postgresql.JSONB(astext_type=sa.Text())
ENDINGS = ("done", "infeasible", "steps", "time", "tokens", "money", "invalid", "agent_error")


def upgrade() -> None:
    op.add_column("evaluation", sa.Column("parts", JSON, server_default=sa.text("'[]'"), nullable=False))
    for table in ("episode", "attempt"):
        _ended_by(table, (*ENDINGS, "stalled"))


def downgrade() -> None:
    for table in ("episode", "attempt"):
        # The nearest older word: a number of steps was used up.
        op.execute(f"UPDATE {table} SET ended_by = 'steps' WHERE ended_by = 'stalled'")  # noqa: S608 - a fixed name
        _ended_by(table, ENDINGS)
    op.drop_column("evaluation", "parts")


def _ended_by(table: str, words: Sequence[str]) -> None:
    name = op.f(f"ck_{table}_ended_by")
    op.drop_constraint(name, table, type_="check")
    listed = ", ".join(f"'{word}'" for word in words)
    op.create_check_constraint(name, table, f"ended_by IS NULL OR ended_by IN ({listed})")
