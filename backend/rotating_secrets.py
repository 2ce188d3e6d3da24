"""Secrets that are read again when their files change: who rotates a password or key need not restart anything."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

from backend.addresses import SHORTEST_TOKEN
from backend.config import Settings, variables_of

log = logging.getLogger(__name__)
TOKENS = ("token", "metrics_token")


def current(settings: Settings, name: str) -> Callable[[], str]:
    """A function that gives the secret as it is now; thread-safe and cheap enough for each request.

    Without a file it always gives the value of the settings. While the file is missing, empty, or too
    short for a token, as in the moment of its rotation, it gives the last value.

    Args:
        settings: with the value at the start.
        name: of a secret setting.
    """
    value = getattr(settings, name)
    start = value.get_secret_value() if value else ""
    path = _file(name)
    least = SHORTEST_TOKEN if name in TOKENS else 1
    return SecretFile(path, start, least) if path is not None else lambda: start


def _file(name: str) -> Path | None:
    names = variables_of(name, Settings.model_fields[name])
    if any(os.environ.get(variable) for variable in names):
        return None  # The variable itself takes precedence.
    paths = (os.environ.get(f"{variable}_FILE") for variable in names)
    return next((Path(path) for path in paths if path), None)


class SecretFile:
    """The content of a file, read again when the file is another one or has changed."""

    def __init__(self, path: Path, start: str, least: int = 1) -> None:
        self._path, self._value, self._least = path, start, least
        self._version_read: tuple[int, int, int] | None = None

    def __call__(self) -> str:
        """The secret. What cannot be read is logged once."""
        version = self._version()
        if version != self._version_read:
            self._version_read = version
            self._value = self._read() or self._value
        return self._value

    def _version(self) -> tuple[int, int, int] | None:
        try:
            stat = self._path.stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def _read(self) -> str:
        try:
            text = self._path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            log.warning("%s cannot be read; the last secret stays in use: %s", self._path, error)
            return ""
        if len(text) < self._least:
            reason = f"has fewer than {self._least} characters" if text else "is empty"
            log.warning("%s %s; the last secret stays in use", self._path, reason)
            return ""
        return text
