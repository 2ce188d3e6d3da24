"""Episodes: a stable code beside the reason why one waits or cannot run."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "2.0002"
down_revision: str | None = "2.0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

BY_TEXT = {
    "waiting for a person": "waiting_for_person",
    "%it waits for its person, who begins it anew": "waiting_for_person_again",
    "%waits for its program to start another attempt": "waiting_for_program",
    "needs another worker: %": "worker_cannot_read",
    "there was no verdict; the evaluation is repeated%": "reevaluation",
}
"""Codes that something depends on. Every other old reason is shown as `other`."""


def upgrade() -> None:
    op.add_column("episode", sa.Column("reason_code", sa.Text()))
    for pattern, code in BY_TEXT.items():
        op.execute(
            f"UPDATE episode SET reason_code = '{code}' WHERE state = 'waiting' AND reason LIKE '{pattern}'"  # noqa: S608 - constant texts
        )


def downgrade() -> None:
    op.drop_column("episode", "reason_code")
