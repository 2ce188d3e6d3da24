"""Reads a published suite from its repository, a part of it, or a fork: tasks, variants, test lists."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.domain.benchmarks._files import name_of
from backend.domain.benchmarks._labels import Suite, app_of, unknown_needs
from backend.domain.benchmarks._osworld_format import (
    ALL,
    files_by_key,
    folder_of,
    listed_files,
    read_list,
    read_task,
    spelling_of,
)
from backend.domain.benchmarks._places import TaskFolder, find_place, sibling
from backend.domain.errors import Invalid
from backend.domain.model.task import LoadedBenchmark, Task, TaskKey, Variant

_INFEASIBLE = "test_infeasible"


@dataclass(frozen=True)
class SuitePublication:
    """How a suite is published.

    Attributes:
        kind: name of its reader, and the dialect of its tasks.
        folders: names of its task folders, preferred first, each with the properties of its tasks.
        asides: the same for folders that are read only when named explicitly.
        variants: by sibling folder of the tasks, the axis and value of the variant in it.
        licence, source: licence and source of the published suite.
    """

    kind: str
    folders: Mapping[str, Suite]
    asides: Mapping[str, Suite]
    variants: Mapping[str, tuple[str, str]]
    licence: str
    source: str


def load_suite(path: Path, published: SuitePublication) -> LoadedBenchmark:
    """Reads the tasks at or below `path`, never outside it.

    Raises:
        Invalid: a file is broken; the message names the first one, the key and the expected value.
    """
    root = folder_of(path)
    task_folder = find_place(root, tuple(published.folders), published.asides)
    suite = _suite(task_folder, published)
    warnings: list[str] = []
    everything = next((file for file in task_folder.lists if file.name == ALL), None)
    task_files = listed_files(root, files_by_key(task_folder.files, root), everything, warnings)
    tasks = tuple(read_task(file, root, key, published.kind, warnings, suite=suite) for key, file in task_files.items())
    variants = _variants(root, task_folder, published, suite, task_files, warnings)
    selections = _selections(root, task_folder, task_files, warnings)
    return LoadedBenchmark(
        kind=published.kind,
        suite=suite.name,
        tasks=tasks,
        variants=tuple(variants),
        selections=selections,
        warnings=(
            *warnings,
            *_same_ids(tasks),
            *_missing_infeasible(selections, tasks),
            *_spellings(tasks),
            *unknown_needs(tasks),
        ),
        licence=published.licence,
        source=published.source,
    )


def _suite(task_folder: TaskFolder, published: SuitePublication) -> Suite:
    """The suite's properties: by the folder's name, else by its domains, else the first published ones."""
    folders = {**published.folders, **published.asides}
    if task_folder.folder.name in folders:
        return folders[task_folder.folder.name]
    domains = {domain for domain, _ in task_folder.files}
    return max(folders.values(), key=lambda suite: len(domains & set(suite.groups)))


def _variants(  # noqa: PLR0913, PLR0917 - what reading them needs
    root: Path,
    task_folder: TaskFolder,
    published: SuitePublication,
    suite: Suite,
    task_files: Mapping[TaskKey, Path],
    warnings: list[str],
) -> list[Variant]:
    variants = []
    for name, (axis, value) in published.variants.items():
        beside = sibling(task_folder, root, name)
        if beside is None:
            continue
        files = files_by_key(beside.files, root)
        warnings += [f"{name_of(files[key], root)}: there is no such task in {task_folder.folder.name}, it was left out"
                     for key in files if key not in task_files]  # fmt: skip
        for key in task_files:
            if key in files:
                task = read_task(files[key], root, key, published.kind, [], suite=suite)
                variants.append(Variant(axis=axis, value=value, task=task))
    return variants


def _selections(
    root: Path, task_folder: TaskFolder, task_files: Mapping[TaskKey, Path], warnings: list[str]
) -> dict[str, tuple[str, ...]]:
    """Named selections from the test lists; a listed task that does not exist is a warning."""
    selections: dict[str, tuple[str, ...]] = {}
    for file in task_folder.lists:
        if file.name == ALL:
            continue
        try:
            keys = list(dict.fromkeys(spelling_of(key, task_files) for key in read_list(file, root)))
        except Invalid as error:
            warnings.append(f"{error}; the list was left out")
            continue
        missing = [str(key) for key in keys if key not in task_files]
        if missing:
            warnings.append(f"{name_of(file, root)}: it names tasks that are not there: {', '.join(missing[:5])}")
        selected = tuple(str(key) for key in keys if key in task_files)
        if selected:
            selections[file.stem] = selected
    return selections


def _missing_infeasible(selections: Mapping[str, tuple[str, ...]], tasks: Sequence[Task]) -> list[str]:
    """Infeasible tasks that are missing from the published list of them."""
    infeasible = selections.get(_INFEASIBLE)
    if infeasible is None:
        return []
    lacking = [str(task.key) for task in tasks if task.evaluator.infeasible and str(task.key) not in infeasible]
    return [f"{_INFEASIBLE}.json: it lacks infeasible tasks: {', '.join(lacking[:5])}"] if lacking else []


def _spellings(tasks: Sequence[Task]) -> list[str]:
    """Warnings for applications that the files spell in several ways."""
    counts = Counter(
        (name, app_of(name, synonyms=True)) for task in tasks for name in task.raw.get("related_apps") or ()
    )
    return [
        f"related_apps: {name!r} is read as {app!r} ({number} task{'' if number == 1 else 's'})"
        for (name, app), number in sorted(counts.items())
        if name != app
    ]


def _same_ids(tasks: Sequence[Task]) -> list[str]:
    """Warnings for ids that two files share: keys are folder and file name, so both tasks stay."""
    keys_by_name: dict[str, TaskKey] = {}
    warnings = []
    for task in tasks:
        task_id = str(task.raw.get("id"))
        if task_id in keys_by_name:
            warnings.append(
                f"{task.key}.json: key id: {keys_by_name[task_id]} has the same id {task_id[:100]!r}; both are kept"
            )
        keys_by_name.setdefault(task_id, task.key)
    return warnings
