"""Labels of tasks, flat; roll-ups by any of them.

Stored tasks get the labels that their columns and specifications have; importing the same files again adds what only
the importers know. All roll-ups are computed again. Labels that people imported stay when the schema goes down, and
apply again when it comes up.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision: str = "2.0007"
down_revision: str | None = "2.0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

DIMENSIONS = "'all', 'domain', 'difficulty', 'domain_difficulty', 'level', 'app', 'capability', 'complexity'"
TEXTS = ("group", "discipline", "subfield", "persona", "scenario", "operation", "context", "drift", "twin")
LISTS = ("network", "capabilities", "operations")


def upgrade() -> None:
    op.add_column("task", sa.Column("labels", JSONB(), server_default=sa.text("'{}'"), nullable=False))
    op.execute("ALTER TABLE task_label ADD COLUMN IF NOT EXISTS labels JSONB DEFAULT '{}' NOT NULL")
    op.execute(f"""
        UPDATE task t SET labels = jsonb_strip_nulls(jsonb_build_object(
            'domain', jsonb_build_array(t.domain),
            'difficulty', jsonb_build_array(coalesce(t.difficulty, 'unlabelled')),
            'level', CASE WHEN t.level IS NOT NULL THEN jsonb_build_array(t.level) END,
            'os', jsonb_build_array(t.os),
            'feasible', jsonb_build_array(CASE WHEN t.feasible THEN 'yes' ELSE 'no' END),
            'app', CASE WHEN t.apps <> '[]' THEN t.apps END,
            'apps_count', CASE WHEN t.dialect = 'osworld' THEN jsonb_build_array(
                    CASE WHEN t.domain IN ('multi_apps', 'multi_app') THEN 'multi' ELSE 'single' END)
                WHEN t.apps <> '[]' THEN jsonb_build_array(
                    CASE WHEN jsonb_array_length(t.apps) = 1 THEN 'single' ELSE 'multi' END) END,
            'apps_number', CASE WHEN t.apps <> '[]' THEN jsonb_build_array(jsonb_array_length(t.apps)::text) END,
            'software', (SELECT jsonb_agg(s ->> 'name')
                FROM jsonb_array_elements(t.spec #> '{{labels,extra,software}}') s
                WHERE s ->> 'name' IS NOT NULL)
        )) || coalesce((
            SELECT jsonb_object_agg(
                CASE e.key WHEN 'operations' THEN 'operation' ELSE e.key END,
                CASE WHEN jsonb_typeof(e.value) = 'array' THEN e.value ELSE jsonb_build_array(e.value) END
            )
            FROM jsonb_each(t.spec #> '{{labels,extra}}') e WHERE e.key IN {(*TEXTS, *LISTS)}
        ), '{{}}') || coalesce((
            SELECT jsonb_object_agg('complexity.' || c.key, jsonb_build_array(c.value))
            FROM jsonb_each(t.spec #> '{{labels,extra,complexity}}') c
        ), '{{}}') || CASE WHEN t.spec #> '{{labels,extra,capability}}' IS NOT NULL
            THEN jsonb_build_object('capability', jsonb_build_array(t.spec #> '{{labels,extra,capability}}'))
            WHEN t.spec #> '{{labels,extra,capabilities}}' IS NOT NULL
            THEN jsonb_build_object('capability', t.spec #> '{{labels,extra,capabilities}}') ELSE '{{}}' END
    """)  # noqa: S608 - fixed words
    op.execute("""
        UPDATE task t SET labels = t.labels || l.labels FROM task_label l, task_set s
        WHERE s.id = t.task_set_id AND s.benchmark_id = l.benchmark_id AND (l.domain, l.name) = (t.domain, t.name)
    """)
    op.execute("""
        UPDATE task_set SET counts = counts || jsonb_build_object('labels', (
            SELECT coalesce(jsonb_object_agg(name, numbers), '{}') FROM (
                SELECT name, jsonb_object_agg(value, tasks) AS numbers FROM (
                    SELECT l.key AS name, v.value, count(*) AS tasks
                    FROM task t, jsonb_each(t.labels) l, jsonb_array_elements_text(l.value) v
                    WHERE t.task_set_id = task_set.id AND l.key <> 'twin' GROUP BY l.key, v.value
                ) pairs GROUP BY name HAVING count(*) <= 60 OR name = 'domain'
            ) counted
        ))
    """)
    for table in ("rollup", "measure_rollup"):
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT ck_{table}_dimension")
    op.execute("UPDATE run SET rollup_stale = true")


def downgrade() -> None:
    for table in ("rollup", "measure_rollup"):
        op.execute(f"DELETE FROM {table} WHERE dimension NOT IN ({DIMENSIONS})")  # noqa: S608 - fixed words
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT ck_{table}_dimension CHECK (dimension IN ({DIMENSIONS}))")
    op.execute("UPDATE task_set SET counts = counts - 'labels'")
    op.drop_column("task", "labels")
