from typing import Any

import pytest
from pydantic import ValidationError

from backend.domain.model.task import (
    EvaluatorSpec,
    Labels,
    LoadedBenchmark,
    Part,
    PartKind,
    TaskKey,
    Variant,
    check_order,
)
from tests.factories.checkpoints import file_says, part, task_of_parts
from tests.factories.tasks import make_task


class TestEvaluatorSpec:
    def test_evidence_is_in_the_order_of_calls_then_parts(self) -> None:
        two = Part(name="b", kind=PartKind.PHASE, calls=(file_says("/b", "1"), file_says("/b", "2")))
        spec = EvaluatorSpec(calls=(file_says("/end", "done"),), parts=(part("a"), two))
        assert [(call.result or {})["command"][1] for call in spec.all_calls] == ["/end", "/a", "/b", "/b"]
        assert [spec.places(one) for one in spec.parts] == [range(1, 2), range(2, 4)]

    def test_empty_parts_do_not_change_the_hash(self) -> None:
        task = make_task()
        assert "parts" not in task.model_dump(mode="json", exclude_defaults=True)["evaluator"]

    def test_duplicate_part_names_are_refused(self) -> None:
        with pytest.raises(ValidationError, match="the same name"):
            task_of_parts(part("a"), part("a"))

    def test_step_part_cannot_depend_on_an_end_part(self) -> None:
        with pytest.raises(ValidationError, match="depends on one that is not"):
            task_of_parts(part("a", each_step=False), part("b", "a"))


class TestContentHash:
    def test_explicit_default_does_not_change_the_hash(self) -> None:
        task = make_task()
        explicit = task.model_copy(update={"labels": Labels(os="linux", feasible=True)})
        assert task.model_copy(update={"labels": Labels()}).content_hash() == explicit.content_hash()

    def test_task_order_does_not_change_the_benchmark_hash(self) -> None:
        one, two = make_task(), make_task()
        two = two.model_copy(update={"key": TaskKey(domain="files", name="other")})
        hashes = {
            LoadedBenchmark(kind="osworld", tasks=tasks, assets={"a": b"1"}).content_hash()
            for tasks in ((one, two), (two, one))
        }
        assert len(hashes) == 1

    @pytest.mark.parametrize(
        "change",
        [
            {"kind": "waa"},
            {"assets": {"a": b"2"}},
            {"selections": {"small": ("files/a",)}},
            {"variants": (Variant(axis="context", value="none", task=make_task()),)},
        ],
    )
    def test_other_content_changes_the_benchmark_hash(self, change: dict[str, Any]) -> None:
        plain: dict[str, Any] = {"kind": "osworld", "tasks": (make_task(),), "assets": {"a": b"1"}}
        assert LoadedBenchmark(**plain).content_hash() != LoadedBenchmark(**plain | change).content_hash()
        same = LoadedBenchmark(**plain, licence="MIT", source="elsewhere", warnings=("odd",))
        assert same.content_hash() == LoadedBenchmark(**plain).content_hash()


class TestCheckOrder:
    def test_returns_a_topological_order(self) -> None:
        assert check_order({"c": ("a", "b"), "a": (), "b": ("a",)}) == ("a", "b", "c")

    def test_cycle_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"circle: b, c"):
            check_order({"a": (), "b": ("c",), "c": ("b", "a")})

    def test_unknown_name_is_refused(self) -> None:
        with pytest.raises(ValueError, match="'x', which does not exist"):
            check_order({"a": ("x",)})
