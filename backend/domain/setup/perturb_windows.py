"""`perturb_windows`: changes the windows after set-up, to test an agent's robustness.

Reference: protocols §9 (a window moved, shrunk to its minimum, irrelevant applications opened and maximised).
"""

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Literal

from pydantic import Field

from backend.domain.errors import ProgramBroken, TaskSetupFailed
from backend.domain.loop.polling import look_again
from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Window
from backend.domain.ports.desktop import Desktop
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

_SMALLEST = (136, 100)
"""Requested width and height (pixels) for a window's minimum; one without a minimum stays usable."""
_ROOM = 3 / 4
"""Share of the screen to which a full-screen window is reduced before it is moved."""
_FAR = 1 / 8
"""Minimum distance of the new position from the old one, as a share of the screen's side."""
_DRAWS = 200
_CLUTTER = 2
_IRRELEVANT: Mapping[str, tuple[str, ...]] = {
    "Linux": ("mousepad", "thunar", "xfce4-terminal", "drawing", "gedit", "nautilus", "pcmanfm", "xterm"),
    "Windows": ("notepad", "mspaint", "explorer", "write"),
}
"""Programs that open quickly, ask nothing and can fill a screen, by platform."""
_LOOKS = 120  # 30 s
_QUIET, _SETTLE = 0.5, 10.0


class _Perturbation(Parameters):
    how: Literal["moved", "shrunk", "cluttered"]
    seed: int = Field(default=0, ge=0)


@register(PluginKind.SETUP, "perturb_windows")
class PerturbWindows:
    """`how` (`moved`, `shrunk`, `cluttered`), `seed`. The same seed on the same windows does the same.

    The window of the task is the active one, else the topmost. `moved`: another place, drawn; one that fills the
    screen becomes three quarters of it first. `shrunk`: as small as it lets itself be made. `cluttered`: two
    programs that the task does not name, drawn from those installed, are opened over it and fill the screen.
    """

    def check(self, parameters: Mapping[str, Any]) -> None:
        _Perturbation.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        perturbation, desktop = _Perturbation.parse(parameters), context.desktop
        dice = Random(perturbation.seed)  # noqa: S311 - repeatable on purpose, no secret.
        if perturbation.how == "cluttered":
            _clutter(context, dice)
        else:
            window = _task_window(desktop, perturbation.how)
            _HOW[perturbation.how](desktop, window, dice)
        desktop.wait_stable(quiet=_QUIET, timeout=_SETTLE)


def _task_window(desktop: Desktop, how: str) -> Window:
    windows = desktop.windows()
    if not windows:
        raise TaskSetupFailed(
            f"there is no window to be {how}",
            code="no_window_to_perturb",
            hint="This task starts without a window: exclude it from studies of this perturbation.",
        )
    return next((window for window in windows if window.active), windows[-1])


def _place(desktop: Desktop, window: Window, **placement: Any) -> Window:
    """Moves the window; returns its new state."""
    name = {"window_name": window.title, "strict": True}
    if not window.title:
        name = {"window_name": window.wm_class, "strict": True, "by_class": True}
    reply = desktop.call("POST", "/setup/place_window", {**name, **placement})
    try:
        placed = reply["window"]
        numbers = {key: int(placed[key]) for key in ("x", "y", "width", "height")}
    except (TypeError, KeyError, ValueError) as error:
        raise TaskSetupFailed(
            f"the desktop did not report where the window is: {window.title!r}", code="window_not_perturbed"
        ) from error
    return window.model_copy(update=numbers)


