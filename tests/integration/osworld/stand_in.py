"""Stand-ins: files of our own in the place of those that a task of OSWorld downloads, made to its instruction.

They are not OSWorld's files. They show that a task's set-up, its getters, its metric and its options work together on a
real desktop: what a right agent leaves passes, what the set-up left does not.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from backend.domain import registry
from backend.domain.model.task import Task
from backend.domain.registry import PluginKind
from tests.factories.office import soffice_all

PUBLISHED = Path(__file__).resolve().parents[4] / "shared" / "benchmarks" / "osworld"
Maker = Callable[[Path], object]
_AT_ONCE = 8  # files per start of LibreOffice, which has a limit of time
OFFICE = {".xlsx", ".docx", ".pptx", ".odt"}


@dataclass(frozen=True)
class StandIn:
    """Files for one task.

    Attributes:
        start: what the set-up downloads and opens.
        right: what a right agent leaves at `at`; the desktop's LibreOffice saves it where the task presses Ctrl+S.
        gold: the expectation; None: as `right`.
        at: where the agent leaves its file; None: where the first result getter looks.
        others: further files by the name that their address ends with.
        all_saved: LibreOffice saves all of them first, as it has OSWorld's own (it makes inherited looks explicit).
    """

    start: Maker
    right: Maker
    gold: Maker | None = None
    at: str | None = None
    others: Mapping[str, Maker] = field(default_factory=dict)
    all_saved: bool = False


@cache
def tasks() -> Mapping[str, Task]:
    """OSWorld's tasks for Ubuntu by domain and the first eight letters of their name."""
    registry.load()
    loaded = registry.lookup(PluginKind.BENCHMARK, "osworld")().load(PUBLISHED)
    return {f"{task.key.domain}/{task.key.name[:8]}": task for task in loaded.tasks}


def addresses(value: Any) -> list[str]:
    """Every address in a part of a task, in order."""
    if isinstance(value, str):
        return [value] if value.startswith(("http://", "https://")) else []
    parts: Iterable[Any] = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return [found for part in parts for found in addresses(part)]


def name_of(address: str) -> str:
    """The file name that an address ends with."""
    return unquote(urlsplit(address).path).rsplit("/", 1)[-1]


def result_path(task: Task, own: StandIn) -> str:
    """Where the agent leaves its file."""
    found = own.at or (task.evaluator.calls[0].result or {}).get("path")
    return str(found[0] if isinstance(found, list) else found)


def downloads(task: Task) -> list[str]:
    """Addresses that the set-up loads."""
    return [
        found for step in task.setup if step.type == "download" for found in addresses(step.parameters.get("files"))
    ]


def expectations(task: Task) -> list[str]:
    """Addresses of gold files, those of the post-configuration among them."""
    found = [each for call in task.evaluator.calls for each in addresses((call.expected or {}).get("path"))]
    for step in task.evaluator.postconfig:
        found += addresses(step.parameters.get("files")) if step.type == "download" else []
    return found


def prepare(table: Mapping[str, StandIn], folder: Path) -> Mapping[str, tuple[dict[str, bytes], bytes]]:
    """For each task its files by address, and what a right agent leaves. LibreOffice saves several at once."""
    made: dict[Path, Path] = {}
    plan: dict[str, tuple[dict[str, Path], Path]] = {}
    for key, own in table.items():
        plan[key] = _files(key, own, folder / key.replace("/", "-"), made)
    by_kind: dict[str, list[Path]] = {}
    for path in made:
        by_kind.setdefault(path.suffix, []).append(path)
    for kind, paths in by_kind.items():
        for first in range(0, len(paths), _AT_ONCE):
            some = paths[first : first + _AT_ONCE]
            made.update(zip(some, soffice_all(some, kind[1:]), strict=True))
    return {
        key: (
            {name: made.get(path, path).read_bytes() for name, path in files.items()},
            made.get(right, right).read_bytes(),
        )
        for key, (files, right) in plan.items()
    }


def _files(key: str, own: StandIn, folder: Path, made: dict[Path, Path]) -> tuple[dict[str, Path], Path]:
    task = tasks()[key]
    folder.mkdir(parents=True)

    written: dict[tuple[Maker, str, bool], Path] = {}

    def write(maker: Maker, name: str, *, saved: bool) -> Path:
        path = folder / name
        known = (maker, path.suffix, saved)
        if known not in written:
            maker(path)
            written[known] = path
            if saved and path.suffix in OFFICE:
                made[path] = path
        return written[known]

    mark = f"{folder.name}-"
    files = {}
    for number, address in enumerate(expectations(task)):
        suffix = Path(name_of(address)).suffix
        maker = own.others.get(name_of(address)) or own.gold or own.right
        files[address] = write(maker, f"{mark}gold{number}{suffix}", saved=own.all_saved)
    for number, address in enumerate(downloads(task)):
        suffix = Path(name_of(address)).suffix
        maker = own.others.get(name_of(address)) or own.start
        files[address] = write(maker, f"{mark}start{number}{suffix}", saved=own.all_saved)
    right = write(own.right, f"{mark}right{Path(result_path(task, own)).suffix}", saved=own.all_saved)
    return files, right
