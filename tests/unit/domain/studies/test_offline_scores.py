"""Scores of single steps: worked examples of the formulas of Mind2Web, AndroidControl and OmniACT."""

import math
from typing import Any

import pytest

from backend.domain.model.demonstration import Box, Reference, ReferenceAction
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.studies.offline_scores import StepScore, bleu, click_penalty, operation_f1, step_score, summary

SCREEN = ScreenSize(width=1000, height=1000)
BOX = Box(x=400, y=400, width=100, height=40)


def action(kind: str, **fields: Any) -> Action:
    return Action(type=ActionType(kind), **fields)


def right(*actions: Action, boxes: tuple[Box, ...] = (), **more: Any) -> Reference:
    return Reference(
        actions=tuple(ReferenceAction(action=one, boxes=boxes if one.x is not None else ()) for one in actions), **more
    )


def score(reference: Reference, *actions: Action) -> StepScore:
    return step_score(reference, actions, SCREEN)


CLICK = right(action("CLICK", x=450, y=420), boxes=(BOX,), operation="CLICK")
TYPE = right(
    action("CLICK", x=450, y=420), action("TYPING", text="New York"), boxes=(BOX,), operation="TYPE", value="New York"
)


class TestOperationF1:
    @pytest.mark.parametrize(
        ("given", "reference", "value"),
        [
            ("TYPE New York", "TYPE New York", 1.0),
            ("TYPE York", "TYPE New York", 0.8),  # precision 1, recall 2/3
            ("CLICK", "TYPE New York", 0.0),
            ("", "CLICK", 0.0),
            ("", "", 1.0),
            ("TYPE a a a", "TYPE a", 1.0),  # Sets of words, as in Mind2Web's evaluation.
        ],
    )
    def test_it_is_over_the_sets_of_words(self, given: str, reference: str, value: float) -> None:
        assert operation_f1(given, reference) == pytest.approx(value)


class TestMind2Web:
    def test_any_point_of_the_element_is_right(self) -> None:
        one = score(CLICK, action("CLICK", x=400, y=440))
        assert (one.element, one.operation_f1, one.web_success) == (True, 1.0, True)

    def test_any_of_several_right_elements(self) -> None:
        two = right(action("CLICK", x=450, y=420), boxes=(BOX, Box(x=0, y=0, width=10, height=10)))
        assert score(two, action("CLICK", x=5, y=5)).element is True

    def test_a_near_miss_is_wrong(self) -> None:
        one = score(CLICK, action("CLICK", x=399, y=420))
        assert (one.element, one.web_success, one.grounding) == (False, False, True)

    def test_the_right_element_with_half_of_the_text_is_not_a_success(self) -> None:
        one = score(TYPE, action("CLICK", x=450, y=420), action("TYPING", text="York"))
        assert (one.element, one.web_success) == (True, False)
        assert one.operation_f1 == pytest.approx(0.8)

    def test_a_typed_option_is_selected(self) -> None:
        listed = right(
            action("CLICK", x=450, y=420), action("TYPING", text="Red"), boxes=(BOX,), operation="SELECT", value="Red"
        )
        assert score(listed, action("CLICK", x=450, y=420), action("TYPING", text="Red")).web_success is True
        assert score(listed, action("CLICK", x=450, y=420)).operation_f1 == 0.0

    def test_without_a_known_element_it_is_not_defined(self) -> None:
        one = score(right(action("CLICK", x=450, y=420)), action("CLICK", x=450, y=420))
        assert (one.element, one.web_success) == (None, None)

    def test_no_answer_is_wrong(self) -> None:
        one = score(CLICK)
        assert (one.element, one.operation_f1, one.web_success, one.type_match) == (False, 0.0, False, False)


