"""Ends a program for a task's `pkill NAME` without losing its data, and waits until it is gone."""

from collections.abc import Sequence

from backend.domain.browser.cookies import asks_for_cookies, await_written
from backend.domain.browser.profiles import CHROME, EDGE
from backend.domain.loop.polling import look_again
from backend.domain.ports.desktop import Desktop
from backend.domain.ports.task import SetupContext

_LOOKS = 40  # 10 s
_HELPERS = 20  # 5 s
_BROWSERS = {"chrome": CHROME, "google-chrome": CHROME, "chromium": CHROME, "msedge": EDGE}


def ends(words: Sequence[str]) -> bool:
    """Whether a command is `pkill NAME`, without any option."""
    return len(words) == 2 and words[0] == "pkill" and not words[1].startswith("-")  # noqa: PLR2004


def end(context: SetupContext, words: Sequence[str]) -> None:
    """Runs `pkill NAME`, the oldest process first, and waits until none is left or 10 s have passed each time.

    The oldest is the program itself, which ends its helpers in good order. All at once, a browser's helpers would be
    gone before they have written its cookies; and a program that is started again would meet the one that ends. A
    browser's helper writes them after the browser itself has gone, so helpers get 5 s to end by themselves.

    For a task that reads cookies, the browser is ended after it has written them.
    """
    desktop, name = context.desktop, words[1]
    first = _oldest(desktop, name)
    if first and name in _BROWSERS and asks_for_cookies(context.task):
        await_written(context, _BROWSERS[name].folders(desktop.probe().platform))
    if first:
        desktop.execute(["pkill", "-o", name])
        look_again(desktop, lambda: _oldest(desktop, name) != first, looks=_LOOKS)
        look_again(desktop, lambda: not _oldest(desktop, name), looks=_HELPERS)
    desktop.launch(words)
    look_again(desktop, lambda: not _oldest(desktop, name), looks=_LOOKS)


def _oldest(desktop: Desktop, name: str) -> str:
    """The id of the oldest process of that name, empty if there is none."""
    return desktop.execute(["pgrep", "-o", name]).output.strip()
