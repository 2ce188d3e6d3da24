"""Reads the files of one untrusted folder, bounded in size and never outside the folder."""

import json
import math
from pathlib import Path
from typing import Any, NoReturn

from backend.domain.errors import Invalid

MAX_JSON_BYTES = 2**20
MAX_DEPTH = 50
_SHOWN = 100  # characters of a wrong value in an error message


def name_of(file: Path, root: Path) -> str:
    """A file's name in messages: its path below the folder."""
    return file.relative_to(root).as_posix()


def read_bytes(file: Path, root: Path, most: int) -> bytes:
    """A file of at most `most` bytes. Raises Invalid for a larger one and for a link out of the folder."""
    name = name_of(file, root)
    try:
        if not file.resolve().is_relative_to(root):
            raise Invalid("it is a link that leads out of the folder", code="invalid_task_file", path=name)
        if file.stat().st_size > most:
            raise Invalid(
                f"it has {file.stat().st_size} bytes, at most {most} are read", code="invalid_task_file", path=name
            )
        return file.read_bytes()
    except (OSError, RuntimeError) as error:  # RuntimeError: a cycle of links.
        raise Invalid(f"it cannot be read: {error}", code="invalid_task_file", path=name) from error


def read_json(file: Path, root: Path) -> Any:
    """A JSON file of bounded size and depth that the database can store unchanged. Raises Invalid."""
    return parse_json(read_bytes(file, root, MAX_JSON_BYTES), name_of(file, root))


def parse_json(data: bytes, name: str) -> Any:
    """JSON of bounded size and depth that the database can store unchanged. Raises Invalid."""
    if len(data) > MAX_JSON_BYTES:
        raise Invalid(
            f"it has {len(data)} bytes, at most {MAX_JSON_BYTES} are read", code="invalid_task_file", path=name
        )
    try:
        value = json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"expected JSON: {error or 'too deep'}", code="invalid_task_file", path=name) from error
    _keepable(value, name)
    return value


def read_object(file: Path, root: Path) -> dict[str, Any]:
    """A JSON file that holds an object. Raises Invalid."""
    value = read_json(file, root)
    if not isinstance(value, dict):
        raise Invalid(f"expected an object, got {kind_of(value)}", code="invalid_task_file", path=name_of(file, root))
    return value


def kind_of(value: Any) -> str:
    """The type of a JSON value, as a word."""
    return {dict: "an object", list: "a list", str: "a text", type(None): "null"}.get(type(value), type(value).__name__)


def short(value: Any) -> str:
    """A value for an error message, cut to a limit."""
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


def _keepable(value: Any, name: str) -> None:
    """Rejects what the database cannot store: NUL, lone surrogates, infinite numbers, unbounded nesting."""
    level = [("", value)]
    for _ in range(MAX_DEPTH):
        for path, part in level:
            _scalar(path, part, name)
        level = [(f"{path}.{key}".lstrip("."), part) for path, whole in level for key, part in _parts(whole)]
        for path, _part in level:
            _scalar(path, path, name)
        if not level:
            return
    raise Invalid(
        f"key {level[0][0][:_SHOWN]} ...: nested more than {MAX_DEPTH} deep", code="invalid_task_file", path=name
    )


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    return [(str(number), part) for number, part in enumerate(value)] if isinstance(value, list) else []


def _scalar(path: str, value: Any, name: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        wrong = "a number that is too large"
    elif isinstance(value, str) and ("\x00" in value or (not value.isascii() and _halved(value))):
        wrong = "a text with a NUL or half a character in it"
    else:
        return
    where = path.encode(errors="replace").decode().replace("\x00", "?")[:_SHOWN]
    raise Invalid(f"key {where or 'the whole file'}: {wrong}", code="invalid_task_file", path=name)


def _halved(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)
