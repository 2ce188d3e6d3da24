"""Benchmarks of different projects may have the same name."""

from collections.abc import Sequence

from alembic import op

revision: str = "2.0022"
down_revision: str | None = "2.0021"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None
expand = "names were unique in all projects, so they are in each one; the previous release knows only one project"


def upgrade() -> None:
    op.drop_constraint("uq_benchmark_name", "benchmark", type_="unique")
    op.create_unique_constraint("uq_benchmark_project_id_name", "benchmark", ["project_id", "name"])


def downgrade() -> None:
    op.drop_constraint("uq_benchmark_project_id_name", "benchmark", type_="unique")
    op.create_unique_constraint("uq_benchmark_name", "benchmark", ["name"])
