"""What was done with mouse and keyboard: clicks with the control under them, typed text with the focused control.

Pure, for every platform: a recorder tells it of presses in their order, and it makes bounded entries of them.
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
    """A control: under the pointer, or the one with the focus. All empty if nothing is known of it.

    Attributes:
        rect: left, top, width, height in screen pixels.
        picture: what the screen showed around a point where there is no name, PNG in base64.
    """

    control: str = ""
    role: str = ""
    rect: tuple[int, int, int, int] | None = None
    window: str = ""
    picture: str = ""

    def cut(self) -> "InteractionTarget":
        """The same within the log's bounds."""
        return replace(
            self,
            control=self.control[:LONGEST_NAME],
            role=self.role[:LONGEST_ROLE],
            window=self.window[:LONGEST_NAME],
        )


@dataclass(frozen=True)
class InteractionEntry:
    """One entry as it is told; the fields are those of the reply."""

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
        focused: finds the control with the focus. Asked when a text has come to its end, not at each key.
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
        """What has been typed so far is one entry; what follows is another."""
        text, self._typed = self._typed, ""
        if text:
            self._add("type", self.focused().cut(), text=text)

    def told(self, since: int) -> list[dict[str, Any]]:
        """The entries after that number, oldest first; what is being typed ends here."""
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
    """A key with the modifiers held, in a fixed order: `ctrl+shift+s`."""
    return "+".join([*(each for each in MODIFIERS if each in modifiers), name])
