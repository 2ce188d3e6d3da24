"""Worked examples of each form."""

import json

from backend.domain.training.chat import SYSTEM, Chat
from backend.domain.training.omnibench_subtasks import OmnibenchSubtasks
from backend.domain.training.omnibench_tasks import OmnibenchTasks
from backend.domain.training.steps import Steps
from backend.domain.training.trajectories import Trajectories
from tests.factories.recorded import click, picture, recorded, step, task

DIAMOND: dict[str, tuple[str, ...]] = {"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c")}


class TestSteps:
    def test_one_row_each_the_last_is_the_state_that_was_left(self) -> None:
        rows = list(Steps().rows(recorded()))
        assert [(row["index"], row["final"], len(row["actions"])) for row in rows] == [
            (0, False, 1),
            (1, False, 2),
            (2, True, 0),
        ]
        assert rows[0]["actions"] == [{"type": "CLICK", "x": 12, "y": 12}]
        assert rows[1]["agent_view"] == picture("f").path
        assert rows[0]["level"] == "L2"

    def test_both_pictures_come_along(self) -> None:
        assert picture("f") in set(Steps().pictures(recorded()))


class TestTrajectories:
    def test_has_provenance_and_parts(self) -> None:
        (row,) = Trajectories().rows(recorded(task=task(DIAMOND), reached={"a": 0, "b": None}))
        assert row["source"] == {"run": "r", "episode": "e"}
        assert row["parts"][0] == {"name": "a", "kind": "node", "value": 1.0, "step": 0, "app": ""}
        assert len(row["steps"]) == 3


class TestChat:
    def test_chat_row_is_a_conversation(self) -> None:
        (row,) = Chat().rows(recorded())
        system, first, said, second, last = row["messages"]
        assert system == {"role": "system", "content": [{"type": "text", "text": SYSTEM}]}
        assert first["content"] == [
            {"type": "text", "text": "Save the report."},
            {"type": "image", "image": picture("0").path},
        ]
        thought, action = said["content"][0]["text"].split("\n")
        assert (thought, json.loads(action)) == ("I save it.", {"type": "CLICK", "x": 12, "y": 12})
        assert [part["type"] for part in second["content"]] == ["image"]
        assert [json.loads(line)["type"] for line in last["content"][0]["text"].split("\n")] == ["TYPING", "DONE"]

    def test_steps_without_an_action_are_not_turns(self) -> None:
        (row,) = Chat().rows(recorded(step(0, invalid="what?"), step(1, click())))
        assert len(row["messages"]) == 3
        assert row["messages"][1]["content"][0]["text"] == "Save the report."

    def test_refuses_one_without_turns(self) -> None:
        assert Chat().refuses(recorded(step(0, final=True))) == "no step with a picture and an action"


class TestOmnibenchTasks:
    def test_order_and_number(self) -> None:
        steps = [step(index, click()) for index in range(5)]
        made = recorded(*steps, task=task(DIAMOND), reached={"a": 0, "b": 3, "c": 1, "d": 4})
        (row,) = OmnibenchTasks().rows(made)
        assert row["topological_order"] == ["a", "c", "b", "d"]
        assert row["trajectory_id"] == "12 (1)"
        assert row["task_id"] == "12"
        assert len(row["observations"]) == len(row["actions"]) == 5

    def test_an_unfinished_graph_has_no_number(self) -> None:
        (row,) = OmnibenchTasks().rows(recorded(task=task(DIAMOND), reached={"a": 0, "b": None}))
        assert (row["trajectory_id"], row["topological_order"]) == ("12", ["a"])

    def test_of_one_step_as_the_graph_has_them(self) -> None:
        (row,) = OmnibenchTasks().rows(recorded(task=task(DIAMOND), reached={"d": 0, "c": 0, "b": 0, "a": 0}))
        assert row["topological_order"] == ["a", "b", "c", "d"]

    def test_parts_of_another_graph_have_no_number(self) -> None:
        reached: dict[str, int | None] = {"w": 0, "x": 0, "y": 0, "z": 0}
        (row,) = OmnibenchTasks().rows(recorded(task=task(DIAMOND), reached=reached))
        assert row["trajectory_id"] == "12"

    def test_omnibench_row_has_the_tasks_intent(self) -> None:
        (row,) = OmnibenchTasks().rows(recorded(task=task({"a": ()}, raw={"task_intent": "Report"}), reached={"a": 0}))
        assert row["intent"] == "Report"

    def test_refuses_a_task_without_parts(self) -> None:
        assert OmnibenchTasks().refuses(recorded()) == "the task has no graph of subtasks"


class TestOmnibenchSubtasks:
    def test_pieces_between_the_steps_that_reached_something(self) -> None:
        steps = [step(index, click(index)) for index in range(5)]
        made = recorded(*steps, task=task(DIAMOND), reached={"a": 1, "b": 3, "c": 3, "d": None})
        rows = list(OmnibenchSubtasks().rows(made))
        assert [(row["subtask_id"], [a["args"] for a in row["actions"]], len(row["observations"])) for row in rows] == [
            ("a", [{"button": "left", "double": False}] * 2, 2),
            ("b", [{"button": "left", "double": False}] * 2, 2),
            ("c", [{"button": "left", "double": False}] * 2, 2),
        ]
        assert rows[1]["observations"] == [picture("2").path, picture("3").path]
        assert [row["instruction"] for row in rows] == ["do a", "do b", "do c"]

    def test_a_task_without_parts_is_one_subtask(self) -> None:
        (row,) = OmnibenchSubtasks().rows(recorded())
        assert (row["subtask_id"], row["instruction"]) == ("12", "Save the report.")

    def test_refuses_one_that_reached_nothing(self) -> None:
        assert OmnibenchSubtasks().refuses(recorded(score=0.0)) == "no subtask was reached"
