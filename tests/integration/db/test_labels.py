"""Migration 2.0007 gives stored tasks the labels that an import gives them, as far as they are in the database."""

from sqlalchemy import select

from backend.db.migrate import downgrade, upgrade
from backend.db.models import Rollup, Run, Task, TaskSet
from backend.domain.model.task import Labels
from backend.services.benchmarks.labels import label_counts
from tests.factories.measured import benchmark_of, graph_task
from tests.factories.records import World, world
from tests.factories.tasks import make_task

EXTRA = {
    "group": "Office", "persona": "Designer", "operations": ["scale", "crop"], "network": ["assets"],
    "software": [{"name": "Excel"}, {"name": "Word"}], "capability": "PP", "twin": "files/a",
}  # fmt: skip
FROM_IMPORT = {"network", "structure"}
"""Labels that only an import knows."""


def stored(installation: World) -> tuple[dict[str, dict[str, list[str]]], dict[str, dict[str, int]]]:
    """Labels of every task, and their counts in the task set, without those that only an import knows."""
    with installation.work() as session:
        tasks = {task.key: task.labels for task in session.scalars(select(Task))}
        counts = label_counts(session.scalars(select(TaskSet)).one())
    return (
        {
            key: {name: each for name, each in labels.items() if name not in FROM_IMPORT}
            for key, labels in tasks.items()
        },
        {name: values for name, values in counts.items() if name not in FROM_IMPORT},
    )


def test_up_and_down_on_a_filled_database(fresh_database: str) -> None:
    plain = make_task("editor", "plain", infeasible=True, level="L2", apps=("word", "excel"))
    rich = make_task("files", "rich").model_copy(update={"labels": Labels(extra=EXTRA, difficulty="hard")})
    with world(fresh_database) as installation:
        installation.benchmark(benchmark_of(plain, rich, graph_task("graph", 1)))
        installation.worker()
        installation.submit()
        installation.roll_up()
        before = stored(installation)
    downgrade(fresh_database, "2.0006")
    upgrade(fresh_database)
    with world(fresh_database) as installation:
        assert stored(installation) == before
        assert before[0]["files/rich"]["operation"] == ["scale", "crop"]
        with installation.work() as session:
            assert session.scalars(select(Run)).one().rollup_stale
            assert not session.scalars(select(Rollup).where(Rollup.dimension == "persona")).all()
        assert installation.roll_up() == 1
        with installation.work() as session:
            (cell,) = session.scalars(select(Rollup).where(Rollup.dimension == "persona")).all()
            assert (cell.key, cell.tasks) == ("Designer", 1)
