"""Differences between desktops with Linux and with Windows programs, as one value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from worker.local.home import SOURCE, USER_FOLDERS, content_hash


@dataclass(frozen=True)
class DesktopKind:
    """One kind of desktop.

    Attributes:
        name: operating system in tasks, `linux` or `windows`.
        home: folder of the host with the home's template.
        key: changes with the content of `home`.
        folders: created in each home, relative to it.
        environment: additional variables; they take precedence.
        binds: additional read-only folders of the host, by path inside.
        command: command to run inside.
    """

    name: str
    home: Path
    key: str
    folders: tuple[str, ...]
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    binds: Mapping[str, Path] = field(default_factory=dict)


def linux() -> DesktopKind:
    """Desktops with Linux programs. Raises OSError if the template cannot be read."""
    command = ("/usr/bin/python3", "-m", "guest_server.linux.session")
    return DesktopKind("linux", SOURCE, f"home-{content_hash()}", USER_FOLDERS, command)
