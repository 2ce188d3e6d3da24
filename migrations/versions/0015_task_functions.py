"""Whether a task has evaluation functions in Python: stored, so that counts of tasks do not read every task's spec."""

from collections.abc import Sequence

from alembic import op

revision: str = "2.0015"
down_revision: str | None = "2.0014"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None
expand = "The database computes the column; releases before neither write nor read it."

CALLS = """$.evaluator ? (@.calls[*].func == "evaluate_agent_task_completion"
    || @.parts[*].calls[*].func == "evaluate_agent_task_completion")"""


def upgrade() -> None:
    functions = f"dialect = 'omnibench' AND jsonb_path_exists(spec, '{CALLS}')"
    column = f"has_user_functions boolean GENERATED ALWAYS AS ({functions}) STORED NOT NULL"
    # Rewrites the table: tasks are tens of thousands, so that takes about a second.
    op.execute(f"-- squawk-ignore adding-field-with-default\nALTER TABLE task ADD COLUMN {column}")
    columns = ["task_set_id", "domain", "requirements_id", "difficulty", "requires_judge", "has_user_functions"]
    op.create_index("ix_task_group", "task", columns, postgresql_include=["id"])


def downgrade() -> None:
    op.drop_index("ix_task_group", "task")
    op.drop_column("task", "has_user_functions")
