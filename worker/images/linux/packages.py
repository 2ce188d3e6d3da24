"""Which packages an image has: those of local desktops, for both to run the same tasks, and what makes a machine."""

from pathlib import Path

from worker.images.linux.options import BuildSources, Variant

NOT_IN_MACHINES = frozenset({"xvfb", "bubblewrap", "util-linux"})
"""What local desktops need of the worker's machine: a screen without a card, and walls."""


def read_list(file: Path) -> list[str]:
    """Names of a package list: one a line, `#` begins a comment. Raises OSError."""
    names = (line.split("#")[0].strip() for line in file.read_text().splitlines())
    return [name for name in names if name]


def package_names(sources: BuildSources, variant: Variant) -> tuple[str, ...]:
    """Sorted names of what is asked for; their dependencies come by themselves. Raises OSError."""
    lists = [sources.linux / "packages-system.txt", sources.scripts / "packages-base.txt"]
    if variant == "full":
        lists.append(sources.linux / "packages-full.txt")
    return tuple(sorted({name for file in lists for name in read_list(file)} - NOT_IN_MACHINES))
