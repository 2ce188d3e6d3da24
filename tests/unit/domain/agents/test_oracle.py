from typing import Any

import pytest

from backend.domain.agents.oracle import Oracle
from backend.domain.errors import AgentFailed, Invalid
from backend.domain.model.run import ScreenSize
from backend.domain.model.task import MetricCall
from backend.domain.model.trajectory import ActionType, Decision, Observation, Window
from backend.domain.ports.agent import AgentContext
from backend.domain.solutions.steps import read_solution
from tests.error_codes import raises_code
from tests.factories.starter_tasks import make_task

BUTTON = '<push-button name="{}" st:showing="true" st:sensitive="true" cp:screencoord="(100, 50)" cp:size="(40, 20)"/>'


def tree(*widgets: str, title: str = "Editor") -> str:
    return (
        f'<desktop-frame xmlns:st="s" xmlns:cp="c"><application name="editor"><frame name="{title}" st:active="true">'
        f"{''.join(widgets)}</frame></application></desktop-frame>"
    )


def oracle(*steps: dict[str, Any], infeasible: bool = False) -> Oracle:
    task = make_task(*([MetricCall(func="infeasible")] if infeasible else []), oracle=steps or None)
    made = Oracle(Oracle.Params())
    made.reset(AgentContext(instruction="x", screen=ScreenSize(), max_steps=10, seed=0, task=task))
    return made


def seen(*widgets: str, windows: tuple[Window, ...] | None = None) -> Observation:
    return Observation(index=0, a11y_tree=tree(*widgets), windows=windows)


def kinds(decision: Decision) -> list[ActionType]:
    return [action.type for action in decision.actions]


