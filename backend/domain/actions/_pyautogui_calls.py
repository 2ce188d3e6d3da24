"""Maps plain calls of pyautogui 0.9 to typed actions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backend.domain.actions._checked import MOST_WHEEL_CLICKS
from backend.domain.actions._points import PointMap
from backend.domain.actions._python import NotTypedError, PythonCall, bind_arguments
from backend.domain.model.trajectory import Action, ActionType

_MOST_PRESSES = 50
_WINDOWS_WHEEL = 120  # pyautogui on Windows scrolls in these units per wheel click.
POINTING = frozenset(
    {"click", "leftClick", "rightClick", "middleClick", "doubleClick", "tripleClick", "moveTo", "dragTo", "mouseDown"}
    | {"mouseUp", "scroll", "hscroll", "vscroll", "moveRel", "dragRel"}
)


class Spot(tuple[int, int]):
    """A point in screen pixels: the middle of a numbered element."""

    __slots__ = ()


class PyautoguiCalls:
    """Typed actions of calls. A call without an exact equivalent raises NotTypedError."""

    def __init__(self, point_map: PointMap, platform: str) -> None:
        self._place = point_map
        self._windows = platform == "Windows"
        self._functions: Mapping[str, Callable[..., Sequence[Action]]] = {
            "click": self._click,
            "leftClick": self._fixed_click("left", 1),
            "rightClick": self._fixed_click("right", 1),
            "middleClick": self._fixed_click("middle", 1),
            "doubleClick": self._fixed_click("left", 2),
            "tripleClick": self._fixed_click("left", 3),
            "moveTo": self._move,
            "dragTo": self._drag,
            "mouseDown": self._button(ActionType.MOUSE_DOWN),
            "mouseUp": self._button(ActionType.MOUSE_UP),
            "scroll": self._wheel("dy"),
            "vscroll": self._wheel("dy"),
            "hscroll": self._wheel("dx"),
            "write": self._write,
            "typewrite": self._write,
            "press": self._press,
            "keyDown": self._key(ActionType.KEY_DOWN),
            "keyUp": self._key(ActionType.KEY_UP),
            "hotkey": self._hotkey,
            "shortcut": self._hotkey,
        }

    def typed(self, call: PythonCall) -> Sequence[Action]:
        """The actions of one call.

        Raises:
            NotTypedError: only Python can execute the call.
            InvalidAction: its point is not valid.
        """
        if call.name in {"time.sleep", "pyautogui.sleep"}:
            return [Action(type=ActionType.PYTHON, text=f"import time, pyautogui; {call.source}")]
        module, _, name = call.name.rpartition(".")
        if module != "pyautogui" or name not in self._functions:
            raise NotTypedError
        return bind_arguments(self._functions[name], call)

    def _xy(self, x: Any, y: Any) -> dict[str, int]:
        if x is None and y is None:
            return {}
        if isinstance(x, Spot) and y is None:
            return {"x": x[0], "y": x[1]}
        if isinstance(x, list) and len(x) == 2 and y is None:  # noqa: PLR2004 - a pair.
            x, y = x
        if not (_is_number(x) and _is_number(y)):
            raise NotTypedError
        across, down = self._place(x, y)
        return {"x": across, "y": down}

    def _click(
        self, x: Any = None, y: Any = None, clicks: Any = 1, interval: Any = 0.0, button: Any = "left", **timing: Any
    ) -> list[Action]:
        _only_timing(timing, interval)
        return [Action(type=ActionType.CLICK, button=button, clicks=_whole(clicks), **self._xy(x, y))]

    def _fixed_click(self, button: str, clicks: int) -> Callable[..., Sequence[Action]]:
        def click(x: Any = None, y: Any = None, interval: Any = 0.0, **timing: Any) -> list[Action]:
            if timing.get("button", button) != button:
                raise NotTypedError
            _only_timing({key: value for key, value in timing.items() if key != "button"}, interval)
            return [Action(type=ActionType.CLICK, button=button, clicks=clicks, **self._xy(x, y))]

        return click

    def _move(self, x: Any = None, y: Any = None, duration: Any = 0.0, **timing: Any) -> list[Action]:
        _only_timing(timing, duration)
        return [Action(type=ActionType.MOVE_TO, **_require_point(self._xy(x, y)))]

    def _drag(
        self, x: Any = None, y: Any = None, duration: Any = 0.0, tween: Any = None, button: Any = "left", **timing: Any
    ) -> list[Action]:
        _only_timing(timing, duration)
        if tween is not None:
            raise NotTypedError
        return [Action(type=ActionType.DRAG_TO, button=button, **_require_point(self._xy(x, y)))]

    def _button(self, kind: ActionType) -> Callable[..., Sequence[Action]]:
        def press(x: Any = None, y: Any = None, button: Any = "left", duration: Any = 0.0) -> list[Action]:
            _only_timing({}, duration)
            return [Action(type=kind, button=button, **self._xy(x, y))]

        return press

    def _wheel(self, axis: str) -> Callable[..., Sequence[Action]]:
        def scroll(clicks: Any, x: Any = None, y: Any = None) -> list[Action]:
            turns, remainder = divmod(_whole(clicks), _WINDOWS_WHEEL if self._windows else 1)
            if remainder or not turns or abs(turns) > MOST_WHEEL_CLICKS:
                raise NotTypedError
            return [Action(type=ActionType.SCROLL, **{axis: turns}, **self._xy(x, y))]

        return scroll

    def _write(self, message: Any, interval: Any = 0.0) -> list[Action]:
        _only_timing({}, interval)
        if isinstance(message, list):
            return self._press(message)
        return [Action(type=ActionType.TYPING, text=_text(message))]

    def _press(self, keys: Any, presses: Any = 1, interval: Any = 0.0) -> list[Action]:
        _only_timing({}, interval)
        names = [_text(key) for key in (keys if isinstance(keys, list) else [keys])]
        if not 0 < len(names) * _whole(presses) <= _MOST_PRESSES:
            raise NotTypedError
        return [Action(type=ActionType.PRESS, keys=(name,)) for _ in range(presses) for name in names]

    def _key(self, kind: ActionType) -> Callable[..., Sequence[Action]]:
        return lambda key: [Action(type=kind, keys=(_text(key),))]

    def _hotkey(self, *args: Any, keys: Any = (), interval: Any = 0.0) -> list[Action]:
        """Its keys, also as `keys=[...]`, as some models write them; pyautogui itself would press nothing then."""
        _only_timing({}, interval)
        names = args or (keys if isinstance(keys, list | tuple) else (keys,))
        names = names[0] if len(names) == 1 and isinstance(names[0], list) else names
        return [Action(type=ActionType.HOTKEY, keys=_some([_text(name) for name in names]))]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _only_timing(timing: Mapping[str, Any], pause: Any) -> None:
    """Raises NotTypedError for options other than pauses and durations, which we set ourselves."""
    if not _is_number(pause) or set(timing) - {"duration", "interval"}:
        raise NotTypedError


def _require_point(point: dict[str, int]) -> dict[str, int]:
    if not point:
        raise NotTypedError
    return point


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise NotTypedError
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise NotTypedError
    return value


def _some(names: list[str]) -> tuple[str, ...]:
    if not names:
        raise NotTypedError
    return tuple(names)
