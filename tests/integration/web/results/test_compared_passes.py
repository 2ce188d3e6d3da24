from backend.domain.errors import FailureClass
from backend.services.results.views.compared_results import ComparedResults
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
