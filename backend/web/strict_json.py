"""JSON bodies, read strictly: one meaning per text (RFC 8259, RFC 7493), and the types that the schema names."""

import json
import math
from collections.abc import Sequence
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter, ValidationError

from backend.domain.errors import DeskarenaError

_UNREAD = object()


class MalformedBody(DeskarenaError):
    """The body is not what its type says (400)."""

    status = 400
    code = "malformed_json"


def parse_json(body: bytes) -> Any:
    """The value of a JSON text.

    Raises:
        MalformedBody: it is not UTF-8 or not JSON, names a key twice, is nested too deeply, or has a number that JSON
            or a double cannot have.
    """
    try:
        value = json.loads(
            body.decode(), object_pairs_hook=_object, parse_constant=_no_number, parse_float=_finite, parse_int=_whole
        )
        if b"\\u" in body:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise MalformedBody(f"the body is not UTF-8 text: {error.reason}", code="body_not_utf8") from error
    except UnicodeEncodeError as error:
        raise MalformedBody("a string has half of a surrogate pair", code="body_not_utf8") from error
    except json.JSONDecodeError as error:
        raise MalformedBody(f"not JSON: {error.msg} in line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise MalformedBody("the JSON is nested too deeply", code="json_too_deep") from error
    return value


def check_types(adapter: TypeAdapter[Any], body: bytes) -> None:
    """Refuses values that are converted in silence otherwise, such as `false` or `"3"` for a number.

    Raises:
        RequestValidationError: with every wrong field.
    """
    try:
        adapter.validate_json(body, strict=True)
    except ValidationError as error:
        problems: Sequence[Any] = error.errors(include_url=False)
        raise RequestValidationError([{**problem, "loc": ("body", *problem["loc"])} for problem in problems]) from error


class StrictRequest(Request):
    """A request whose JSON is read by `parse_json`."""

    _parsed: Any = _UNREAD

    async def json(self) -> Any:
        """The body's value, read once. Raises MalformedBody."""
        if self._parsed is _UNREAD:
            self._parsed = parse_json(await self.body())
        return self._parsed


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise MalformedBody(f"the key {twice[:100]!r} occurs twice", code="duplicate_key")
    return value


def _no_number(text: str) -> Any:
    raise MalformedBody(f"{text} is not a number in JSON", code="number_not_finite")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise MalformedBody(f"{text[:40]} is too large", code="number_not_finite")
    return value


def _whole(text: str) -> int:
    """A whole number. Longer ones than a database's have no use, and take long to read."""
    if len(text) > 40:  # noqa: PLR2004 - digits
        raise MalformedBody(f"{text[:40]}… is too large", code="number_not_finite")
    return int(text)
