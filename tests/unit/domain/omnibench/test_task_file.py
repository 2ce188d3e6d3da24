from typing import Any

import pytest

from backend.domain.errors import Invalid
from backend.domain.omnibench.task_file import read_task
from tests.error_codes import raises_code
from tests.factories.omnibench import small_pool, subtask, task_json

POOL = small_pool()


class TestReadTask:
    def test_published_form_of_a_task_is_read(self) -> None:
        raw = task_json(["write", "pack"], {"write": ["pack"], "pack": []}, task_intent="Tidy up.")
        result = read_task(raw, "1", POOL)
        assert result.graph.after == {"write": (), "pack": ("write",)}
        assert result.graph.node("write").values == POOL["write"].available_parameters[0]
        assert (result.intent, result.low, result.orders) == ("Tidy up.", "", ())

    def test_a_list_with_an_empty_list_is_not_a_successor(self) -> None:
        raw: dict[str, Any] = task_json(["write", "pack"], {"write": ["pack"], "pack": [[]]})  # type: ignore[list-item]
        assert read_task(raw, "1", POOL).graph.after == {"write": (), "pack": ("write",)}

    def test_our_own_keys(self) -> None:
        raw = task_json(["one", "two"], {"one": ["two"]}, task_instruction_low="Click.", task_instruction_orders=["B."])
        raw["dag"] |= {
            "subtasks": {"one": "write", "two": "write"},
            "parameters": {"two": {"words": "tea", "txt_path": "/home/user/b.txt"}},
        }
        result = read_task(raw, "1", POOL)
        assert [node.subtask for node in result.graph.nodes] == ["write", "write"]
        assert result.graph.node("two").values["words"] == "tea"
        assert (result.low, result.orders) == ("Click.", ("B.",))
        assert read_task(result.as_json(), "1", POOL) == result

    def test_a_parameter_that_only_some_sets_have_may_be_lacking(self) -> None:
        sets = ({"words": "a", "size": 1}, {"words": "b"})
        raw = task_json(["sing"], {})
        raw["dag"]["parameters"] = {"sing": {"words": "c"}}
        result = read_task(raw, "1", {"sing": subtask("sing", available_parameters=sets)})
        assert result.graph.node("sing").values == {"words": "c"}

    @pytest.mark.parametrize(
        ("change", "code", "path", "name"),
        [
            ({"task_instruction": ""}, "invalid_subtask", "task_instruction", ""),
            ({"dag": {"nodes": [], "edges": {}}}, "invalid_subtask", "dag.nodes", ""),
            ({"dag": {"nodes": ["write"], "edges": {"write": ["pack"]}}}, "invalid_subtask", "dag", "'pack'"),
            ({"dag": {"nodes": ["sing"], "edges": {}}}, "unknown_subtask", "dag.nodes", "'sing'"),
            (
                {"dag": {"nodes": ["write", "pack"], "edges": {"write": ["pack"], "pack": ["write"]}}},
                "invalid_subtask",
                "dag",
                "pack",
            ),
            ({"dag": {"nodes": ["write", "write"], "edges": {}}}, "invalid_subtask", "dag", "name"),
            (
                {"dag": {"nodes": ["a", "b"], "subtasks": {"a": "draw", "b": "draw"}}},
                "invalid_subtask",
                "dag",
                "subtask",
            ),
            ({"dag": 1}, "invalid_subtask", "dag", ""),
            (
                {"dag": {"nodes": ["write"], "parameters": {"write": {"words": "x"}}}},
                "invalid_subtask",
                "dag.parameters.write",
                "'txt_path'",
            ),
            ({"trial": {"subtask": "sing"}}, "unknown_subtask", "trial.subtask", "'sing'"),
            ({"trial": {"subtask": "draw", "values": {}}}, "invalid_subtask", "trial.values", "'img_path'"),
        ],
    )
    def test_mistakes_are_named(self, change: dict[str, Any], code: str, path: str, name: str) -> None:
        with raises_code(Invalid, code, path=path, mentions=name):
            read_task(task_json(["write"], {}) | change, "1", POOL)


class TestCanonical:
    def test_the_order_of_nodes_and_their_names_do_not_count(self) -> None:
        first = read_task(task_json(["write", "pack"], {"write": ["pack"]}), "1", POOL).graph
        raw = task_json(["x", "write"], {"write": ["x"]})
        raw["dag"]["subtasks"] = {"x": "pack"}
        assert first.canonical() == read_task(raw, "2", POOL).graph.canonical()

    def test_edges_and_parameters_do(self) -> None:
        first = read_task(task_json(["write", "pack"], {"write": ["pack"]}), "1", POOL).graph
        loose = read_task(task_json(["write", "pack"], {}), "1", POOL).graph
        raw = task_json(["write", "pack"], {"write": ["pack"]})
        raw["dag"]["parameters"] = {"write": dict(POOL["write"].available_parameters[1])}
        assert len({first.canonical(), loose.canonical(), read_task(raw, "1", POOL).graph.canonical()}) == 3
