"""Reads OmniBench's files (benchmark-formats reference, section 1.4): a pool of subtasks, and tasks over it."""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from backend.domain.benchmarks._files import kind_of, name_of, parse_json, read_bytes, read_json, read_object
from backend.domain.errors import Invalid
from backend.domain.model.validation_words import problem_words
from backend.domain.omnibench.subtask import Subtask
from backend.domain.omnibench.task_file import GraphTask, Pool, read_task

SUBTASKS, FUNCTIONS, LINES, ABOUT = "subtasks.json", "eval_functions", "tasks.jsonl", "about.json"
MAX_SUBTASKS = 5000
MAX_TASKS = 50_000
MAX_SOURCE = 100_000
MAX_LINES_BYTES = 512 * 2**20
_KEYS = {field.alias or name for name, field in Subtask.model_fields.items()} - {"source"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]{0,150}")


def read_pool(root: Path, warnings: list[str]) -> Pool:
    """`subtasks.json`, with `eval_functions/<id>.txt` for those that have no expression.

    Args:
        root: the folder.
        warnings: receives warnings.

    Raises:
        Invalid: a file is wrong; the message names the subtask and the key.
    """
    value = read_json(root / SUBTASKS, root)
    if not isinstance(value, list) or len(value) > MAX_SUBTASKS:
        raise Invalid(
            f"expected a list of at most {MAX_SUBTASKS} subtasks, got {kind_of(value)}",
            code="invalid_task_file",
            path=SUBTASKS,
        )
    pool: dict[str, Subtask] = {}
    for number, raw in enumerate(value):
        subtask = _subtask(raw, number, root, warnings)
        if subtask.id in pool:
            raise Invalid(f"key {number}.id: {subtask.id} occurs twice", code="invalid_task_file", path=SUBTASKS)
        pool[subtask.id] = subtask
    return pool


def task_files(root: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and content of every task: lines of `tasks.jsonl`, then files of `tasks/`, else of the folder.

    Raises:
        Invalid: a file is broken, or there are too many.
    """
    folder = root / "tasks"
    files = sorted((folder if folder.is_dir() else root).glob("*.json"))
    files = [file for file in files if file.name not in {SUBTASKS, ABOUT}]
    every: Iterator[tuple[str, dict[str, Any] | Path]] = chain(_lines(root), ((file.stem, file) for file in files))
    for number, (name, raw) in enumerate(every):
        if number >= MAX_TASKS:
            raise Invalid(f"at most {MAX_TASKS} tasks are read", code="invalid_task_file", path=root.name)
        if not _NAME.fullmatch(name):
            raise Invalid("expected letters, digits, . _ - in a name", code="invalid_task_file", path=name[:300])
        yield name, read_object(raw, root) if isinstance(raw, Path) else raw


def read_tasks(root: Path, pool: Pool) -> list[GraphTask]:
    """The tasks of a folder over its pool. Raises Invalid naming the task and the key that is wrong."""
    tasks = []
    for name, raw in task_files(root):
        try:
            tasks.append(read_task(raw, name, pool))
        except Invalid as error:
            raise Invalid(f"key {error}", code="invalid_task_file", path=name, hint=error.hint) from error
    return tasks


def _subtask(raw: Any, number: int, root: Path, warnings: list[str]) -> Subtask:
    if not isinstance(raw, dict):
        raise Invalid(f"key {number}: expected an object, got {kind_of(raw)}", code="invalid_task_file", path=SUBTASKS)
    unknown = sorted(set(raw) - _KEYS)
    warnings += [f"{SUBTASKS}: key {number}.{key[:100]} is not understood and was left out" for key in unknown]
    known: dict[str, Any] = {key: value for key, value in raw.items() if key in _KEYS}
    if isinstance(known.get("OS"), str):
        known["OS"] = known["OS"].lower()
    if known.get("available_parameters") == []:
        del known["available_parameters"]
    try:
        subtask = Subtask.model_validate(known)
        subtask.check()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, (number, *first["loc"])))[:300]
        raise Invalid(f"key {where}: {problem_words(first)}", code="invalid_task_file", path=SUBTASKS) from error
    except Invalid as error:
        raise Invalid(f"key {number}.{error}", code="invalid_task_file", path=SUBTASKS) from error
    file = root / FUNCTIONS / f"{subtask.id}.txt"
    if subtask.evaluation or not file.is_file():
        return subtask
    source = read_bytes(file, root, MAX_SOURCE)
    try:
        return subtask.model_copy(update={"source": source.decode()})
    except UnicodeDecodeError as error:
        raise Invalid(f"expected text: {error}", code="invalid_task_file", path=name_of(file, root)) from error


def _lines(root: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if not (root / LINES).is_file():
        return
    for number, line in enumerate(read_bytes(root / LINES, root, MAX_LINES_BYTES).splitlines(), start=1):
        raw = parse_json(line, f"{LINES}, line {number}")
        if not isinstance(raw, dict) or not isinstance(raw.get("task_id"), str):
            raise Invalid(f"line {number}: expected an object with a task_id", code="invalid_task_file", path=LINES)
        yield raw["task_id"], raw
