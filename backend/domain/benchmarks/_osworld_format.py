"""Reads a folder of tasks in OSWorld's format (benchmark-formats reference, section 1.1) into Tasks.

Layout: `test_all.json` ({domain: [names]}, optional), `<domain>/<name>.json` beside it or below `examples/`, and for
our own task sets `assets/` and `about.json` ({licence, source}). Nothing outside of the folder is read.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from backend.domain.benchmarks._osworld_task import TaskFile, to_task
from backend.domain.errors import Invalid
from backend.domain.task import LoadedBenchmark, Task, TaskKey

MAX_TASK_BYTES = 2**20
MAX_TASKS = 5000
MAX_ASSET_BYTES = 64 * 2**20
MAX_ASSETS_BYTES = 512 * 2**20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]{0,150}")
_RESERVED = frozenset({"assets", "examples"})


def load_folder(path: Path, *, kind: str, dialect: str) -> LoadedBenchmark:
    """Reads all tasks and assets below `path`.

    Args:
        path: the folder.
        kind: name of the reader, kept with the benchmark.
        dialect: whose semantics the tasks' names have.

    Raises:
        Invalid: names the first broken file, the key in it and what was expected.
    """
    if not path.is_dir():
        raise Invalid("expected a folder with task files", path=str(path))
    root = path.resolve()
    warnings: list[str] = []
    files = _task_files(root, warnings)
    if not files:
        raise Invalid("there is no task file", path=path.name, hint="Expected <domain>/<name>.json.")
    about = read_json(root / "about.json", root) if (root / "about.json").exists() else {}
    if not isinstance(about, dict):
        raise Invalid(f"expected an object, got {_kind(about)}", path="about.json")
    return LoadedBenchmark(
        kind=kind,
        tasks=tuple(read_task(file, root, key, dialect, warnings) for key, file in files),
        assets=_assets(root),
        warnings=tuple(warnings),
        licence=str(about.get("licence", "")),
        source=str(about.get("source", "")),
    )


def read_task(file: Path, root: Path, key: TaskKey, dialect: str, warnings: list[str]) -> Task:
    """One task file. Raises Invalid naming file, key and what was expected; odd things become warnings."""
    name = file.relative_to(root).as_posix()
    raw = read_json(file, root)
    if not isinstance(raw, dict):
        raise Invalid(f"expected an object, got {_kind(raw)}", path=name)
    try:
        parsed = TaskFile.model_validate(raw)
        task = to_task(parsed, raw, key, dialect)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole file"
        raise Invalid(f"key {where}: {first['msg']}, got {_short(first['input'])}", path=name) from error
    except Invalid as error:
        raise Invalid(f"key {error}", path=name, hint=error.hint) from error
    if parsed.id != key.name:
        warnings.append(f"{name}: key id: it is {parsed.id!r}, the file's name counts")
    return task


def read_json(file: Path, root: Path) -> Any:
    """A JSON file of bounded size. Raises Invalid."""
    name = file.relative_to(root).as_posix()
    data = _bytes(file, root, MAX_TASK_BYTES)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"expected JSON: {error}", path=name) from error


def _task_files(root: Path, warnings: list[str]) -> list[tuple[TaskKey, Path]]:
    base = root / "examples" if (root / "examples").is_dir() else root
    present = {
        TaskKey(domain=file.parent.name, name=file.stem): file
        for file in sorted(base.glob("*/*.json"))
        if base != root or file.parent.name not in _RESERVED
    }
    if len(present) > MAX_TASKS:
        raise Invalid(f"there are {len(present)} task files, at most {MAX_TASKS} are read", path=root.name)
    for key, file in present.items():
        if not _NAME.fullmatch(key.domain) or not _NAME.fullmatch(key.name):
            raise Invalid("expected letters, digits, . _ - in a name", path=file.relative_to(root).as_posix())
    if not (root / "test_all.json").exists():
        return list(present.items())
    listed = list(_listed(read_json(root / "test_all.json", root)))
    for key in listed:
        if key not in present:
            raise Invalid(
                f"key {key.domain}: {key.name} is listed, but there is no file {key}.json", path="test_all.json"
            )
    warnings += [f"{key}.json: it is not in test_all.json and was left out" for key in present if key not in listed]
    return [(key, present[key]) for key in dict.fromkeys(listed)]


def _listed(value: Any) -> Iterator[TaskKey]:
    if not isinstance(value, dict):
        raise Invalid(f"expected an object {{domain: [names]}}, got {_kind(value)}", path="test_all.json")
    for domain, names in value.items():
        if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
            raise Invalid(f"key {domain}: expected a list of names", path="test_all.json")
        yield from (TaskKey(domain=domain, name=name) for name in names)


def _assets(root: Path) -> Mapping[str, bytes]:
    folder = root / "assets"
    if not folder.is_dir():
        return {}
    found: dict[str, bytes] = {}
    left = MAX_ASSETS_BYTES
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        data = _bytes(file, root, min(MAX_ASSET_BYTES, left))
        left -= len(data)
        found[file.relative_to(folder).as_posix()] = data
    return found


def _bytes(file: Path, root: Path, most: int) -> bytes:
    name = file.relative_to(root).as_posix()
    if not file.resolve().is_relative_to(root):
        raise Invalid("it is a link that leads out of the folder", path=name)
    try:
        if file.stat().st_size > most:
            raise Invalid(f"it has {file.stat().st_size} bytes, at most {most} are read", path=name)
        return file.read_bytes()
    except OSError as error:
        raise Invalid(f"it cannot be read: {error.strerror}", path=name) from error


def _kind(value: Any) -> str:
    return {dict: "an object", list: "a list", str: "a text", type(None): "null"}.get(type(value), type(value).__name__)


def _short(value: Any) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 100 else f"{text[:100]} ..."  # noqa: PLR2004 - of an error message
