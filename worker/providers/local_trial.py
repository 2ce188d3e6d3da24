"""Uses a local desktop once like an agent: reads a window's accessibility tree, starts its programs."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.domain.errors import DeskarenaError
from backend.domain.ports.desktop import Desktop, OpenDesktop

PYTHON = "/usr/bin/python3"
NOT_TRIED = "not tried"
_BUTTON = "deskarena-trial"
_IMPORT = "import gi; gi.require_version('Gtk', '3.0'); from gi.repository import Gtk"
_WINDOW = f"{_IMPORT}; w = Gtk.Window(); w.add(Gtk.Button(label='{_BUTTON}')); w.show_all(); Gtk.main()"
TREE_SECONDS, _PROGRAM_SECONDS = 5.0, 10.0
_LOOK_SECONDS = 0.05
_WORDS = 200


@dataclass(frozen=True)
class Trial:
    """Result of using a desktop.

    Attributes:
        details: how it was created (see `OpenDesktop`).
        no_tree: why its accessibility tree cannot be read; empty if it can.
        broken: programs that do not start -> their output.
    """

    details: Mapping[str, Any]
    no_tree: str
    broken: Mapping[str, str] = field(default_factory=dict)


def use(opened: OpenDesktop, programs: Mapping[str, Sequence[str]]) -> Trial:
    """Uses up a desktop. Raises MachineLost if it is gone.

    Args:
        opened: the desktop; a window stays open in it.
        programs: command by name, which only prints the version.
    """
    desktop = opened.desktop
    no_tree = _no_tree(desktop)
    broken = {name: reason for name, command in programs.items() if (reason := _broken(desktop, command))}
    return Trial(opened.details, no_tree, broken)


def _no_tree(desktop: Desktop) -> str:
    try:
        desktop.launch([PYTHON, "-c", _WINDOW])
        deadline = time.monotonic() + TREE_SECONDS
        while _BUTTON not in desktop.accessibility_tree():
            if time.monotonic() > deadline:
                return _why_absent(desktop)
            time.sleep(_LOOK_SECONDS)
    except DeskarenaError as error:
        return error.message
    return ""


def _why_absent(desktop: Desktop) -> str:
    """A window that cannot be opened proves nothing about the tree, so the result is unknown."""
    result = desktop.execute([PYTHON, "-c", _IMPORT], timeout=_PROGRAM_SECONDS)
    if result.returncode != 0:
        return f"{NOT_TRIED}: no window can be opened: {_last_line(result.error)}"
    return f"a window and its button are missing after {TREE_SECONDS:g} s"


def _broken(desktop: Desktop, command: Sequence[str]) -> str:
    try:
        result = desktop.execute(list(command), timeout=_PROGRAM_SECONDS)
    except DeskarenaError as error:
        return error.message
    if result.returncode == 0:
        return ""
    return _last_line(result.error or result.output) or f"it exited with {result.returncode}"


def _last_line(text: str) -> str:
    return next((line.strip()[:_WORDS] for line in reversed(text.splitlines()) if line.strip()), "")
