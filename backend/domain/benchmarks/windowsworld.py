"""`windowsworld`: WindowsWorld's `benchmark.json`, one list of all tasks, and any file in the same form.

A task's domain is its persona. English is the base, Chinese a variant. Beside the published keys an entry may have
`deskarena` (see `_windowsworld_format.WindowsWorldAdditions`), and `assets/` and `about.json` may be beside the file.
"""

from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from backend.domain.benchmarks._files import kind_of, name_of, read_json, read_object, short
from backend.domain.benchmarks._labels import unknown_needs
from backend.domain.benchmarks._osworld_format import MAX_TASKS, folder_of, read_assets
from backend.domain.benchmarks._windowsworld_format import WindowsWorldTask
from backend.domain.benchmarks._windowsworld_names import APPS, PERSONAS, app_of, path_of
from backend.domain.benchmarks._windowsworld_setup import MOCKED, SharedAssets, asset_of, shared_files
from backend.domain.benchmarks._windowsworld_task import task_of, variants_of
from backend.domain.errors import Invalid
from backend.domain.model.task import LoadedBenchmark, Task, Variant
from backend.domain.model.validation_words import problem_words
from backend.domain.registry import PluginKind, register

FILE = "benchmark.json"
Raw = dict[str, Any]
"""An entry exactly as in the file."""
_REPOSITORY = "https://github.com/HITsz-TMG/WindowsWorld"


@register(PluginKind.BENCHMARK, "windowsworld")
class WindowsWorld:
    """WindowsWorld: from a checkout or the folder that holds its file, or a file in the same form."""

    kind = "windowsworld"

    def load(self, path: Path) -> LoadedBenchmark:
        root = folder_of(path)
        file = _find(root)
        folder = file.parent
        about = read_object(folder / "about.json", root) if (folder / "about.json").exists() else {}
        entries, raws = _entries(file, root)
        warnings, assets = _repairs(entries), {**_pages(entries), **read_assets(folder)}
        shared = shared_files(entries, assets)
        tasks: list[Task] = []
        variants: list[Variant] = []
        for number, (entry, raw) in enumerate(zip(entries, raws, strict=True)):
            tasks.append(_task(entry, raw, shared, warnings, f"{name_of(file, root)}: {number}"))
            variants += variants_of(entry, tasks[-1])
        is_ours = bool(about)
        return LoadedBenchmark(
            kind=self.kind,
            suite="" if is_ours else self.kind,
            tasks=tuple(tasks),
            variants=tuple(variants),
            selections=_selections(tasks),
            assets=assets,
            warnings=(*warnings, *unknown_needs(tasks)),
            licence=str(about.get("licence", "")) if is_ours else "Apache-2.0",
            source=str(about.get("source", "")) if is_ours else _REPOSITORY,
        )


def _find(root: Path) -> Path:
    """The file in a folder, or in the single folder of a packed checkout."""
    files = [file for file in (root / FILE, *sorted(root.glob(f"*/{FILE}"))) if file.is_file()]
    if not files:
        raise Invalid(
            f"there is no {FILE}", code="invalid_task_file", path=root.name, hint="Give the folder that holds it."
        )
    return files[0]


def _entries(file: Path, root: Path) -> tuple[list[WindowsWorldTask], list[Raw]]:
    """The entries, validated and in the original form. Raises Invalid naming the first broken one and its key."""
    name, value = name_of(file, root), read_json(file, root)
    if not isinstance(value, list) or not value:
        raise Invalid(f"expected a list of tasks, got {kind_of(value)}", code="invalid_task_file", path=name)
    if len(value) > MAX_TASKS:
        raise Invalid(
            f"there are {len(value)} tasks, at most {MAX_TASKS} are read", code="invalid_task_file", path=name
        )
    entries = []
    for number, raw in enumerate(value):
        try:
            entries.append(WindowsWorldTask.model_validate(raw))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in (number, *first["loc"]))[:300]
            raise Invalid(
                f"key {where}: {problem_words(first)}, got {short(first['input'])}", code="invalid_task_file", path=name
            ) from error
    twice = [task for task, often in Counter(entry.task_id for entry in entries).items() if often > 1]
    if twice:
        raise Invalid(f"key task_id: {twice[0]} occurs twice", code="invalid_task_file", path=name)
    return entries, value


def _task(entry: WindowsWorldTask, raw: Raw, shared: SharedAssets, warnings: list[str], entry_path: str) -> Task:
    try:
        return task_of(entry, raw, shared, warnings)
    except ValidationError as error:
        raise Invalid(
            f"{entry.task_id}: {problem_words(error.errors(include_url=False)[0])}",
            code="invalid_task_file",
            path=entry_path,
        ) from error
    except Invalid as error:
        raise Invalid(
            f"{entry.task_id}: key {error}", code="invalid_task_file", path=entry_path, hint=error.hint
        ) from error


def _pages(entries: Sequence[WindowsWorldTask]) -> dict[str, bytes]:
    """Default pages for mocked addresses that the folder has no page for."""
    urls = dict.fromkeys(url for entry in entries for url in entry.environment_setup.urls_to_mock)
    return {asset_of(url): _page(url) for url in urls}


def _page(url: str) -> bytes:
    words = escape(MOCKED.format(url=url))
    return (
        f"<!doctype html><meta charset=utf-8><title>{escape(url)}</title><h1>{escape(url)}</h1><p>{words}</p>".encode()
    )


def _selections(tasks: Sequence[Task]) -> dict[str, tuple[str, ...]]:
    """`english`: the tasks whose criteria fit the English instruction."""
    fitting = tuple(str(task.key) for task in tasks if "unreviewed_criteria" not in task.labels.extra)
    return {"english": fitting} if fitting else {}


def _repairs(entries: Sequence[WindowsWorldTask]) -> list[str]:
    """Warnings for corrected spellings of personas, applications and paths."""
    personas = Counter(entry.persona for entry in entries if entry.persona in PERSONAS)
    apps = Counter(app for entry in entries for app in dict.fromkeys(entry.involved_apps))
    paths = Counter(
        (file.file_path, path_of(file.file_path))
        for entry in entries
        for file in entry.environment_setup.files_to_create
    )
    return [
        *(f"persona: {name!r} is read as {PERSONAS[name]!r} ({_tasks(n)})" for name, n in sorted(personas.items())),
        *(f"involved_apps: {name!r} is read as {app_of(name)!r} ({_tasks(n)})" for name, n in sorted(apps.items())
          if name in APPS or app_of(name) != name),
        *(f"file_path: {old!r} is read as {new!r} ({n} file{'' if n == 1 else 's'})"
          for (old, new), n in sorted(paths.items()) if old != new),
    ]  # fmt: skip


def _tasks(number: int) -> str:
    return f"{number} task{'' if number == 1 else 's'}"
