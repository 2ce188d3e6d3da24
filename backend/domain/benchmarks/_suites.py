"""Reads a published suite as it lies in its repository, a part of it, or a fork: tasks, variants, test lists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.domain.benchmarks._files import name_of
from backend.domain.benchmarks._labels import Suite
from backend.domain.benchmarks._osworld_format import ALL, folder_of, keyed, listed, read_list, read_task, spelled
from backend.domain.benchmarks._places import Place, find_place, sibling
from backend.domain.errors import Invalid
from backend.domain.task import LoadedBenchmark, Task, TaskKey, Variant


@dataclass(frozen=True)
class Published:
    """How a suite is published.

    Attributes:
        kind: name of its reader, and the dialect of its tasks.
        folders: names of the folder of its tasks, best first, each with what holds of the tasks in it.
        asides: the same for folders that are read only when they are given themselves.
        variants: axis and value by the name of the folder beside the tasks that holds them under that condition.
        licence, source: of the suite as published.
    """

    kind: str
    folders: Mapping[str, Suite]
    asides: Mapping[str, Suite]
    variants: Mapping[str, tuple[str, str]]
    licence: str
    source: str


def load_suite(path: Path, published: Published) -> LoadedBenchmark:
    """Reads the tasks at or below `path`; nothing outside of it.

    Raises:
        Invalid: names the first broken file, the key in it and what was expected.
    """
    root = folder_of(path)
    place = find_place(root, tuple(published.folders), published.asides)
    suite = _suite(place, published)
    warnings: list[str] = []
    everything = next((file for file in place.lists if file.name == ALL), None)
    chosen = listed(root, keyed(place.files, root), everything, warnings)
    tasks = tuple(read_task(file, root, key, published.kind, warnings, suite=suite) for key, file in chosen.items())
    return LoadedBenchmark(
        kind=published.kind,
        suite=suite.name,
        tasks=tasks,
        variants=tuple(_variants(root, place, published, suite, chosen, warnings)),
        selections=_selections(root, place, chosen, warnings),
        warnings=(*warnings, *_same_ids(tasks)),
        licence=published.licence,
        source=published.source,
    )


def _suite(place: Place, published: Published) -> Suite:
    """What holds of the tasks: by the folder's name, else by whose domains they have, else as published first."""
    known = {**published.folders, **published.asides}
    if place.folder.name in known:
        return known[place.folder.name]
    domains = {domain for domain, _ in place.files}
    return max(known.values(), key=lambda suite: len(domains & set(suite.groups)))


def _variants(  # noqa: PLR0913, PLR0917 - what reading them needs
    root: Path,
    place: Place,
    published: Published,
    suite: Suite,
    chosen: Mapping[TaskKey, Path],
    warnings: list[str],
) -> list[Variant]:
    found = []
    for name, (axis, value) in published.variants.items():
        beside = sibling(place, root, name)
        if beside is None:
            continue
        files = keyed(beside.files, root)
        warnings += [f"{name_of(files[key], root)}: there is no such task in {place.folder.name}, it was left out"
                     for key in files if key not in chosen]  # fmt: skip
        for key in chosen:
            if key in files:
                task = read_task(files[key], root, key, published.kind, [], suite=suite)
                found.append(Variant(axis=axis, value=value, task=task))
    return found


def _selections(
    root: Path, place: Place, chosen: Mapping[TaskKey, Path], warnings: list[str]
) -> dict[str, tuple[str, ...]]:
    """Named selections from the test lists; what a list names and nobody has is a warning."""
    found: dict[str, tuple[str, ...]] = {}
    for file in place.lists:
        if file.name == ALL:
            continue
        try:
            keys = list(dict.fromkeys(spelled(key, chosen) for key in read_list(file, root)))
        except Invalid as error:
            warnings.append(f"{error}; the list was left out")
            continue
        missing = [str(key) for key in keys if key not in chosen]
        if missing:
            warnings.append(f"{name_of(file, root)}: it names tasks that are not there: {', '.join(missing[:5])}")
        here = tuple(str(key) for key in keys if key in chosen)
        if here:
            found[file.stem] = here
    return found


def _same_ids(tasks: Sequence[Task]) -> list[str]:
    """Ids that two files carry: the key is folder and file name, so both stay."""
    known: dict[str, TaskKey] = {}
    found = []
    for task in tasks:
        given = str(task.raw.get("id"))
        if given in known:
            found.append(f"{task.key}.json: key id: {known[given]} has the same id {given[:100]!r}; both are kept")
        known.setdefault(given, task.key)
    return found
