"""Reads a folder of tasks in OSWorld's format (benchmark-formats reference, section 1.1) into Tasks.

For our own task sets: `test_all.json` ({domain: [names]}, optional), `<domain>/<name>.json` beside it or below
`examples/`, `assets/` and `about.json` ({licence, source}). Files outside the folder are never read.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from backend.domain.benchmarks._files import kind_of, name_of, read_bytes, read_json, read_object, short
from backend.domain.benchmarks._osworld_task import PLAIN, Suite, TaskFile, to_task
from backend.domain.errors import Invalid
from backend.domain.model.task import LoadedBenchmark, Task, TaskKey
from backend.domain.model.validation_words import problem_words

MAX_TASKS = 5000
MAX_ASSET_BYTES = 64 * 2**20
MAX_ASSETS_BYTES = 512 * 2**20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]{0,150}")
_RESERVED = frozenset({"assets", "examples"})
ALL = "test_all.json"


def load_folder(path: Path, *, kind: str, dialect: str) -> LoadedBenchmark:
    """Reads all tasks and assets below `path`.

    Args:
        path: the folder.
        kind: name of the reader, stored with the benchmark.
        dialect: dialect of the tasks' set-up steps and checks.

    Raises:
        Invalid: a file is broken; the message names the first one, the key and the expected value.
    """
    root = folder_of(path)
    base = root / "examples" if (root / "examples").is_dir() else root
    files = [
        (file.parent.name, file)
        for file in sorted(base.glob("*/*.json"))
        if base != root or file.parent.name not in _RESERVED
    ]
    if not files:
        raise Invalid(
            "no task file found", code="invalid_task_file", path=path.name, hint="Expected <domain>/<name>.json."
        )
    warnings: list[str] = []
    about = read_object(root / "about.json", root) if (root / "about.json").exists() else {}
    task_files = listed_files(root, files_by_key(files, root), root / ALL if (root / ALL).exists() else None, warnings)
    return LoadedBenchmark(
        kind=kind,
        tasks=tuple(read_task(file, root, key, dialect, warnings) for key, file in task_files.items()),
        assets=read_assets(root),
        warnings=tuple(warnings),
        licence=str(about.get("licence", "")),
        source=str(about.get("source", "")),
    )


def folder_of(path: Path) -> Path:
    """The folder with links resolved. Raises Invalid if it does not exist."""
    if not path.is_dir():
        raise Invalid("expected a folder with task files", code="invalid_task_file", path=str(path))
    return path.resolve()


def files_by_key(files: Sequence[tuple[str, Path]], root: Path) -> dict[TaskKey, Path]:
    """Task files by key: folder and file name. Raises Invalid for too many files and for unusable names."""
    if len(files) > MAX_TASKS:
        raise Invalid(
            f"there are {len(files)} task files, at most {MAX_TASKS} are read", code="invalid_task_file", path=root.name
        )
    for domain, file in files:
        if not _NAME.fullmatch(domain) or not _NAME.fullmatch(file.stem):
            raise Invalid(
                "expected letters, digits, . _ - in a name", code="invalid_task_file", path=name_of(file, root)[:300]
            )
    return {TaskKey(domain=domain, name=file.stem): file for domain, file in files}


def listed_files(
    root: Path, present: Mapping[TaskKey, Path], file: Path | None, warnings: list[str]
) -> dict[TaskKey, Path]:
    """The files that a `test_all.json` names, in its order; without one, all files."""
    if file is None:
        return dict(present)
    keys = [spelling_of(key, present) for key in read_list(file, root)]
    for key in keys:
        if key not in present:
            wrong = f"key {key.domain}: {key.name} is listed, but there is no file {key}.json"
            raise Invalid(wrong, code="invalid_task_file", path=name_of(file, root))
    unlisted = [key for key in present if key not in set(keys)]
    warnings += [f"{key}.json: it is not in {file.name} and was left out" for key in unlisted]
    return {key: present[key] for key in keys}


def spelling_of(key: TaskKey, present: Collection[TaskKey]) -> TaskKey:
    """The key in the spelling of the file's name: upstream's lists were written on a case-insensitive file system."""
    if key in present:
        return key
    same = [known for known in present if str(known).lower() == str(key).lower()]
    return same[0] if len(same) == 1 else key


def read_list(file: Path, root: Path) -> Iterator[TaskKey]:
    """The keys that a list file, {domain: [names]}, names. Raises Invalid."""
    name, value = name_of(file, root), read_json(file, root)
    if not isinstance(value, dict):
        raise Invalid(
            f"expected an object {{domain: [names]}}, got {kind_of(value)}", code="invalid_task_file", path=name
        )
    for domain, names in value.items():
        if not _NAME.fullmatch(domain):
            raise Invalid(f"key {domain[:100]}: expected the name of a domain", code="invalid_task_file", path=name)
        if not isinstance(names, list) or not all(isinstance(word, str) and _NAME.fullmatch(word) for word in names):
            raise Invalid(f"key {domain}: expected a list of names", code="invalid_task_file", path=name)
        yield from (TaskKey(domain=domain, name=word) for word in names)


def read_task(file: Path, root: Path, key: TaskKey, dialect: str, warnings: list[str], *, suite: Suite = PLAIN) -> Task:  # noqa: PLR0913 - what a file is read as
    """Reads one task file; oddities become warnings. Raises Invalid naming file, key and expected value."""
    name = name_of(file, root)
    raw = read_object(file, root)
    with errors_in_file(name):
        parsed = TaskFile.model_validate(raw)
        task = to_task(parsed, raw, key, dialect, suite)
    warnings += odd_id(name, parsed.id, key)
    return task


@contextmanager
def errors_in_file(name: str) -> Iterator[None]:
    """Adds the file's name and the key to errors. Raises Invalid."""
    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])[:300] or "the whole file"
        raise Invalid(
            f"key {where}: {problem_words(first)}, got {short(first['input'])}", code="invalid_task_file", path=name
        ) from error
    except Invalid as error:
        raise Invalid(f"key {error}", code="invalid_task_file", path=name, hint=error.hint) from error


def odd_id(name: str, task_id: str, key: TaskKey) -> list[str]:
    """A warning if the id in the file differs from its name."""
    return [] if task_id == key.name else [f"{name}: key id: it is {short(task_id)}, the file's name counts"]


def read_assets(root: Path) -> Mapping[str, bytes]:
    """The files below `assets/` by relative path, bounded in number and size. Raises Invalid."""
    folder = root / "assets"
    if not folder.is_dir():
        return {}
    assets: dict[str, bytes] = {}
    remaining = MAX_ASSETS_BYTES
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        data = read_bytes(file, root, min(MAX_ASSET_BYTES, remaining))
        remaining -= len(data)
        assets[file.relative_to(folder).as_posix()] = data
    return assets