class TestAct:
    def test_clicks_the_middle_of_the_widget(self) -> None:
        action = oracle({"click": {"role": "push button", "name": "Save"}}).act(seen(BUTTON.format("Save"))).actions[0]
        assert (action.type, action.x, action.y) == (ActionType.CLICK, 120, 60)

    def test_clicks_where_the_selector_says(self) -> None:
        action = oracle({"click": {"name": "Save", "at": [0, 0]}}).act(seen(BUTTON.format("Save"))).actions[0]
        assert (action.x, action.y) == (100, 50)

    @pytest.mark.parametrize(
        ("step", "clicks", "button"),
        [("double_click", 2, "left"), ("right_click", 1, "right")],
    )
    def test_double_and_right_clicks_are_performed(self, step: str, clicks: int, button: str) -> None:
        action = oracle({step: {"name": "Save"}}).act(seen(BUTTON.format("Save"))).actions[0]
        assert (action.clicks, action.button) == (clicks, button)

    def test_waits_for_what_is_not_there_yet(self) -> None:
        agent = oracle({"click": {"name": "Save"}})
        assert kinds(agent.act(seen())) == [ActionType.WAIT]
        assert kinds(agent.act(seen(BUTTON.format("Save")))) == [ActionType.CLICK]

    def test_a_widget_that_is_not_shown_is_not_there(self) -> None:
        hidden = BUTTON.format("Save").replace('st:showing="true"', "")
        assert kinds(oracle({"click": {"name": "Save"}}).act(seen(hidden))) == [ActionType.WAIT]

    def test_gives_up_after_its_patience(self) -> None:
        agent = oracle({"click": {"name": "Save"}, "patience": 2})
        for _ in range(2):
            agent.act(seen())
        with raises_code(AgentFailed, "oracle_step_timeout", mentions=("1", 'Click element "Save"', "2", "Editor")):
            agent.act(seen())

    def test_types_without_looking_again(self) -> None:
        agent = oracle({"click": {"name": "Save"}}, {"type": "a"}, {"press": "enter"}, {"hotkey": ["ctrl", "s"]})
        done = agent.act(seen(BUTTON.format("Save")))
        assert kinds(done) == [ActionType.CLICK, ActionType.TYPING, ActionType.PRESS, ActionType.HOTKEY]

    def test_looks_again_before_the_next_click(self) -> None:
        agent = oracle({"click": {"name": "Save"}}, {"click": {"name": "Save"}})
        assert kinds(agent.act(seen(BUTTON.format("Save")))) == [ActionType.CLICK]

    def test_says_done_when_all_is_seen(self) -> None:
        agent = oracle({"wait": {"name": "Save"}}, {"wait_gone": {"name": "Open"}})
        assert kinds(agent.act(seen(BUTTON.format("Save")))) == [ActionType.DONE]

    def test_waits_until_a_widget_is_gone(self) -> None:
        agent = oracle({"wait_gone": {"name": "Save"}})
        assert kinds(agent.act(seen(BUTTON.format("Save")))) == [ActionType.WAIT]

    def test_a_window_counts_when_it_is_active(self) -> None:
        agent = oracle({"wait_window": "Save As"})
        behind = (Window(title="Save As"), Window(title="Editor", active=True))
        assert kinds(agent.act(seen(windows=behind))) == [ActionType.WAIT]
        assert kinds(agent.act(seen(windows=(Window(title="Save As", active=True),)))) == [ActionType.DONE]

    def test_tree_is_used_without_a_window_list(self) -> None:
        assert kinds(oracle({"wait_window": "Edit"}).act(seen())) == [ActionType.DONE]
        assert kinds(oracle({"wait_window_gone": "Edit"}).act(seen())) == [ActionType.WAIT]

    def test_drags_from_one_widget_to_another(self) -> None:
        target = BUTTON.format("B").replace("(100, 50)", "(300, 50)")
        done = oracle({"drag": {"from": {"name": "A"}, "to": {"name": "B"}}}).act(seen(BUTTON.format("A"), target))
        assert [(a.type, a.x) for a in done.actions] == [(ActionType.MOVE_TO, 120), (ActionType.DRAG_TO, 320)]

    def test_scrolls_over_a_widget(self) -> None:
        done = oracle({"scroll": {"at": {"name": "A"}, "dy": -3}}).act(seen(BUTTON.format("A")))
        assert [(a.type, a.dy) for a in done.actions] == [(ActionType.MOVE_TO, 0), (ActionType.SCROLL, -3)]

    def test_the_last_of_several(self) -> None:
        other = BUTTON.format("A").replace("(100, 50)", "(300, 50)")
        action = oracle({"click": {"name": "A", "index": -1}}).act(seen(BUTTON.format("A"), other)).actions[0]
        assert action.x == 320

    def test_says_that_an_infeasible_task_cannot_be_done(self) -> None:
        agent = oracle({"wait_gone": {"name": "Bold"}}, {"fail": "no such menu"}, infeasible=True)
        done = agent.act(seen())
        assert kinds(done) == [ActionType.FAIL]
        assert done.actions[0].note == "no such menu"

    def test_says_it_also_without_a_solution(self) -> None:
        assert kinds(oracle(infeasible=True).act(seen())) == [ActionType.FAIL]

    @pytest.mark.parametrize("broken", [None, "<a"])
    def test_without_a_readable_tree_it_fails(self, broken: str | None) -> None:
        with pytest.raises(AgentFailed):
            oracle({"press": "esc"}).act(Observation(index=0, a11y_tree=broken))


class TestReset:
    def test_task_without_a_solution_fails(self) -> None:
        with raises_code(AgentFailed, "oracle_missing"):
            oracle()

    def test_without_the_task(self) -> None:
        with raises_code(AgentFailed, "task_not_given"):
            Oracle(Oracle.Params()).reset(AgentContext(instruction="x", screen=ScreenSize(), max_steps=1, seed=0))


class TestReadSolution:
    @pytest.mark.parametrize(
        ("step", "where"),
        [
            ({}, "oracle.0"),
            ({"click": {"name": "a"}, "press": "b"}, "oracle.0"),
            ({"klick": {"name": "a"}}, "oracle.0.klick"),
            ({"click": {"title": "a"}}, "oracle.0.click.title"),
            ({"press": "a", "patience": 0}, "oracle.0.patience"),
            ("click", "oracle.0"),
        ],
    )
    def test_a_wrong_step_is_named(self, step: Any, where: str) -> None:
        with pytest.raises(Invalid) as wrong:
            read_solution([step])
        assert wrong.value.path == where
