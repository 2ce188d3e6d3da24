"""Finds a window by its title or class; the same rules on every platform."""

from collections.abc import Sequence

from guest_server.protocol.machine import WindowInfo


def find_window(
    windows: Sequence[WindowInfo], name: str, *, strict: bool = False, by_class: bool = False
) -> WindowInfo | None:
    """The topmost window that matches.

    Args:
        windows: bottom to top.
        name: what to look for.
        strict: the whole title or class, case-sensitive; else a part of it in any case.
        by_class: match `instance.Class` (either part counts as whole) and not the title.
    """
    for window in reversed(windows):
        if _matches(window, name, strict=strict, by_class=by_class):
            return window
    return None


def _matches(window: WindowInfo, name: str, *, strict: bool, by_class: bool) -> bool:
    text = window.wm_class if by_class else window.title
    if strict:
        return name == text or (by_class and name in text.split("."))
    return name.lower() in text.lower()
