"""An agent may end an episode at a safety check of its model's vendor."""

from collections.abc import Sequence

from alembic import op

revision: str = "2.0011"
down_revision: str | None = "2.0010"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

expand = "The constraint allows one word more; what older releases write stays allowed."
BEFORE = ("done", "infeasible", "steps", "time", "tokens", "money", "invalid", "agent_error", "stalled")


def upgrade() -> None:
    _allow((*BEFORE, "safety_check"))


def downgrade() -> None:
    """Episodes that ended at a safety check were ended by the agent without DONE: its error."""
    for table in ("attempt", "episode"):
        op.execute(f"UPDATE {table} SET ended_by = 'agent_error' WHERE ended_by = 'safety_check'")  # noqa: S608 - fixed words
    _allow(BEFORE)


def _allow(words: Sequence[str]) -> None:
    allowed = ", ".join(f"'{word}'" for word in words)
    for table in ("attempt", "episode"):
        name = op.f(f"ck_{table}_ended_by")
        op.drop_constraint(name, table, type_="check")
        op.create_check_constraint(name, table, f"ended_by IS NULL OR ended_by IN ({allowed})")
