"""Runs imported from the results of other tools: where a run's results come from."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "2.0012"
down_revision: str | None = "2.0011"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None
expand = "Releases before write no origin; the default meets the constraint."


def upgrade() -> None:
    op.add_column("run", sa.Column("origin", sa.Text(), server_default="measured", nullable=False))
    op.execute("ALTER TABLE run ADD CONSTRAINT ck_run_origin CHECK (origin IN ('measured', 'outside')) NOT VALID")
    op.execute("ALTER TABLE run VALIDATE CONSTRAINT ck_run_origin")


def downgrade() -> None:
    op.drop_column("run", "origin")
