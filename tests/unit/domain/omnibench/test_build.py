import pytest

from backend.domain.errors import Invalid
from backend.domain.model.task import Task
from backend.domain.omnibench.build import build, variants
from backend.domain.omnibench.task_file import GraphTask, Pool, read_task
from tests.error_codes import raises_code
from tests.factories.omnibench import LIST, small_pool, subtask, task_json

POOL = small_pool()


def built(nodes: list[str], edges: dict[str, list[str]], pool: Pool = POOL) -> tuple[GraphTask, Task]:
    raw = task_json(nodes, edges, task_intent="Be ready.", task_instruction_low="Type.", task_instruction_orders=["B."])
    result = read_task(raw, "7", pool)
    return result, build(result, pool, raw)


class TestBuild:
    def test_a_node_is_a_part_that_is_looked_at_after_each_step(self) -> None:
        _, task = built(["write", "pack"], {"write": ["pack"]})
        first, second = task.evaluator.parts
        assert (first.name, first.app, first.after, first.each_step) == ("write", "mousepad", (), True)
        assert first.text == f"Write 'milk' into '{LIST}'."
        assert [call.func for call in first.calls] == ["check_keyboard_types", "check_file_exists"]
        assert (second.after, [call.func for call in second.calls]) == (("write",), ["check_expression"])
        assert (task.evaluator.protocol, task.evaluator.patience, task.max_steps) == ("omnibench", 20, 200)
        assert (task.evaluator.calls, task.dialect) == ((), "omnibench")

    def test_built_task_has_key_and_labels(self) -> None:
        _, task = built(["write", "pack", "draw"], {"write": ["pack"]})
        assert str(task.key) == "mixed/7"
        assert (task.labels.apps, task.labels.requires, task.labels.os) == (
            ("mousepad", "xarchiver", "drawing"),
            ("drawing", "mousepad", "xarchiver"),
            "linux",
        )
        assert dict(task.labels.extra) == {
            "complexity": {
                "dependency": "easy",
                "instruction": "medium",
                "knowledge": "medium",
                "hierarchy": "easy",
                "branch": "easy",
            },
            "graph": {"dependency": 1, "instruction": 3, "knowledge": 3, "hierarchy": 2, "branch": 2},
            "categories": ["Multimedia Editing", "Note Management", "Utility Tools"],
            "scenario": "Mixed",
            "intent": "Be ready.",
        }

    def test_files_made_by_an_earlier_node_are_not_set_up(self) -> None:
        _, task = built(["write", "pack"], {"write": ["pack"]})
        assert [step.type for step in task.setup] == ["create_folder"]
        _, alone = built(["pack"], {})
        assert [dict(step.parameters)["path"] for step in alone.setup] == [LIST, "/home/user/Documents"]

    def test_the_solution_stays_in_an_application_where_it_can(self) -> None:
        _, task = built(["write", "pack", "spell"], {"write": ["pack", "spell"]})
        assert task.oracle == ({"type": "milk"}, {"hotkey": ["ctrl", "s"]}, {"press": "enter"})
        pool = {**POOL, "spell": subtask("spell")}
        assert built(["write", "spell"], {}, pool)[1].oracle is None

    @pytest.mark.parametrize(
        ("wrong", "words"),
        [
            (subtask("spell", evaluation=""), "no evaluation"),
            (subtask("spell", evaluation="check_mind('x')"), "spell: evaluation: there is no check"),
            (subtask("spell", OS="windows"), "different systems"),
        ],
    )
    def test_tasks_without_a_check_are_rejected(self, wrong: object, words: str) -> None:
        with raises_code(Invalid, "invalid_subtask", mentions=words):
            built(["write", "spell"], {}, {**POOL, "spell": wrong})  # type: ignore[dict-item]


class TestVariants:
    def test_detail_intent_and_order(self) -> None:
        graph, task = built(["write"], {})
        result = {(one.axis, one.value): one.task.instruction for one in variants(task, graph)}
        assert result == {
            ("detail", "low"): "Type.",
            ("intent", "given"): "Do it all.\n\nWhat this is for: Be ready.",
            ("order", "2"): "B.",
        }
