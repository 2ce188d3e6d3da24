"""Executes an agent's decision: validates its actions, performs them, waits for the screen."""

from collections.abc import Callable, Mapping
from typing import Any

from backend.domain.errors import GuestLost, GuestRefused
from backend.domain.model.episode import EndedBy
from backend.domain.model.run import ScreenSize, Settle
from backend.domain.model.trajectory import GUEST_CALLS, Action, ActionType, Decision
from backend.domain.ports.desktop import Desktop
from backend.domain.ports.storage import Clock

_ENDINGS: Mapping[ActionType, EndedBy] = {ActionType.DONE: EndedBy.DONE, ActionType.FAIL: EndedBy.INFEASIBLE}
_ONE_KEY = frozenset({ActionType.PRESS, ActionType.KEY_DOWN, ActionType.KEY_UP})
_NEEDS_POINT = frozenset({ActionType.MOVE_TO, ActionType.DRAG_TO})
_NEEDS_TEXT = frozenset({ActionType.TYPING, ActionType.PYTHON, ActionType.SCRIPT})
_NEEDS_PATH = frozenset({ActionType.READ_FILE, ActionType.WRITE_FILE})


def complaint(action: Action, screen: ScreenSize) -> str:
    """Why the action cannot be executed on that screen, as text for the agent; empty if it can be tried.

    Args:
        action: one typed action.
        screen: size of the desktop in pixels; a point must lie on it.
    """
    return _about_point(action, screen) or _about_content(action)


def _about_point(action: Action, screen: ScreenSize) -> str:
    if (action.x is None) != (action.y is None):
        return f"{action.type} has only one of x and y"
    if action.x is None or action.y is None:
        return f"{action.type} needs x and y" if action.type in _NEEDS_POINT else ""
    if 0 <= action.x < screen.width and 0 <= action.y < screen.height:
        return ""
    return f"({action.x}, {action.y}) is outside the screen of {screen.width}x{screen.height}"


def _about_content(action: Action) -> str:
    if action.type in _ONE_KEY and len(action.keys) != 1:
        return f"{action.type} needs exactly one key, it has {len(action.keys)}"
    if action.type is ActionType.HOTKEY and not action.keys:
        return "HOTKEY needs at least one key"
    if action.type in _NEEDS_TEXT and not action.text:
        return f"{action.type} needs a text"
    if action.type in _NEEDS_PATH and not (action.guest and action.guest.path):
        return f"{action.type} needs a path"
    return ""


class ActionExecution:
    """The actions of one decision and their results.

    Attributes:
        results: one per action, in order: the guest's answer, `{"error": ...}`, or `{"skipped": ...}`.
        done: the executed actions.
        invalid: why an action could not be executed; later ones are skipped because they depend on it.
        ended_by: set by DONE and FAIL; later actions of the same decision are not executed.
        carried_out: an action was sent to the desktop.
        moving: the screen may still be changing after the last action.
        action_seconds: seconds until the input was delivered.
        wait_seconds: seconds spent in WAIT.
    """

    def __init__(self, desktop: Desktop, clock: Clock, wait: Settle) -> None:
        self._desktop = desktop
        self._clock = clock
        self._wait = wait
        self.moving = False
        self.results: list[Mapping[str, Any]] = []
        self.done: list[Action] = []
        self.invalid = ""
        self.ended_by: EndedBy | None = None
        self.carried_out = False
        self.action_seconds = 0.0
        self.wait_seconds = 0.0

    def carry_out(self, decision: Decision, on_first: Callable[[], None]) -> None:
        """Executes a decision. An answer that could not be parsed is not executed at all.

        Args:
            decision: the agent's answer.
            on_first: called before the first action is sent to the desktop.

        Raises:
            GuestLost: the desktop is gone.
        """
        if decision.invalid:
            self.results = [{"skipped": "the answer was invalid"} for _ in decision.actions]
            return
        for action in decision.actions:
            if self.invalid or self.ended_by:
                self.results.append({"skipped": "after an invalid action" if self.invalid else "after the end"})
                continue
            self.results.append(self._run_action(action, on_first))
            if not self.invalid and not self.ended_by:
                self.done.append(action)
                self.moving = action.type is not ActionType.WAIT

    def _run_action(self, action: Action, on_first: Callable[[], None]) -> Mapping[str, Any]:
        if action.type in _ENDINGS:
            self.ended_by = _ENDINGS[action.type]
            return {}
        self.invalid = complaint(action, self._desktop.screen)
        if self.invalid:
            return {"error": self.invalid}
        if not self.carried_out:
            on_first()
        self.carried_out = True
        if action.type is ActionType.WAIT:
            waited = settle(self._desktop, self._clock, self._wait)
            self.wait_seconds += waited
            return {"waited": round(waited, 3)}
        return self._perform(action)

    def _perform(self, action: Action) -> Mapping[str, Any]:
        before = self._clock.now()
        try:
            return self._desktop.perform(action)
        except GuestRefused as error:
            if action.type not in GUEST_CALLS:  # A script that took too long is a result, not an invalid action.
                self.invalid = f"{action.type}: {error.message}"
            return {"error": error.message, "kind": error.kind}
        finally:
            self.action_seconds += self._clock.now() - before


def settle(desktop: Desktop, clock: Clock, wait: Settle) -> float:
    """Waits until the screen is still. Returns the seconds that this took.

    Raises:
        GuestLost: the desktop is gone, or does not answer.
    """
    before = clock.now()
    try:
        desktop.wait_stable(quiet=wait.quiet, timeout=wait.timeout)
    except GuestRefused as error:
        raise GuestLost(
            f"the desktop could not report whether its screen is still: {error.message}", code="desktop_unresponsive"
        ) from error
    return clock.now() - before
