"""Sets of demonstrations: the published forms, and ours."""

from pathlib import Path

import pytest

from backend.domain import registry
from backend.domain.demonstrations.history import reply_of
from backend.domain.demonstrations.pictures import PART, picture_of, tree_of
from backend.domain.demonstrations.read import read_set
from backend.domain.errors import Invalid
from backend.domain.model.demonstration import SetForm
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.registry import PluginKind
from backend.domain.screen.tree import nodes
from backend.domain.studies.offline_scores import step_score
from tests.error_codes import raises_code
from tests.factories import demonstrations as factory


class TestMind2Web:
    def test_actions_with_a_right_element_become_steps(self, tmp_path: Path) -> None:
        (one,) = read_set(SetForm.MIND2WEB, factory.mind2web(tmp_path))
        assert (one.id, one.labels, len(one.steps)) == ("t1", {"website": "shop", "domain": "Shopping"}, 2)
        first, second = one.steps
        assert (first.image, first.reference.operation, first.reference.value) == (
            "screenshots/u1.png",
            "TYPE",
            "red shoes",
        )
        click, typing = (each.action for each in first.reference.actions)
        assert (click.x, click.y, typing.text) == (200, 65, "red shoes")
        assert [each.role for each in first.elements] == ["entry", "link"]
        assert (second.words, second.reference.operation) == ("[combobox] size -> SELECT: 42", "SELECT")

    def test_a_missing_screenshot_is_named(self, tmp_path: Path) -> None:
        factory.mind2web(tmp_path)
        (tmp_path / "screenshots/u2.png").unlink()
        with raises_code(Invalid, "demonstrations_invalid", path="data/train_0.json", mentions="u2"):
            read_set(SetForm.MIND2WEB, tmp_path)


class TestAndroidControl:
    def test_every_action_has_a_counterpart_here(self, tmp_path: Path) -> None:
        (one,) = read_set(SetForm.ANDROID_CONTROL, factory.android_control(tmp_path))
        assert one.id == "17"
        words = [(step.reference.operation, step.reference.actions[0].action.type.value) for step in one.steps]
        assert words == [
            ("open_app", "TYPING"),
            ("click", "CLICK"),
            ("input_text", "TYPING"),
            ("scroll", "SCROLL"),
            ("long_press", "MOUSE_DOWN"),
            ("navigate_back", "PRESS"),
            ("wait", "WAIT"),
        ]
        assert one.steps[3].reference.actions[0].action.dy < 0  # Down, as the wheel turns.

    def test_the_smallest_element_at_the_point_is_right(self, tmp_path: Path) -> None:
        (one,) = read_set(SetForm.ANDROID_CONTROL, factory.android_control(tmp_path))
        (box,) = one.steps[1].reference.actions[0].boxes
        assert (box.x, box.y, box.width, box.height) == (80, 100, 80, 40)
        assert one.steps[4].reference.actions[0].boxes == ()

    def test_an_unknown_action_is_refused(self, tmp_path: Path) -> None:
        episode = {"goal": "x", "actions": [{"action_type": "fly"}], "screenshots": ["a.png"]}
        factory.put(tmp_path, "e.json", episode)
        with raises_code(Invalid, "demonstrations_invalid", mentions="fly"):
            read_set(SetForm.ANDROID_CONTROL, tmp_path)


def test_a_task_of_omniact_is_one_step_with_its_whole_script(tmp_path: Path) -> None:
    (one,) = read_set(SetForm.OMNIACT, factory.omniact(tmp_path))
    assert (one.id, one.instruction) == ("test/7", "Search for music")
    assert one.labels == {"platform": "desktop", "app": "player"}
    (step,) = one.steps
    assert [each.action.type.value for each in step.reference.actions] == ["CLICK", "TYPING", "PRESS"]
    assert [len(each.boxes) for each in step.reference.actions] == [1, 0, 0]
    assert step.reference.actions[0].boxes[0].width == 40  # The element in whose middle the click is, not the smallest.


class TestOwnForm:
    def test_a_line_is_a_demonstration(self, tmp_path: Path) -> None:
        read = read_set(SetForm.DESKARENA, factory.own(tmp_path))
        assert [(one.id, len(one.steps)) for one in read] == [("one", 2), ("two", 2)]

    def test_duplicate_id_is_refused(self, tmp_path: Path) -> None:
        with raises_code(Invalid, "demonstrations_invalid", mentions="one"):
            read_set(SetForm.DESKARENA, factory.own(tmp_path, "one", "one"))

    @pytest.mark.parametrize("text", ["{", "[" * 100_000, '{"id": "a"}', ""])
    def test_problems_are_reported(self, tmp_path: Path, text: str) -> None:
        factory.put(tmp_path, "a.jsonl", text)
        with raises_code(Invalid, "demonstrations_invalid"):
            read_set(SetForm.DESKARENA, tmp_path)

    @pytest.mark.parametrize("form", [form for form in SetForm if form is not SetForm.RUN])
    def test_a_folder_of_something_else_has_no_demonstration(self, tmp_path: Path, form: SetForm) -> None:
        factory.put(tmp_path, "other.json", {"a": [1, {"task": 5}]})
        with raises_code(Invalid, "demonstrations_invalid"):
            read_set(form, tmp_path)


