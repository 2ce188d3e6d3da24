"""Migration 2.0008 divides configurations by everything that says who acts, and names them."""

from sqlalchemy import select, text

from backend.db.migrate import downgrade, upgrade
from backend.db.models import AgentConfiguration, Run
from backend.db.session import make_engine
from tests.factories.records import world

AS_BEFORE = (
    "UPDATE run SET agent_configuration_id = (SELECT min(id::text)::uuid FROM agent_configuration)",
    "DELETE FROM agent_configuration WHERE id NOT IN (SELECT agent_configuration_id FROM run)",
    "UPDATE agent_configuration SET params_hash = 'of the parameters'",
)


def test_stored_runs_get_their_configurations(fresh_database: str) -> None:
    with world(fresh_database) as installation:
        installation.benchmark()
        installation.worker()
        same = [installation.submit("random").id for _ in range(2)]
        other = installation.submit("random", image={"scale": 0.5}).id
        before = {row.id: (row.title, row.identity_hash) for row in _rows(fresh_database)}
    downgrade(fresh_database, "2.0007")
    engine = make_engine(fresh_database)
    with engine.begin() as connection:  # As a release before: one row per agent and parameters.
        for statement in AS_BEFORE:
            connection.execute(text(statement))
    engine.dispose()
    upgrade(fresh_database)
    with world(fresh_database) as installation, installation.work() as session:
        used = {run.id: run.agent_configuration_id for run in session.scalars(select(Run))}
        assert used[same[0]] == used[same[1]] != used[other]
        rows = session.scalars(select(AgentConfiguration)).all()
        assert sorted((row.title, row.identity_hash) for row in rows) == sorted(before.values())
        assert sorted(row.title for row in rows) == ["random", "random · image x0.5"]


def _rows(url: str) -> list[AgentConfiguration]:
    with world(url) as installation, installation.work() as session:
        return list(session.scalars(select(AgentConfiguration)))