def _move(desktop: Desktop, window: Window, dice: Random) -> None:
    screen = desktop.screen
    width, height = min(window.width, int(screen.width * _ROOM)), min(window.height, int(screen.height * _ROOM))
    free = (screen.width - width, screen.height - height)
    far = (screen.width * _FAR, screen.height * _FAR)

    def elsewhere(x: int, y: int) -> bool:
        return abs(x - window.x) >= far[0] or abs(y - window.y) >= far[1]

    draws = ((dice.randint(0, free[0]), dice.randint(0, free[1])) for _ in range(_DRAWS))
    x, y = next((point for point in draws if elsewhere(*point)), free)
    placed = _place(desktop, window, x=x, y=y, width=width, height=height)
    if not elsewhere(placed.x, placed.y):
        raise TaskSetupFailed(
            f"the window {window.title!r} did not move to {x}, {y}",
            code="window_not_perturbed",
        )


def _shrink(desktop: Desktop, window: Window, _: Random) -> None:
    """A window with its minimum size is already as required."""
    placed = _place(desktop, window, width=_SMALLEST[0], height=_SMALLEST[1])
    if placed.width > window.width or placed.height > window.height:
        raise TaskSetupFailed(f"the window {window.title!r} grew instead of shrinking", code="window_not_perturbed")
    if placed.width >= desktop.screen.width and placed.height > desktop.screen.height * _ROOM:
        raise TaskSetupFailed(
            f"the window {window.title!r} still fills the screen after shrinking", code="window_not_perturbed"
        )


_HOW: Mapping[str, Callable[[Desktop, Window, Random], None]] = {"moved": _move, "shrunk": _shrink}


def _clutter(context: SetupContext, dice: Random) -> None:
    candidates = _irrelevant(context)
    if len(candidates) < _CLUTTER:
        raise TaskSetupFailed(
            f"{_CLUTTER} unrelated programs are needed to clutter the screen, found {len(candidates)}",
            code="too_few_programs",
            hint=f"Install some of: {', '.join(_of_platform(context.desktop))}.",
        )
    for program in dice.sample(candidates, _CLUTTER):
        _open_over(context.desktop, program)
    _check_covered(context.desktop)


def _of_platform(desktop: Desktop) -> tuple[str, ...]:
    return _IRRELEVANT.get(desktop.probe().platform, ())


def _irrelevant(context: SetupContext) -> list[str]:
    """Installed programs that the task neither names nor has open."""
    desktop, task = context.desktop, context.task
    steps = [step.model_dump(mode="json") for step in task.setup]
    named = json.dumps([steps, task.labels.apps, task.labels.requires]).lower()
    opened = " ".join(window.wm_class for window in desktop.windows()).lower()
    free = [name for name in _of_platform(desktop) if name not in named and name not in opened]
    return [name for name in free if _installed(desktop, name)]


def _installed(desktop: Desktop, program: str) -> bool:
    looks = {"Windows": ["where", program]}.get(desktop.probe().platform, ["which", program])
    return desktop.execute(looks).returncode == 0


def _open_over(desktop: Desktop, program: str) -> None:
    """Starts it, waits for its window and fills the screen with it."""
    before = [_window_identity(window) for window in desktop.windows()]

    def fresh() -> list[Window]:
        return [window for window in desktop.windows() if _window_identity(window) not in before and window.width > 1]

    desktop.launch([program])
    if not look_again(desktop, lambda: bool(fresh()), looks=_LOOKS):
        raise ProgramBroken(f"{program} was started to clutter the screen, but no window opened")
    desktop.wait_stable(quiet=_QUIET, timeout=_SETTLE)  # Until then a program may still be naming its window.
    windows = fresh()
    if not windows:
        raise ProgramBroken(f"{program} was started to clutter the screen, but its window closed")
    _place(desktop, windows[-1], maximized=True)
    desktop.activate_window(windows[-1].title, strict=True)


def _window_identity(window: Window) -> tuple[str, str, int | None]:
    return window.title, window.wm_class, window.pid


def _check_covered(desktop: Desktop) -> None:
    """The window on top fills the screen, panels aside."""
    top, screen = desktop.windows()[-1], desktop.screen
    if top.width < screen.width * _ROOM or top.height < screen.height * _ROOM:
        raise TaskSetupFailed(
            f"the window {top.title!r} should fill the screen, but has {top.width}x{top.height}",
            code="window_not_perturbed",
        )
