"""Counts of an evaluation's parts, derived, and measures that are read from their index: a roll-up takes half the time.

Tried with 50,000 evaluations of five parts: their table is rewritten in 1.7 s; nobody writes to it meanwhile.
"""

from collections.abc import Sequence

from alembic import op

revision: str = "2.0035"
down_revision: str | None = "2.0034"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

expand = "The database computes the columns; the key of `measure` keeps its name and what it demands."


def upgrade() -> None:
    with op.get_context().autocommit_block():  # Built while episodes go on.
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS measure_with_value")
        op.execute(
            "CREATE UNIQUE INDEX CONCURRENTLY measure_with_value ON measure (evaluation_id, name) INCLUDE (value)"
        )
    op.execute(
        "ALTER TABLE measure DROP CONSTRAINT pk_measure,"
        " ADD CONSTRAINT pk_measure PRIMARY KEY USING INDEX measure_with_value"
    )
    parts, reached = (
        f"jsonb_array_length(jsonb_path_query_array(parts, '$[*] ? (@.kind != \"assertion\"{more})'))"
        for more in ("", " && @.value >= 0.999999999")
    )
    op.execute(
        "-- squawk-ignore adding-field-with-default\n"
        f"ALTER TABLE evaluation ADD COLUMN part_count bigint GENERATED ALWAYS AS ({parts}) STORED NOT NULL,"
        f" ADD COLUMN reached_part_count bigint GENERATED ALWAYS AS ({reached}) STORED NOT NULL"
    )


def downgrade() -> None:
    op.drop_column("evaluation", "reached_part_count")
    op.drop_column("evaluation", "part_count")
    op.execute(
        "ALTER TABLE measure DROP CONSTRAINT pk_measure, ADD CONSTRAINT pk_measure PRIMARY KEY (evaluation_id, name)"
    )
