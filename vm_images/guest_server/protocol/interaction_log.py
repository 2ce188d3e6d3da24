"""Interaction log: clicks with the control under them, typed text with the focused control.

Pure, for every platform: a recorder reports presses in order, and it makes bounded entries.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

MOST_ENTRIES = 2000
MOST_TOLD = 1000
MOST_PICTURES = 64
LONGEST_TEXT, LONGEST_NAME, LONGEST_ROLE = 10_000, 2000, 200
MODIFIERS = ("ctrl", "alt", "win", "shift")


@dataclass(frozen=True)
class InteractionTarget:
    """A control: under the pointer, or focused. All fields are empty if unknown.

    Attributes:
        rect: left, top, width, height in screen pixels.
        picture: the surroundings of a point without a name, PNG in base64.
    """

    control: str = ""
    role: str = ""
    rect: tuple[int, int, int, int] | None = None
    window: str = ""
    picture: str = ""

    def cut(self) -> "InteractionTarget":
        """Truncated to the log's limits."""
        return replace(
            self,
            control=self.control[:LONGEST_NAME],
            role=self.role[:LONGEST_ROLE],
            window=self.window[:LONGEST_NAME],
        )


@dataclass(frozen=True)
class InteractionEntry:
    """One entry of the reply."""

    number: int
    kind: str
    button: str = ""
    x: int | None = None
    y: int | None = None
    text: str = ""
    control: str = ""
    role: str = ""
    rect: tuple[int, int, int, int] | None = None
    window: str = ""
    picture: str = ""


@dataclass
class InteractionLog:
    """The newest entries, numbered from 1.

    Args:
        focused: finds the focused control. Called at the end of a text, not at each key.
    """

    focused: Callable[[], InteractionTarget]
    _entries: deque[InteractionEntry] = field(default_factory=lambda: deque(maxlen=MOST_ENTRIES))
    _number: int = 0
    _typed: str = ""

    def click(self, button: str, x: int, y: int, under: InteractionTarget) -> None:
        """A button was pressed there."""
        self.finish()
        self._add("click", under, button=button, x=x, y=y)

    def character(self, text: str) -> None:
        """A key was pressed that types this."""
        if len(self._typed) >= LONGEST_TEXT:
            self.finish()
        self._typed += text

    def key(self, name: str) -> None:
        """A key was pressed that types nothing: `enter`, `ctrl+s`."""
        self.finish()
        self._add("type", self.focused().cut(), text="{" + name + "}")

    def finish(self) -> None:
        """Ends the current text entry; what follows is another."""
        text, self._typed = self._typed, ""
        if text:
            self._add("type", self.focused().cut(), text=text)

    def entries(self, since: int) -> list[dict[str, Any]]:
        """Entries after that number, oldest first; ends the current text entry."""
        self.finish()
        entries = [asdict(entry) for entry in self._entries if entry.number > since][:MOST_TOLD]
        for entry in entries[:-MOST_PICTURES]:
            entry["picture"] = ""
        return entries

    def _add(self, kind: str, control: InteractionTarget, **more: Any) -> None:
        self._number += 1
        self._entries.append(InteractionEntry(number=self._number, kind=kind, **asdict(control.cut()), **more))
        if len(self._entries) > MOST_PICTURES and self._entries[-1 - MOST_PICTURES].picture:
            self._entries[-1 - MOST_PICTURES] = replace(self._entries[-1 - MOST_PICTURES], picture="")


def key_words(name: str, modifiers: frozenset[str]) -> str:
    """A key with its modifiers, in a fixed order: `ctrl+shift+s`."""
    return "+".join([*(modifier for modifier in MODIFIERS if modifier in modifiers), name])
