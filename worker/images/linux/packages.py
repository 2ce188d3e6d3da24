"""Packages of an image: those of local desktops, so that both run the same tasks, and those of a machine."""

from pathlib import Path

from worker.images.linux.options import BuildSources, Variant

NOT_IN_MACHINES = frozenset({"xvfb", "bubblewrap", "util-linux"})
"""Packages that only local desktops need: a virtual screen and a sandbox."""


def read_list(file: Path) -> list[str]:
    """Names in a package list: one per line, `#` starts a comment. Raises OSError."""
    names = (line.split("#")[0].strip() for line in file.read_text().splitlines())
    return [name for name in names if name]


def package_names(sources: BuildSources, variant: Variant) -> tuple[str, ...]:
    """Sorted names to install, without dependencies. Raises OSError."""
    lists = [sources.linux / "packages-system.txt", sources.scripts / "packages-base.txt"]
    if variant == "full":
        lists.append(sources.linux / "packages-full.txt")
    return tuple(sorted({name for file in lists for name in read_list(file)} - NOT_IN_MACHINES))
