"""What differs between a desktop with Linux programs and one with Windows programs, in one value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from worker.local.home import SOURCE, USER_FOLDERS, content_hash


@dataclass(frozen=True)
class DesktopKind:
    """One kind of desktop.

    Attributes:
        name: the operating system that tasks ask for, `linux` or `windows`.
        home: folder of the host that the home's template is copied from.
        key: changes with the content of `home`.
        folders: made in each home itself, relative to it.
        environment: variables beside those that every desktop has; they come last.
        binds: folders of the host that it sees read-only beside the system's, by their path inside.
        command: what runs inside.
    """

    name: str
    home: Path
    key: str
    folders: tuple[str, ...]
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    binds: Mapping[str, Path] = field(default_factory=dict)


def linux() -> DesktopKind:
    """Linux programs. Raises OSError if the template cannot be read."""
    command = ("/usr/bin/python3", "-m", "guest_server.linux.session")
    return DesktopKind("linux", SOURCE, f"home-{content_hash()}", USER_FOLDERS, command)
