from backend.domain.benchmarks import differences
from backend.domain.benchmarks._diff import MOST
from backend.domain.model.task import Labels, SetupStep
from tests.factories.starter_tasks import make_task

TASK = make_task()


class TestDifferences:
    def test_equal_tasks_are_left_out(self) -> None:
        assert differences({"a/b": TASK}, {"a/b": make_task()}) == []

    def test_new_and_missing_tasks(self) -> None:
        removed, added = differences({"a/a": TASK}, {"a/b": TASK})
        assert (removed.task, removed.kind, removed.scores) == ("a/a", "removed", True)
        assert (added.task, added.kind, added.scores) == ("a/b", "added", False)

    def test_the_place_and_both_values(self) -> None:
        (result,) = differences({"a/a": TASK}, {"a/a": TASK.model_copy(update={"instruction": "Write it."})})
        assert (result.kind, result.scores) == ("changed", True)
        assert [change.model_dump() for change in result.changes] == [
            {"path": "instruction", "old": '"Write done."', "new": '"Write it."'}
        ]

    def test_labels_alone_touch_no_score(self) -> None:
        (result,) = differences({"a/a": TASK}, {"a/a": TASK.model_copy(update={"labels": Labels(level="L2")})})
        assert (result.changes[0].path, result.scores) == ("labels.level", False)

    def test_inside_lists_of_one_length(self) -> None:
        one, two = (make_task(setup=(SetupStep(type="sleep", parameters={"seconds": n}),)) for n in (1, 2))
        (result,) = differences({"a/a": one}, {"a/a": two})
        assert [change.path for change in result.changes] == ["setup.0.parameters.seconds"]

    def test_the_raw_file_does_not_say_it_twice(self) -> None:
        assert differences({"a/a": TASK}, {"a/a": TASK.model_copy(update={"raw": {"id": "x"}})}) == []

    def test_changes_are_limited(self) -> None:
        steps = [tuple(SetupStep(type="sleep", parameters={"seconds": n + k}) for n in range(200)) for k in (0, 1)]
        (result,) = differences({"a/a": make_task(setup=steps[0])}, {"a/a": make_task(setup=steps[1])})
        assert len(result.changes) == MOST
