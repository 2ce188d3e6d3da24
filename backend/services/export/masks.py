"""Removes the operator's secrets from exports."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

MASK = "[secret]"
LEAST = 6
"""Characters. Shorter secrets occur in too many other texts to be removed."""
_MOST_BYTES = 65536
_NAMES = re.compile(r"(?:^|_)(?:password|secret|token|authorization|api_?key)$", re.IGNORECASE)


class Masker:
    """Replaces secrets anywhere in a text.

    A task may need an account of the operator (docs/assets.md). Set-up is not part of a trajectory, but an agent may
    read it on the screen and write it into texts or actions.
    """

    def __init__(self, folder: Path) -> None:
        """Args: folder: with one file per secret; may be missing."""
        texts = {text for value in _contents(folder) for text in _texts(value) if len(text) >= LEAST}
        longest_first = sorted(texts, key=lambda text: (-len(text), text))
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if texts else None

    def text(self, value: str) -> str:
        """The text without secrets."""
        return value if self._pattern is None else self._pattern.sub(MASK, value)

    def value(self, value: Any) -> Any:
        """A JSON value without secrets, in texts and keys."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(name)): self.value(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(inner) for inner in value]
        return value

    def settings(self, value: Any) -> Any:
        """Like `value` for an agent's settings, where a name such as `user_password` marks a secret, too."""
        if isinstance(value, Mapping):
            return {
                str(name): MASK if _NAMES.search(str(name)) and inner else self.settings(inner)
                for name, inner in value.items()
            }
        return [self.settings(inner) for inner in value] if isinstance(value, list | tuple) else self.value(value)


def _contents(folder: Path) -> Iterator[Any]:
    """Content of each secret, parsed if it is a JSON object. An unreadable one cannot have been used by a task."""
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        try:
            with file.open("rb") as opened:
                text = opened.read(_MOST_BYTES).decode().strip()
        except (OSError, UnicodeDecodeError):
            continue
        yield text
        try:
            yield json.loads(text)
        except ValueError:
            continue


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
