"""Migration 2.0005 makes stored S_final the judge's verdict, as a new evaluation does."""

import json

from sqlalchemy import select, text

from backend.db.migrate import downgrade, upgrade
from backend.db.models import Episode, Evaluation, Measure, Run, TaskSet
from backend.db.session import make_engine
from tests.factories.measured import benchmark_of, graph_task
from tests.factories.records import World, world
from tests.factories.tasks import make_task


def change(url: str, statement: str) -> None:
    engine = make_engine(url)
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


def scored(installation: World) -> None:
    """A run with one scored episode."""
    installation.benchmark()
    worker = installation.worker()
    installation.submit()
    installation.score(installation.must_claim(worker), 0.5)


class TestPrimaryMeasures:
    ASSERTED = json.dumps([{"kind": "assertion", "weight": 1.0, "value": 0.0}])

    def measures(self, url: str) -> tuple[dict[str, float], list[float | None], list[bool | None], bool]:
        with world(url) as installation, installation.work() as session:
            (evaluation,) = session.scalars(select(Evaluation).where(Evaluation.current)).all()
            values = {row.name: row.value for row in session.scalars(select(Measure))}
            scored = session.scalars(select(Episode).where(Episode.state == "scored")).all()
            stale = all(session.get_one(Run, episode.run_id).rollup_stale for episode in scored)
            return values, [evaluation.score, *(row.score for row in scored)], [row.solved for row in scored], stale

    def test_an_overruled_judge_counts_and_disagrees(self, fresh_database: str) -> None:
        with world(fresh_database) as installation:
            scored(installation)
            installation.roll_up()
        downgrade(fresh_database, "2.0004")
        change(fresh_database, f"UPDATE evaluation SET score = 0, parts = '{self.ASSERTED}'")  # noqa: S608 - fixed words
        change(fresh_database, "UPDATE episode SET score = 0, solved = false WHERE state = 'scored'")
        change(fresh_database, "DELETE FROM measure WHERE name <> 'score'")
        change(fresh_database, "UPDATE measure SET value = 0")
        for name, value in (("S_final", 0), ("S_judge", 1), ("S_assert", 0)):
            change(
                fresh_database,
                f"INSERT INTO measure SELECT id, '{name}', {value} FROM evaluation WHERE current",  # noqa: S608 - fixed words
            )
        upgrade(fresh_database)
        new = {"score": 1.0, "S_final": 1.0, "S_assert": 0.0, "S_agree": 0.0}
        assert self.measures(fresh_database) == (new, [1.0, 1.0], [True], True)
        downgrade(fresh_database, "2.0004")
        upgrade(fresh_database)
        assert self.measures(fresh_database) == (new, [1.0, 1.0], [True], True)

    def test_an_agent_that_gave_up_keeps_no_score(self, fresh_database: str) -> None:
        with world(fresh_database) as installation:
            scored(installation)
        downgrade(fresh_database, "2.0004")
        change(fresh_database, "UPDATE evaluation SET score = 0, rule = 'gave up'")
        change(fresh_database, "UPDATE episode SET score = 0, solved = false WHERE state = 'scored'")
        change(fresh_database, "UPDATE measure SET name = 'S_judge', value = 1 WHERE name = 'score'")
        change(fresh_database, "INSERT INTO measure SELECT id, 'S_final', 0 FROM evaluation WHERE current")
        upgrade(fresh_database)
        values, scores, _, _ = self.measures(fresh_database)
        assert (values["S_final"], "S_judge" in values, scores) == (1.0, False, [0.0, 0.0])

    def test_task_sets_know_their_protocols(self, fresh_database: str) -> None:
        with world(fresh_database) as installation:
            installation.benchmark(benchmark_of(graph_task("g0", 0, 2), make_task()))
        downgrade(fresh_database, "2.0004")
        upgrade(fresh_database)
        with world(fresh_database) as installation, installation.work() as session:
            assert session.scalars(select(TaskSet.protocols)).all() == [["", "omnibench"]]
