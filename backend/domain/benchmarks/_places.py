"""Locates the task files in a checkout, a part of one, or a zip of either."""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.domain.errors import Invalid

MAX_FOLDERS = 20_000
MAX_LEVELS = 8
LOOKED_AT = 40  # files of an unknown folder that are checked for being tasks
_ASIDE = frozenset({"assets", "node_modules", "trajectories"})
"""Folders whose JSON files are not tasks."""

Files = Sequence[tuple[str, Path]]


@dataclass(frozen=True)
class TaskFolder:
    """One folder of tasks.

    Attributes:
        folder: contains `<domain>/<name>.json`; for a single domain, the files themselves.
        files: task files with their domain, sorted.
        lists: `test_*.json` files by name, beside the domains or beside the folder.
    """

    folder: Path
    files: Files
    lists: Sequence[Path]


def find_place(root: Path, suite_names: Sequence[str], other_suites: Collection[str]) -> TaskFolder:
    """Finds the folder of tasks at or below `root`.

    Args:
        root: an existing folder: the checkout, any folder between it and the tasks, the folder of tasks, or one domain.
        suite_names: names under which the suite publishes the folder of its tasks, best first.
        other_suites: names of folders with other tasks (variants, another system); used only if there is nothing else.

    Raises:
        Invalid: there is no such folder, or several and the choice is ambiguous.
    """
    if root.name in {*suite_names, *other_suites} and (own := _domains(root)):
        return _place(root, own, root)
    folders = [(folder, files) for folder in _folders(root) if (files := _domains(folder))]
    tasks = [pair for pair in folders if pair[0].name not in other_suites and any(map(_is_task, pair[1][:LOOKED_AT]))]
    for names in ([name] for name in suite_names):
        if named := [pair for pair in folders if pair[0].name in names]:
            return _only(named, root)
    other_folders = [pair for pair in folders if pair[0].name in other_suites]
    for candidates in (tasks, other_folders, [pair for pair in folders if pair[0] == root]):
        if candidates:
            return _only(candidates, root)
    if own := [(root.name, file) for file in _json_files(root) if not file.name.startswith(("test_", "about."))]:
        return _place(root, own, root)
    raise Invalid(
        "no task file found",
        code="invalid_task_file",
        path=root.name,
        hint="Expected <domain>/<name>.json at or below the folder.",
    )


def sibling(task_folder: TaskFolder, root: Path, name: str) -> TaskFolder | None:
    """The sibling folder of that name, which holds variants of the tasks; None if it does not exist."""
    folder = task_folder.folder.parent / name
    if task_folder.folder == root or not folder.is_dir():
        return None
    files = _domains(folder)
    return TaskFolder(folder, files, ()) if files else None


def _only(folders: Sequence[tuple[Path, Files]], root: Path) -> TaskFolder:
    """The highest of the folders. Raises Invalid if two are at the same level."""
    height = min(len(folder.parts) for folder, _ in folders)
    highest = [pair for pair in folders if len(pair[0].parts) == height]
    if len(highest) > 1:
        names = ", ".join(folder.relative_to(root).as_posix() for folder, _ in highest[:5])
        raise Invalid(
            f"there are several folders of tasks: {names}",
            code="invalid_task_file",
            path=root.name,
            hint="Give the one you mean.",
        )
    return _place(*highest[0], root)


def _place(folder: Path, files: Files, root: Path) -> TaskFolder:
    beside = [folder] if folder == root else [folder, folder.parent]
    lists = next((matches for place in beside if (matches := sorted(place.glob("test_*.json")))), [])
    return TaskFolder(folder, files, lists)


def _folders(root: Path) -> Iterator[Path]:
    """The folder and its subfolders, bounded in number; hidden ones and links are skipped."""
    for number, (directory, below, _) in enumerate(os.walk(root)):
        if number > MAX_FOLDERS:
            raise Invalid(
                f"there are more than {MAX_FOLDERS} folders",
                code="invalid_task_file",
                path=root.name,
                hint="Give the folder of tasks.",
            )
        depth = len(Path(directory).relative_to(root).parts)
        names = [name for name in below if not name.startswith((".", "__")) and name not in _ASIDE]
        below[:] = sorted(names) if depth < MAX_LEVELS else []
        yield Path(directory)


def _domains(folder: Path) -> list[tuple[str, Path]]:
    """Files `<domain>/<name>.json` below a folder."""
    names = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir() and not entry.name.startswith("."))
    return [(name, file) for name in names if name not in _ASIDE for file in _json_files(folder / name)]


def _json_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("*.json") if not file.name.startswith("."))


def _is_task(entry: tuple[str, Path]) -> bool:
    """Whether a JSON file looks like a task of these suites; False for an unreadable file."""
    try:
        with entry[1].open("rb") as file:
            text = file.read(2**16)
    except OSError:
        return False
    return b'"evaluator"' in text and b'"instruction"' in text
