"""Secrets for tasks: one file each in a private folder of the operator."""

import re
from pathlib import Path

from backend.domain.errors import TaskSetupFailed

_NAME = re.compile(r"[a-z][a-z0-9_]{0,60}")
_MOST_BYTES = 65536
_OTHERS = 0o077


class TaskSecrets:
    """Secrets by name: `FOLDER/NAME`. Read each time, so that changes apply to the next attempt."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, name: str) -> str:
        """The secret's text, without surrounding spaces.

        Raises:
            TaskSetupFailed: it is missing, or others can read it; the message says where to put it.
        """
        if not _NAME.fullmatch(name):
            raise TaskSetupFailed(f"{name[:80]!r} is not a valid name of a secret", code="invalid_secret_name")
        file = self._folder / name
        try:
            open_to = file.stat().st_mode & _OTHERS
            text = file.read_bytes()[:_MOST_BYTES].decode()
        except FileNotFoundError:
            message = f"the task needs the secret {name!r}, which was not given"
            raise TaskSetupFailed(
                message, code="secret_missing", hint=f"Write it to {file} (docs/assets.md says what it holds)."
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise TaskSetupFailed(f"the secret {name!r} cannot be read: {error}", code="secret_not_usable") from error
        if open_to:
            raise TaskSetupFailed(
                f"the secret {name!r} can be read by others", code="secret_not_usable", hint=f"chmod 600 {file}"
            )
        return text.strip()

    def find(self, name: str) -> str:
        """Like calling it, but empty if it is missing."""
        return self(name) if (self._folder / name).exists() else ""