class TestAndroidControl:
    @pytest.mark.parametrize(("x", "right_place"), [(450 + 139, True), (450 + 141, False)])
    def test_a_click_may_miss_by_14_percent(self, x: int, right_place: bool) -> None:  # noqa: FBT001
        one = score(right(action("CLICK", x=450, y=420)), action("CLICK", x=x, y=420))
        assert (one.type_match, one.grounding, one.step_success) == (True, right_place, right_place)

    def test_distance_is_in_shares_of_both_sides(self) -> None:
        wide = ScreenSize(width=2000, height=1000)
        reference = right(action("CLICK", x=1000, y=500))
        assert step_score(reference, [action("CLICK", x=1270, y=500)], wide).grounding is True
        assert step_score(reference, [action("CLICK", x=1000, y=770)], wide).grounding is False

    def test_an_element_counts_however_large_it_is(self) -> None:
        large = right(action("CLICK", x=100, y=100), boxes=(Box(x=0, y=0, width=900, height=200),))
        assert score(large, action("CLICK", x=890, y=190)).grounding is True

    def test_direction_and_text_are_compared(self) -> None:
        down = right(action("SCROLL", dy=-5))
        assert score(down, action("SCROLL", dy=-1)).step_success
        assert score(down, action("SCROLL", dy=2)) == score(down, action("SCROLL", dy=9))
        wrong = score(down, action("SCROLL", dy=2))
        assert (wrong.type_match, wrong.step_success, wrong.grounding) == (True, False, None)
        text = right(action("TYPING", text="Hello  World"))
        assert score(text, action("TYPING", text="hello world")).step_success
        assert not score(text, action("TYPING", text="hello")).step_success

    def test_alternatives_are_as_right(self) -> None:
        back = right(action("PRESS", keys=("esc",)), alternatives=(action("HOTKEY", keys=("alt", "left")),))
        assert score(back, action("HOTKEY", keys=("Alt", "Left"))).step_success
        assert not score(back, action("PRESS", keys=("home",))).type_match

    def test_a_click_is_not_a_long_press(self) -> None:
        assert not score(right(action("MOUSE_DOWN", x=1, y=1)), action("CLICK", x=1, y=1)).type_match


class TestOmniAct:
    def test_a_right_sequence_of_three_is_worth_2_1(self) -> None:
        actions = (action("CLICK", x=450, y=420), action("TYPING", text="a b"), action("PRESS", keys=("enter",)))
        one = score(right(*actions, boxes=(BOX,)), *actions)
        assert [one.sequence, one.penalty, one.sequence_most] == pytest.approx([2.1, 0.0, 2.1])

    def test_another_sequence_is_worth_nothing(self) -> None:
        one = score(CLICK, action("CLICK", x=450, y=420, clicks=2))
        assert (one.sequence, one.action_score, one.sequence_most) == (0.0, 0.0, 0.1)

    def test_keys_that_differ_cost_their_part(self) -> None:
        both = right(action("CLICK", x=450, y=420), action("HOTKEY", keys=("ctrl", "s")), boxes=(BOX,))
        one = score(both, action("CLICK", x=450, y=420), action("HOTKEY", keys=("ctrl", "o")))
        assert one.penalty == pytest.approx(1.1 / 2)
        assert one.action_score == pytest.approx(1.1 / 2)
        same = score(both, action("CLICK", x=450, y=420), action("HOTKEY", keys=("S", "ctrl")))
        assert same.action_score == pytest.approx(1.1)

    def test_a_miss_costs_less_the_larger_the_element_is(self) -> None:
        # 3 px beside a box with a diagonal of 50: mu = 50, so 1 - 50 / 53.
        small = click_penalty((43, 20), Box(x=0, y=0, width=40, height=30))
        assert small == pytest.approx(1 - 50 / 53)
        assert click_penalty((83, 20), Box(x=0, y=0, width=80, height=60)) < small
        assert click_penalty((40, 30), Box(x=0, y=0, width=40, height=30)) == 0.0

    def test_a_text_costs_what_bleu_lacks(self) -> None:
        reference = right(action("TYPING", text="the cat sat down"))
        assert score(reference, action("TYPING", text="the cat sat down")).penalty == 0.0
        assert score(reference, action("TYPING", text="xyz")).action_score == 0.0

    def test_waiting_and_done_are_not_part_of_the_script(self) -> None:
        one = score(CLICK, action("WAIT"), action("CLICK", x=450, y=420), action("DONE"))
        assert one.action_score == pytest.approx(0.1)
        assert score(right(action("DONE")), action("DONE")).sequence_most == 0.0


class TestBleu:
    def test_precisions_and_brevity(self) -> None:
        # Of a, b, x two of three are right; of ab, bx one of two.
        assert bleu("abx", "ab") == pytest.approx(math.sqrt(2 / 3 * 1 / 2))
        assert bleu("ab", "abcd") == pytest.approx(math.exp(1 - 4 / 2))
        assert bleu("ba", "ab") == 0.0
        assert bleu("Jazz", "jazz") == 1.0
        assert bleu("5", "5") == 1.0


class TestSummary:
    def test_the_text_is_what_counts(self) -> None:
        actions = [action("CLICK", x=3, y=4), action("TYPING", text="ab"), action("PRESS", keys=("enter",))]
        assert summary(actions) == ("type", "ab", (3, 4))

    def test_pointing_and_waiting_come_last(self) -> None:
        assert summary([action("MOVE_TO", x=1, y=2), action("CLICK", x=3, y=4)]).kind == "click"
        assert summary([action("MOVE_TO", x=1, y=2)]).kind == "hover"
        assert summary([action("WAIT")]).kind == "wait"
        assert summary([]).kind == ""
