import pytest

from backend.domain.errors import GuestLost
from backend.domain.loop.action_execution import ActionExecution, complaint, settle
from backend.domain.model.episode import EndedBy
from backend.domain.model.run import ScreenSize, Settle
from backend.domain.model.trajectory import Action, ActionType, Decision
from tests.fakes.desktop import FakeDesktop, FakeWindow

SCREEN = ScreenSize(width=640, height=480)
WAIT = Settle(quiet=0.5, timeout=5.0)


def work_on(desktop: FakeDesktop, *actions: Action, invalid: str = "") -> ActionExecution:
    work = ActionExecution(desktop, desktop.clock, WAIT)
    work.carry_out(Decision(actions=actions, invalid=invalid), lambda: None)
    return work


def typing(text: str) -> Action:
    return Action(type=ActionType.TYPING, text=text)


class TestComplaint:
    @pytest.mark.parametrize(
        "action",
        [
            Action(type=ActionType.CLICK),
            Action(type=ActionType.CLICK, x=0, y=0),
            Action(type=ActionType.CLICK, x=639, y=479),
            Action(type=ActionType.HOTKEY, keys=("ctrl", "s")),
            Action(type=ActionType.PRESS, keys=("enter",)),
            Action(type=ActionType.WAIT),
        ],
    )
    def test_sound_actions_pass(self, action: Action) -> None:
        assert complaint(action, SCREEN) == ""

    @pytest.mark.parametrize(
        ("action", "words"),
        [
            (Action(type=ActionType.CLICK, x=640, y=0), "outside the screen of 640x480"),
            (Action(type=ActionType.CLICK, x=-1, y=0), "outside the screen"),
            (Action(type=ActionType.CLICK, x=5), "only one of x and y"),
            (Action(type=ActionType.MOVE_TO), "needs x and y"),
            (Action(type=ActionType.PRESS, keys=("a", "b")), "exactly one key"),
            (Action(type=ActionType.HOTKEY), "at least one key"),
            (Action(type=ActionType.TYPING), "needs a text"),
        ],
    )
    def test_says_what_is_wrong(self, action: Action, words: str) -> None:
        assert words in complaint(action, SCREEN)


class TestWork:
    def test_actions_are_carried_out_in_order(self) -> None:
        desktop = FakeDesktop()
        desktop.open_windows.append(FakeWindow(title="note", path="/n"))
        work = work_on(desktop, typing("ab"), Action(type=ActionType.HOTKEY, keys=("ctrl", "s")))
        assert desktop.files["/n"] == b"ab"
        assert work.results == [{}, {}]
        assert work.moving

    def test_wait_ends_when_the_screen_was_still(self) -> None:
        desktop = FakeDesktop()
        desktop.still_moving = 1.0
        work = work_on(desktop, Action(type=ActionType.WAIT))
        assert work.results == [{"waited": 1.5}]
        assert work.wait_seconds == pytest.approx(1.5)
        assert not work.moving

    def test_wait_ends_after_five_seconds_of_movement(self) -> None:
        desktop = FakeDesktop()
        desktop.still_moving = 60.0
        assert work_on(desktop, Action(type=ActionType.WAIT)).results == [{"waited": 5.0}]

    def test_actions_after_the_end_are_skipped(self) -> None:
        desktop = FakeDesktop()
        work = work_on(desktop, typing("a"), Action(type=ActionType.DONE), typing("b"))
        assert [action.text for action in desktop.performed] == ["a"]
        assert work.ended_by is EndedBy.DONE
        assert work.results[2] == {"skipped": "after the end"}

    def test_fail_says_infeasible(self) -> None:
        assert work_on(FakeDesktop(), Action(type=ActionType.FAIL)).ended_by is EndedBy.INFEASIBLE

    def test_actions_after_an_invalid_one_are_skipped(self) -> None:
        desktop = FakeDesktop()
        work = work_on(desktop, Action(type=ActionType.PRESS, keys=("hyperdrive",)), typing("b"))
        assert desktop.performed == []
        assert "unknown key 'hyperdrive'" in work.invalid
        assert work.results == [
            {"error": "unknown key 'hyperdrive'", "kind": "unknown_key"},
            {"skipped": "after an invalid action"},
        ]

    def test_an_end_after_an_invalid_action_is_not_believed(self) -> None:
        work = work_on(FakeDesktop(), Action(type=ActionType.CLICK, x=9999, y=1), Action(type=ActionType.DONE))
        assert work.ended_by is None

    def test_an_answer_that_was_not_understood_is_not_half_carried_out(self) -> None:
        desktop = FakeDesktop()
        work = work_on(desktop, typing("a"), invalid="broken JSON")
        assert desktop.performed == []
        assert work.results == [{"skipped": "the answer was invalid"}]

    def test_a_dead_desktop_is_lost(self) -> None:
        desktop = FakeDesktop()
        desktop.die()
        with pytest.raises(GuestLost):
            work_on(desktop, typing("a"))


class TestSettle:
    def test_returns_when_the_screen_stands_still(self) -> None:
        desktop = FakeDesktop()
        desktop.still_moving = 0.7
        assert settle(desktop, desktop.clock, Settle(quiet=0.2, timeout=2.0)) == pytest.approx(0.9)

    def test_wait_ends_at_its_timeout(self) -> None:
        desktop = FakeDesktop()
        desktop.still_moving = 60.0
        assert settle(desktop, desktop.clock, Settle(quiet=0.2, timeout=2.0)) == pytest.approx(2.0)
