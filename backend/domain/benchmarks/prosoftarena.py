"""`prosoftarena`: ProSoftArena's tasks: WindowsAgentArena's schema with phases and metadata.

Source: its paper, figure 7 and table 9; benchmark-formats reference, section 1.5. It is not published as files, so the
    layout is WAA's: `<domain>/<name>.json` at or below the given one, with `assets/`, `about.json`,
`test_all.json` and `metadata.json` in the given folder, all optional.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from backend.domain.benchmarks._files import kind_of, name_of, read_json, read_object, short
from backend.domain.benchmarks._labels import unknown_needs
from backend.domain.benchmarks._osworld_format import (
    ALL,
    errors_in_file,
    files_by_key,
    folder_of,
    listed_files,
    odd_id,
    read_assets,
)
from backend.domain.benchmarks._places import find_place
from backend.domain.benchmarks._prosoft_metadata import read_metadata
from backend.domain.benchmarks._prosoft_task import ProTaskFile, to_pro_task
from backend.domain.errors import Invalid
from backend.domain.model.task import JSON, LoadedBenchmark, Task, TaskKey
from backend.domain.registry import PluginKind, register

_METADATA = "metadata.json"


@register(PluginKind.BENCHMARK, "prosoftarena")
class ProSoftArena:
    """Levels L1 to L4, disciplines, software with licences, weighted phases, core operations."""

    kind = "prosoftarena"

    def load(self, path: Path) -> LoadedBenchmark:
        root = folder_of(path)
        location = find_place(root, ("examples", "tasks"), ())
        folder = _Folder(root, self.kind)
        everything = next((file for file in location.lists if file.name == ALL), None)
        task_files = listed_files(root, files_by_key(location.files, root), everything, folder.warnings)
        tasks = _with_operations(tuple(folder.task(key, file) for key, file in task_files.items()), folder.warnings)
        about = read_object(root / "about.json", root) if (root / "about.json").exists() else {}
        return LoadedBenchmark(
            kind=self.kind,
            suite=str(about.get("suite", "prosoftarena")),
            tasks=tasks,
            assets=read_assets(root),
            warnings=(*folder.warnings, *unknown_needs(tasks)),
            licence=str(about.get("licence", "")) or "as its author says: see the files",
            source=str(about.get("source", "")) or "ProSoftArena",
        )


@dataclass
class _Folder:
    """The folder being read, with its metadata and warnings so far."""

    root: Path
    kind: str
    warnings: list[str] = field(default_factory=list)
    metadata: Mapping[str, JSON] = field(init=False)

    def __post_init__(self) -> None:
        file = self.root / _METADATA
        self.metadata = _by_id(file, self.root) if file.exists() else {}

    def task(self, key: TaskKey, file: Path) -> Task:
        """Reads one task file. Raises Invalid naming file, key and expected value."""
        name, raw = name_of(file, self.root), read_object(file, self.root)
        with errors_in_file(name):
            parsed = ProTaskFile.model_validate(raw)
            apps = tuple(dict.fromkeys([*parsed.related_apps, *([parsed.snapshot] if parsed.snapshot else [])]))
            raw_metadata = raw.get("metadata", self.metadata.get(parsed.id, self.metadata.get(key.name)))
            metadata = read_metadata(
                parsed.id, raw_metadata, apps, lambda words: self.warnings.append(f"{name}: {words}")
            )
            task = to_pro_task(parsed, raw, key, self.kind, metadata)
        self.warnings += odd_id(name, parsed.id, key)
        return task


def _by_id(file: Path, root: Path) -> Mapping[str, JSON]:
    """Metadata by task id, from `{id: {...}}` or a list of objects with a `Task ID`. Raises Invalid."""
    value = read_json(file, root)
    if isinstance(value, dict):
        return value
    if not isinstance(value, list):
        raise Invalid(
            f"expected an object or a list, got {kind_of(value)}", code="invalid_task_file", path=name_of(file, root)
        )
    metadata: dict[str, JSON] = {}
    for index, item in enumerate(value):
        names = [name for name in ("Task ID", "task_id", "id") if isinstance(item, dict) and name in item]
        if not names or not isinstance(item[names[0]], str):
            raise Invalid(
                f"key {index}: expected an object with a `Task ID`, got {short(item)}",
                code="invalid_task_file",
                path=_METADATA,
            )
        metadata[item[names[0]]] = item
    return metadata


def _with_operations(tasks: tuple[Task, ...], warnings: list[str]) -> tuple[Task, ...]:
    """The tasks with `extra.operations`: the names of the L1 operations that each one is or needs.

    An operation is one L1 task; L2 and L3 tasks name it by that task's id, its key or its `operation`.
    """
    names: dict[str, str] = {}
    for task in tasks:
        if task.labels.level == "L1":
            name = _operation(task)
            names |= dict.fromkeys((name, str(task.key), task.key.name, str(task.labels.extra.get("id"))), name)
    return tuple(_with_names(task, names, warnings) for task in tasks)


def _operation(task: Task) -> str:
    return str(task.labels.extra.get("operation") or task.key.name)


def _with_names(task: Task, names_by_word: Mapping[str, str], warnings: list[str]) -> Task:
    if task.labels.level == "L1":
        names = [_operation(task)]
    else:
        operations = task.labels.extra.get("core_operations", [])
        strange = [operation for operation in operations if operation not in names_by_word]
        if strange:
            listing = ", ".join(strange[:5])
            warnings.append(
                f"{task.key}.json: metadata core_operations: no L1 task is called {listing}; kept as written"
            )
        names = [names_by_word.get(operation, operation) for operation in operations]
    if not names:
        return task
    extra = {**task.labels.extra, "operations": list(dict.fromkeys(names))}
    return task.model_copy(update={"labels": task.labels.model_copy(update={"extra": extra})})
