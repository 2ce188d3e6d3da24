"""Environment variables of every platform's session."""

import os
import subprocess
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
DATA = PACKAGE / "data"
LIBRARY = DATA / "python"
"""Modules that agents' code can import."""
NO_WINDOW: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""For our own helpers: on Windows, a console program would otherwise open a window."""
_SMALLEST, _LARGEST = 100, 16_384


def read_screen(text: str) -> tuple[int, int]:
    """Width and height of `DESKARENA_SCREEN`.

    Raises:
        ValueError: what is wrong.
    """
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise ValueError(f"DESKARENA_SCREEN must be like 1920x1080, not {text}")
    size = int(width), int(height)
    if not all(_SMALLEST <= side <= _LARGEST for side in size):
        raise ValueError(f"DESKARENA_SCREEN must be from {_SMALLEST} to {_LARGEST} pixels a side, not {text}")
    return size


def read_ports(text: str) -> frozenset[int]:
    """The ports of `DESKARENA_TUNNEL_PORTS`.

    Raises:
        ValueError: what is wrong.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdigit() and 0 < int(part) < 2**16 for part in parts):
        raise ValueError(f"DESKARENA_TUNNEL_PORTS must be port numbers, not {text}")
    return frozenset(int(part) for part in parts)


def read_python_path(text: str) -> str:
    """PYTHONPATH without the folder of this package: programs of the desktop get pyautogui, but not the server."""
    return os.pathsep.join(part for part in text.split(os.pathsep) if part and Path(part).resolve() != PACKAGE.parent)
