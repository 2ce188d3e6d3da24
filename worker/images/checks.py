"""Check list of a finished image, over the guest API: programs start, ports respond.

Independent of the system: it is tested on local desktops.
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
    """Checks that a program works: once started, it shows a window.

    Attributes:
        command: as for the guest API's `/setup/launch`.
        window: part of the window's title.
        seconds: time limit.
    """

    command: tuple[str, ...] = Field(min_length=1)
    window: str = Field(min_length=1)
    seconds: float = Field(default=90, gt=0, le=600)


class CheckResult(Frozen):
    """One line of the list.

    Attributes:
        fault: what is wrong; empty if it passed.
        seconds: duration.
    """

    name: str
    fault: str = ""
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return not self.fault


def starts(desktop: Desktop, name: str, check: ProgramCheck) -> CheckResult:
    """Starts a program, waits for its window and closes it. Raises GuestLost if the desktop is gone."""
    start = time.monotonic()
    try:
        # Existing windows do not count, so that a title like `Windows` finds the new window only.
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
    return f"no window with {check.window!r} in its title within {check.seconds:.0f} s; open windows: {titles[:500]}"


def _close(desktop: Desktop, check: ProgramCheck) -> None:
    """Asks the window to close. A dialog whether to save may remain: the machine's disk is discarded."""
    deadline = time.monotonic() + _CLOSE_SECONDS
    with suppress(GuestRefused, GuestLost):
        desktop.close_window(check.window)
        while time.monotonic() < deadline:
            if not any(check.window.lower() in window.title.lower() for window in desktop.windows()):
                return
            time.sleep(_LOOK)


def answers(name: str, question: Callable[[], object]) -> CheckResult:
    """Sends a request to the guest API; any response passes."""
    start = time.monotonic()
    fault = ""
    try:
        question()
    except (GuestRefused, GuestLost) as error:
        fault = str(error) or type(error).__name__
    return CheckResult(name=name, fault=fault, seconds=round(time.monotonic() - start, 1))


def basics(desktop: Desktop) -> tuple[CheckResult, ...]:
    """Checks that every program needs: the guest API and its most frequent requests."""
    return (
        answers("the guest API responds", desktop.probe),
        answers("its health is reported", desktop.health),
        answers("the screen can be captured", desktop.screenshot),
        answers("windows can be listed", desktop.windows),
        answers("the accessibility tree can be read", desktop.accessibility_tree),
        answers("Python runs", lambda: _ran(desktop)),
    )


def _ran(desktop: Desktop) -> None:
    result = desktop.run_python("print(6 * 7)")
    if result.output.strip() != "42":
        raise GuestRefused(f"it printed {result.output[:200]!r} {result.error[:500]}", kind="failed")


def table(lines: Sequence[CheckResult]) -> str:
    """The list as text."""
    return "\n".join(map(in_words, lines))


def in_words(line: CheckResult) -> str:
    """One line of the list."""
    mark = "ok    " if line.ok else "FAILED"
    return f"{mark} {line.name} ({line.seconds} s) {line.fault}".rstrip()
