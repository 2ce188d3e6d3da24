"""The check list of a finished image, over the guest API as any task would use it: programs start, ports answer.

Nothing in it knows a system: it is tried on local desktops.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from pydantic import Field

from backend.domain.errors import GuestLost, GuestRefused
from backend.domain.model.task import Frozen
from backend.domain.ports.desktop import Desktop

_LOOK = 0.5
_CLOSE_SECONDS = 20.0


class ProgramCheck(Frozen):
    """How a person sees that the program works: started, it shows a window.

    Attributes:
        command: as the guest API's `/setup/launch` takes it.
        window: a part of the window's title.
        seconds: that it may take.
    """

    command: tuple[str, ...] = Field(min_length=1)
    window: str = Field(min_length=1)
    seconds: float = Field(default=90, gt=0, le=600)


class CheckResult(Frozen):
    """One line of the list.

    Attributes:
        fault: what is wrong; empty if nothing is.
        seconds: that it took.
    """

    name: str
    fault: str = ""
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether it passed."""
        return not self.fault


def starts(desktop: Desktop, name: str, check: ProgramCheck) -> CheckResult:
    """Starts a program, waits for its window and closes it. Raises GuestLost if the desktop is gone."""
    start = time.monotonic()
    try:
        # What was there before does not count, so that a title like `Windows` finds the new window only.
        before = {(window.pid, window.title) for window in desktop.windows()}
        desktop.launch(list(check.command))
        fault = _window_fault(desktop, check, before, start + check.seconds)
    except GuestRefused as error:
        fault = str(error)
    seconds = time.monotonic() - start
    if not fault:
        _close(desktop, check)
    return CheckResult(name=f"{name} starts", fault=fault, seconds=round(seconds, 1))


def _window_fault(desktop: Desktop, check: ProgramCheck, before: set[tuple[int | None, str]], deadline: float) -> str:
    while time.monotonic() < deadline:
        with suppress(GuestLost):  # An emulated desktop does not answer while something heavy starts; the end tells.
            fresh = [window.title for window in desktop.windows() if (window.pid, window.title) not in before]
            if any(check.window.lower() in title.lower() for title in fresh):
                return ""
        time.sleep(_LOOK)
    titles = ", ".join(repr(window.title) for window in desktop.windows() if window.title) or "none"
    return f"no window with {check.window!r} in its title within {check.seconds:.0f} s; there are: {titles[:500]}"


def _close(desktop: Desktop, check: ProgramCheck) -> None:
    """Asks the window to close. A question whether to save may stay: the machine's disk is thrown away."""
    deadline = time.monotonic() + _CLOSE_SECONDS
    with suppress(GuestRefused, GuestLost):
        desktop.close_window(check.window)
        while time.monotonic() < deadline:
            if not any(check.window.lower() in window.title.lower() for window in desktop.windows()):
                return
            time.sleep(_LOOK)


def answers(name: str, question: Callable[[], object]) -> CheckResult:
    """Asks something of the guest API; whatever it answers is well."""
    start = time.monotonic()
    fault = ""
    try:
        question()
    except (GuestRefused, GuestLost) as error:
        fault = str(error) or type(error).__name__
    return CheckResult(name=name, fault=fault, seconds=round(time.monotonic() - start, 1))


def basics(desktop: Desktop) -> tuple[CheckResult, ...]:
    """What every program needs: the guest API's own port and what it is asked all the time."""
    return (
        answers("the guest API answers", desktop.probe),
        answers("it says how it is", desktop.health),
        answers("the screen can be seen", desktop.screenshot),
        answers("windows are listed", desktop.windows),
        answers("the accessibility tree can be read", desktop.accessibility_tree),
        answers("Python runs", lambda: _ran(desktop)),
    )


def _ran(desktop: Desktop) -> None:
    done = desktop.run_python("print(6 * 7)")
    if done.output.strip() != "42":
        raise GuestRefused(f"it printed {done.output[:200]!r} {done.error[:500]}", kind="failed")


def table(lines: Sequence[CheckResult]) -> str:
    """The list for a person."""
    return "\n".join(map(in_words, lines))


def in_words(line: CheckResult) -> str:
    """One line of it."""
    mark = "ok    " if line.ok else "FAILED"
    return f"{mark} {line.name} ({line.seconds} s) {line.fault}".rstrip()
