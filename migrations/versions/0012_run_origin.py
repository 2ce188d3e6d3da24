"""Runs imported from the results of other tools: where a run's results come from."""

from collections.abc import Sequence

from alembic import op

revision: str = "2.0012"
down_revision: str | None = "2.0011"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None
expand = "Releases before write no origin; the default meets the constraint."


def upgrade() -> None:
    check = "CONSTRAINT ck_run_origin CHECK (origin IN ('measured', 'outside'))"
    op.execute(f"ALTER TABLE run ADD COLUMN origin text DEFAULT 'measured' NOT NULL {check}")


def downgrade() -> None:
    op.drop_column("run", "origin")
