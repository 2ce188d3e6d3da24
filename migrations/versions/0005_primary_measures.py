"""Protocols of task sets; WindowsWorld's S_final is the verdict on the end state alone, assertions stand beside it.

Until now an episode with executed assertions had S_final = judge and assertions, and the judge's own verdict as
S_judge. Stored results get what a new evaluation gives: S_final is the former S_judge, S_agree says whether the binding
assertions agree with it, and the score follows S_final unless the agent gave up.

All roll-ups are computed again: intervals are Wilson's by the effective number of trials now.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision: str = "2.0005"
down_revision: str | None = "2.0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ASSERTIONS_HOLD = """LATERAL (
    SELECT bool_and((p ->> 'value')::float >= 1 - 1e-9) AS held FROM jsonb_array_elements(v.parts) p
    WHERE p ->> 'kind' = 'assertion' AND coalesce((p ->> 'weight')::float, 1) > 0
) binding"""
"""Whether all binding assertions of an evaluation `v` hold; null if it has none."""


def upgrade() -> None:
    op.add_column("task_set", sa.Column("protocols", JSONB(), server_default=sa.text("'[]'"), nullable=False))
    op.execute("""
        UPDATE task_set s SET protocols = coalesce((
            SELECT jsonb_agg(DISTINCT coalesce(t.spec #>> '{evaluator,protocol}', ''))
            FROM task t WHERE t.task_set_id = s.id
        ), '[]')
    """)
    op.execute(f"""
        INSERT INTO measure (evaluation_id, name, value)
        SELECT v.id, 'S_agree', CASE WHEN binding.held = (m.value >= 1) THEN 1 ELSE 0 END
        FROM evaluation v JOIN measure m ON m.evaluation_id = v.id AND m.name = 'S_judge', {ASSERTIONS_HOLD}
        WHERE binding.held IS NOT NULL
    """)  # noqa: S608 - fixed words
    op.execute("""
        UPDATE measure f SET value = j.value FROM measure j
        WHERE j.evaluation_id = f.evaluation_id AND j.name = 'S_judge' AND f.name = 'S_final'
    """)
    _score("(SELECT evaluation_id, value FROM measure WHERE name = 'S_judge')")
    op.execute("DELETE FROM measure WHERE name = 'S_judge'")
    op.execute("UPDATE run SET rollup_stale = true")


def downgrade() -> None:
    op.execute("""
        INSERT INTO measure (evaluation_id, name, value)
        SELECT f.evaluation_id, 'S_judge', f.value FROM measure f
        JOIN measure a ON a.evaluation_id = f.evaluation_id AND a.name = 'S_assert' WHERE f.name = 'S_final'
    """)
    op.execute(f"""
        UPDATE measure f SET value = 0 FROM evaluation v, {ASSERTIONS_HOLD}
        WHERE v.id = f.evaluation_id AND f.name = 'S_final' AND binding.held = false
    """)  # noqa: S608 - fixed words
    _score("""(
        SELECT f.evaluation_id, f.value FROM measure f
        JOIN measure j ON j.evaluation_id = f.evaluation_id AND j.name = 'S_judge' WHERE f.name = 'S_final'
    )""")
    op.execute("DELETE FROM measure WHERE name = 'S_agree'")
    op.execute("UPDATE run SET rollup_stale = true")
    op.drop_column("task_set", "protocols")


def _score(finals: str) -> None:
    """Scores of evaluations and episodes from these (evaluation_id, value); a rule such as giving up stays."""
    op.execute(f"""
        UPDATE evaluation v SET score = m.value FROM {finals} m
        WHERE m.evaluation_id = v.id AND v.rule = '' AND v.score IS NOT NULL
    """)  # noqa: S608 - fixed words
    op.execute(f"""
        UPDATE measure s SET value = v.score FROM evaluation v JOIN {finals} m ON m.evaluation_id = v.id
        WHERE s.evaluation_id = v.id AND s.name = 'score' AND v.score IS NOT NULL
    """)  # noqa: S608 - fixed words
    op.execute(f"""
        UPDATE episode e SET score = v.score, solved = v.score >= 1 - 1e-9
        FROM attempt a, evaluation v, {finals} m
        WHERE a.episode_id = e.id AND a.state = 'scored' AND e.state = 'scored'
            AND v.attempt_id = a.id AND v.current AND m.evaluation_id = v.id AND v.score IS NOT NULL
    """)  # noqa: S608 - fixed words
