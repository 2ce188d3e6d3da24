"""Waiting on a desktop for what shows only after a while."""

from collections.abc import Callable

from backend.domain.ports.desktop import Desktop

LOOKS = 60  # how often a step looks again for what it waits for
PAUSE = 0.25  # seconds that it gives the screen in between, at most


def look_again(desktop: Desktop, look: Callable[[], bool], *, looks: int = LOOKS) -> bool:
    """Looks until it sees it, giving the screen time in between. False when it never came.

    Args:
        desktop: whose screen it is. Where its programs take longer, it looks more often.
        look: tells whether it is there.
        looks: how often; the default is about 15 s.
    """
    for _ in range(round(looks * desktop.patience)):
        if look():
            return True
        desktop.wait_stable(quiet=PAUSE, timeout=PAUSE)
    return look()
