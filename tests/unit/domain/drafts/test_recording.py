from typing import Any

from backend.domain.drafts.recording import RecordedSolution, to_solution
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.solutions.screen import VisibleScreen, attempt
from backend.domain.solutions.steps import read_solution
from tests.factories.drafts import seen, tree, widget

EDITOR = "shopping.txt - Mousepad"
SAVE = widget("push-button", "Save", at=(10, 10, 40, 20))
TEXT = widget("text", "", "bread", at=(0, 40, 400, 160))
MAIN = widget("frame", EDITOR, at=(0, 0, 400, 200), inner=SAVE + widget("panel", "", at=(0, 40, 400, 160), inner=TEXT))


def click(x: int, y: int, **more: Any) -> Action:
    return Action(type=ActionType.CLICK, x=x, y=y, **more)


def of(*actions: Action, xml: str = "") -> RecordedSolution:
    return to_solution([seen(xml or tree(MAIN), EDITOR, *actions)])


class TestPointing:
    def test_button_click_is_recorded_by_name(self) -> None:
        assert of(click(12, 11)).steps == [{"click": {"role": "push button", "name": "Save", "app": "mousepad"}}]

    def test_in_a_text_the_place_counts(self) -> None:
        assert of(click(100, 80)).steps == [
            {"click": {"role": "text", "app": "mousepad", "at": [0.251, 0.253]}},
        ]

    def test_ambiguous_widget_gets_an_index(self) -> None:
        xml = tree(
            widget(
                "frame", EDITOR, at=(0, 0, 400, 200), inner=SAVE + widget("push-button", "Save", at=(60, 10, 40, 20))
            )
        )
        assert of(click(70, 20), xml=xml).steps[0]["click"]["index"] == 1

    def test_buttons_and_counts(self) -> None:
        verbs = [next(iter(of(one).steps[0])) for one in (click(12, 11, clicks=2), click(12, 11, button="right"))]
        assert verbs == ["double_click", "right_click"]

    def test_actions_that_a_solution_cannot_hold_are_named(self) -> None:
        result = of(click(12, 11, clicks=3), click(900, 900), click(1, 1, button="middle"))
        assert result.steps == []
        assert len(result.problems) == 3

    def test_drag_and_wheel(self) -> None:
        start = Action(type=ActionType.MOVE_TO, x=12, y=11)
        assert of(start, Action(type=ActionType.DRAG_TO, x=100, y=80)).steps[0]["drag"]["to"]["role"] == "text"
        assert of(start, Action(type=ActionType.SCROLL, dy=-3)).steps[0]["scroll"]["dy"] == -3


class TestKeyboard:
    def test_typing_keys_and_giving_up(self) -> None:
        assert of(
            Action(type=ActionType.TYPING, text="milk"),
            Action(type=ActionType.PRESS, keys=("enter",)),
            Action(type=ActionType.HOTKEY, keys=("ctrl", "s")),
            Action(type=ActionType.FAIL),
        ).steps == [{"type": "milk"}, {"press": "enter"}, {"hotkey": ["ctrl", "s"]}, {"fail": "it cannot be done"}]


class TestWaits:
    SAVING = Action(type=ActionType.HOTKEY, keys=("ctrl", "s"))

    def steps(self, *titles: str, others: tuple[str, ...] = ()) -> list[dict[str, Any]]:
        moments = [seen(tree(MAIN), title, self.SAVING) for title in titles[:-1]]
        return to_solution([*moments, seen(tree(MAIN), titles[-1], others=others)]).steps

    def test_saving_waits_for_the_title_mark_to_disappear(self) -> None:
        assert self.steps(f"*{EDITOR}", EDITOR) == [{"hotkey": ["ctrl", "s"]}, {"wait_window_gone": f"*{EDITOR}"}]

    def test_changed_file_is_not_waited_for(self) -> None:
        assert self.steps(EDITOR, f"*{EDITOR}") == [{"hotkey": ["ctrl", "s"]}]

    def test_dialog_is_waited_for(self) -> None:
        moments = [
            seen(tree(MAIN), EDITOR, self.SAVING),
            seen(tree(MAIN), "Save As", self.SAVING, others=[EDITOR]),
            seen(tree(MAIN), EDITOR),
        ]
        assert to_solution(moments).steps == [
            {"hotkey": ["ctrl", "s"]},
            {"wait_window": "Save As"},
            {"hotkey": ["ctrl", "s"]},
            {"wait_window_gone": "Save As"},
            {"wait_window": EDITOR},
        ]

    def test_a_title_that_another_one_contains_is_not_waited_for(self) -> None:
        """Titles match as substrings: "Save" matches "Save As" while that window is open."""
        assert self.steps("Save", "Save As") == [{"hotkey": ["ctrl", "s"]}, {"wait_window": "Save As"}]
        assert self.steps("Files", EDITOR, others=("My Files",))[1:] == [{"wait_window": EDITOR}]

    def test_mark_of_another_window_is_ignored(self) -> None:
        assert self.steps("*a.txt", "a.txt", others=("*a.txt (copy)",)) == [{"hotkey": ["ctrl", "s"]}]

    def test_a_long_title_is_gone_by_what_is_kept_of_it(self) -> None:
        result = self.steps("x" * 150 + " one", "x" * 150 + " two")
        assert result[1:] == [{"wait_window": "x" * 100}]

    def test_looks_in_between_say_nothing(self) -> None:
        moments = [seen(tree(MAIN), EDITOR, self.SAVING), seen(tree(MAIN), "flash"), seen(tree(MAIN), EDITOR)]
        assert to_solution(moments).steps == [{"hotkey": ["ctrl", "s"]}]


class TestPlaysAgain:
    def test_recorded_elements_are_found_on_the_same_screen(self) -> None:
        """Every recorded step can be read as a solution, and a click goes to where the person clicked."""
        actions = [click(100, 80), click(30, 20), Action(type=ActionType.TYPING, text="milk")]
        steps = read_solution(of(*actions).steps)
        screen = VisibleScreen(tree(MAIN), None)
        points = [attempt(step, screen)[1][0] for step in steps]
        assert [(one.x, one.y) for one in points] == [(100, 80), (30, 20), (None, None)]
