"""Metadata of an image's packages, and the programs that tasks may start."""

import re
from collections.abc import Iterator
from pathlib import Path

from backend.domain.machines.machine_image import Package

_FIELD = re.compile(r"^(Package|Version|SHA256): (.+)$")
_FOLDERS = ("usr/bin", "usr/sbin", "usr/games", "usr/local/bin", "opt/guest/guest_server/data/bin")
_MOST_PROGRAMS = 20_000


def read_packages(text: str) -> tuple[Package, ...]:
    """Packages by name, from the output of `apt-cache show`; duplicates count once.

    Raises:
        ValueError: A package has no name or version.
    """
    packages: dict[tuple[str, str], Package] = {}
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        matches = filter(None, map(_FIELD.match, paragraph.splitlines()))
        fields: dict[str, str] = {match[1]: match[2] for match in matches}
        if not {"Package", "Version"} <= fields.keys():
            raise ValueError(f"a package without name or version: {paragraph[:200]!r}")
        package = Package(name=fields["Package"], version=fields["Version"], sha256=fields.get("SHA256", ""))
        packages.setdefault((package.name, package.version), package)
    return tuple(packages[key] for key in sorted(packages))


def programs(root: Path) -> tuple[str, ...]:
    """Sorted names of a file system's programs in the folders of a desktop's PATH."""
    return tuple(sorted(set(_programs(root))))[:_MOST_PROGRAMS]


def _programs(root: Path) -> Iterator[str]:
    for folder in _FOLDERS:
        location = root / folder
        if location.is_dir():
            # A link is resolved inside the image, so it is not followed here.
            yield from (path.name for path in location.iterdir() if path.is_symlink() or path.is_file())
