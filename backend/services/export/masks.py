"""Takes the operator's secrets out of what is given away."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

MASK = "[secret]"
LEAST = 6
"""Characters. A shorter text stands in too many others to be taken out of them."""
_MOST_BYTES = 65536
_NAMES = re.compile(r"(?:^|_)(?:password|secret|token|authorization|api_?key)$", re.IGNORECASE)


class Masker:
    """Replaces secrets wherever they stand in a text.

    A task may need an account that the operator gives (docs/assets.md). Set-up types it where no trajectory looks, but
    an agent may read it from the screen and write it into its words or actions.
    """

    def __init__(self, folder: Path) -> None:
        """Args: folder: of the secrets, one file each; may be missing."""
        texts = {text for value in _contents(folder) for text in _texts(value) if len(text) >= LEAST}
        longest_first = sorted(texts, key=lambda text: (-len(text), text))
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if texts else None

    def text(self, value: str) -> str:
        """The text without secrets."""
        return value if self._pattern is None else self._pattern.sub(MASK, value)

    def value(self, value: Any) -> Any:
        """A JSON value without secrets, in its texts and its keys."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(name)): self.value(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(inner) for inner in value]
        return value

    def settings(self, value: Any) -> Any:
        """The same for an agent's settings, where what is named like a secret is one (`user_password`)."""
        if isinstance(value, Mapping):
            return {
                str(name): MASK if _NAMES.search(str(name)) and inner else self.settings(inner)
                for name, inner in value.items()
            }
        return [self.settings(inner) for inner in value] if isinstance(value, list | tuple) else self.value(value)


def _contents(folder: Path) -> Iterator[Any]:
    """Each secret; a JSON object as such. One that cannot be read is none that a task was given."""
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