class TestPictures:
    def test_a_whole_page_is_cut_around_the_element(self, tmp_path: Path) -> None:
        (one, _) = read_set(SetForm.DESKARENA, factory.own(tmp_path))
        step = one.steps[0]
        moved = step.model_copy(
            update={
                "reference": step.reference.model_copy(
                    update={
                        "actions": tuple(
                            each.model_copy(
                                update={
                                    "action": each.action.model_copy(update={"y": 5110}),
                                    "boxes": (each.boxes[0].model_copy(update={"y": 5100}),),
                                }
                            )
                            for each in step.reference.actions
                        )
                    }
                )
            }
        )
        frame, seen = picture_of(moved, factory.picture((800, 6000)))
        assert (frame.width, frame.height, frame.media_type) == (800, PART, "image/png")
        right = seen.reference.actions[0]
        assert right.boxes[0].holds(right.action.x or 0, right.action.y or 0)
        assert 0 <= (right.action.y or -1) < PART
        assert seen.elements == ()  # The button above is no longer shown.

    @pytest.mark.parametrize("data", [b"no picture", factory.picture((10, 10))])
    def test_invalid_screens_are_refused(self, tmp_path: Path, data: bytes) -> None:
        (one, _) = read_set(SetForm.DESKARENA, factory.own(tmp_path))
        with raises_code(Invalid, "demonstrations_invalid", path="screen.png"):
            picture_of(one.steps[0], data)

    def test_elements_become_a_tree_that_agents_read(self, tmp_path: Path) -> None:
        (one,) = read_set(SetForm.MIND2WEB, factory.mind2web(tmp_path))
        read = nodes(tree_of(one.steps[0].elements))
        assert [(each.tag, each.name, each.x, each.y, each.width) for each in read] == [
            ("entry", "Search <all>", 100, 50, 200),
            ("link", "Sign in", 500, 50, 60),
        ]


ACTIONS = [
    Action(type=ActionType.CLICK, x=10, y=20),
    Action(type=ActionType.CLICK, x=10, y=20, clicks=2),
    Action(type=ActionType.CLICK, x=10, y=20, button="right"),
    Action(type=ActionType.DRAG_TO, x=10, y=20),
    Action(type=ActionType.SCROLL, dy=-3),
    Action(type=ActionType.TYPING, text='it\'s "so"'),
    Action(type=ActionType.PRESS, keys=("enter",)),
    Action(type=ActionType.HOTKEY, keys=("ctrl", "s")),
    Action(type=ActionType.KEY_DOWN, keys=("shift",)),
    Action(type=ActionType.DONE),
]


@pytest.mark.parametrize("space", ["pyautogui", "computer_13"])
@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: f"{action.type}-{action.clicks}-{action.button}")
def test_written_history_parses_to_the_same_actions(space: str, action: Action) -> None:
    registry.load()
    sight = CoordinateFrame(screen=ScreenSize(width=800, height=600))
    text = reply_of([action], "I think so.", space, {}, sight)
    assert text.startswith("I think so.")
    parsed = registry.lookup(PluginKind.ACTION_SPACE, space)().parse(text, sight)
    assert list(parsed) == [action]


def test_other_spaces_get_history_in_words() -> None:
    text = reply_of(ACTIONS[:1] + ACTIONS[5:6], "", "gui_model", {}, CoordinateFrame())
    assert text == 'I did: CLICK at (10, 20); TYPING: it\'s "so"'


def test_the_recorded_action_is_right_in_every_form(tmp_path: Path) -> None:
    """A target of the converters is right by every metric."""
    makers = {
        SetForm.MIND2WEB: factory.mind2web,
        SetForm.ANDROID_CONTROL: factory.android_control,
        SetForm.OMNIACT: factory.omniact,
        SetForm.DESKARENA: factory.own,
    }
    for form, make in makers.items():
        for one in read_set(form, make(tmp_path / form.value)):
            for step in one.steps:
                actions = [each.action for each in step.reference.actions]
                score = step_score(step.reference, actions, ScreenSize(width=800, height=1200))
                assert score.type_match, step
                assert score.step_success, step
                assert score.web_success in {True, None}, step
                assert score.action_score == pytest.approx(score.sequence_most), step
