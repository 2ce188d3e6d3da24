"""Notifications of budgets that are reached."""

from collections.abc import Sequence

from alembic import op

revision: str = "2.0031"
down_revision: str | None = "2.0030"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

expand = "The constraint allows one word more; what older releases write stays allowed."
BEFORE = ("run.ended", "run.regression", "run.losses", "worker.gone", "test")
NAME = "ck_notification_type"


def _allow(types: Sequence[str]) -> None:
    op.drop_constraint(op.f(NAME), "notification", type_="check")
    listed = ", ".join(f"'{each}'" for each in types)
    op.create_check_constraint(op.f(NAME), "notification", f"type IN ({listed})")


def upgrade() -> None:
    _allow([*BEFORE[:-1], "budget.reached", BEFORE[-1]])


def downgrade() -> None:
    """Deliveries of such notifications go with them: the release before knows neither."""
    op.execute(
        "DELETE FROM delivery USING notification n WHERE n.id = delivery.notification_id AND n.type = 'budget.reached'"
    )
    op.execute("DELETE FROM notification WHERE type = 'budget.reached'")
    op.execute("UPDATE subscription SET events = events - 'budget.reached'")
    _allow(BEFORE)
