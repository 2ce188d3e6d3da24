"""The same questions of a test to a desktop with Linux programs and to one with Windows programs."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.domain.ports.desktop import Desktop


@dataclass(frozen=True)
class SystemNames:
    """Names of things on one system.

    Attributes:
        home: where its user's files lie, with the sign that ends it.
        program: opens one window and nothing else.
        window_class: part of that window's class, in lower case.
        says: prints "hello there" and ends with 0.
        fails: ends with 1.
        shows: prints the file that is named after it, and ends with another code than 0 if there is none.
        tree: the accessibility tree's root.
    """

    home: str
    program: Sequence[str]
    window_class: str
    says: Sequence[str]
    fails: Sequence[str]
    shows: Sequence[str]
    tree: str


LINUX = SystemNames("/home/user/", ("xterm",), "xterm", ("echo", "hello there"), ("false",), ("cat",), "desktop-frame")
WINDOWS = SystemNames(
    "C:\\Users\\Docker\\",
    ("notepad",),
    "notepad",
    ("python", "-c", "print('hello there')"),
    ("cmd", "/c", "exit", "1"),
    ("cmd", "/c", "type"),
    "desktop",
)


def kind_of(desktop: Desktop) -> SystemNames:
    """Which of the two it is, as it says itself."""
    return {"Linux": LINUX, "Windows": WINDOWS}[desktop.probe().platform]
