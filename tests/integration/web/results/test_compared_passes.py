"""Losses and costs of compared sides, several passes of each pooled."""

import numpy as np
from sqlalchemy import select

from backend.db.models import Episode, Task
from backend.domain.errors import FailureClass
from backend.domain.model.trajectory import Usage
from backend.services.benchmarks.quarantine import quarantine_task
from backend.services.results.views.compared_results import ComparedResults
from tests.factories.costs import spend
from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task


def test_partial_run_does_not_count_as_a_pass(installation: World) -> None:
    """So a loss that one other run made up for is none, whatever a third run repeats."""
    worker, sides = installation.worker("w2"), []
    installation.benchmark(make_benchmark(*(make_task("files", name) for name in "abcde")), name="five")
    for tasks in (("files/*",), ("files/a",), ("files/b",), ("files/b",)):
        sides.append(installation.submit("random", "five", tasks=tasks).id)
        for _ in range(5 if len(sides) == 1 else 1):
            claim = installation.must_claim(worker)
            if len(sides) == 1 and claim.task.key.name == "a":
                installation.lose(claim, FailureClass.EVALUATOR)
            else:
                installation.score(claim)
    with installation.work() as session:
        for group, lost in ((sides[:3], 0), (sides[:1], 1)):
            assert ComparedResults(session, [group, sides[3:]]).run(0)["lost"] == lost


def test_lost_episodes_count_as_on_a_board(installation: World) -> None:
    """A loss that was repeated and lost again is one, and one of a task in quarantine is none."""
    worker, sides = installation.worker("w2"), []
    installation.benchmark(make_benchmark(*(make_task("files", name) for name in "abc")), name="three")
    for tasks in (("files/*",), ("files/a",), ("files/*",)):
        sides.append(installation.submit("random", "three", tasks=tasks).id)
        while claim := installation.claim(worker):
            if claim.task.key.name == "c" or len(sides) == 3:
                installation.score(claim)
            else:
                installation.lose(claim, FailureClass.EVALUATOR)
    with installation.work() as session:
        sides_of = [sides[:2], sides[2:]]
        assert ComparedResults(session, sides_of).run(0)["lost"] == 2
        _, actor = installation.who(session)
        task_id = session.scalars(
            select(Task.id).join(Episode).where(Task.name == "b", Episode.run_id == sides[0])
        ).one()
        quarantine_task(session, task_id, "its check is wrong", actor)
        assert ComparedResults(session, sides_of).run(0)["lost"] == 1


def test_tokens_without_a_price_cost_nobody_knows_what(installation: World) -> None:
    """Programs outside report tokens, but neither calls nor a price."""
    worker, runs = installation.worker("w2"), []
    for usage in (Usage(input_tokens=900), Usage(calls=1, input_tokens=900, usd=0.25)):
        runs.append(installation.submit("random", tasks=("files/a",)).id)
        spend(installation, installation.must_claim(worker), [usage])
    with installation.work() as session:
        results = ComparedResults(session, [[run] for run in runs])
        assert [[None if np.isnan(cost) else cost for cost in side] for side in results.columns("usd")] == [
            [None],
            [0.25],
        ]
