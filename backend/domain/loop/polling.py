"""Polls a desktop for a state that appears after a while."""

from collections.abc import Callable

from backend.domain.ports.desktop import Desktop

LOOKS = 60  # maximum polls of a step
PAUSE = 0.25  # maximum seconds between polls


def look_again(desktop: Desktop, look: Callable[[], bool], *, looks: int = LOOKS) -> bool:
    """Polls until `look` succeeds, letting the screen settle in between. False if it never does.

    Args:
        desktop: the desktop. Slower desktops are polled more often.
        look: returns whether the state is reached.
        looks: maximum number of polls; the default takes about 15 s.
    """
    for _ in range(round(looks * desktop.patience)):
        if look():
            return True
        desktop.wait_stable(quiet=PAUSE, timeout=PAUSE)
    return look()
