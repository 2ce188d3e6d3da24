"""Parses and validates request parameters with uniform errors."""

import json
from collections.abc import Mapping
from typing import Any, Final

from aiohttp import web

from guest_server.protocol.errors import GuestError

_REQUIRED: Final = object()


class RequestParams:
    """Parameters of one request, from a JSON body, a form or the query.

    Every reader raises GuestError `bad_request` with the parameter, what was expected and what was received.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def _get(self, name: str, default: Any) -> Any:
        value = self.values.get(name)
        if value is not None:
            return value
        if default is _REQUIRED:
            raise GuestError("bad_request", f"parameter '{name}' is missing")
        return default

    def text(self, name: str, default: Any = _REQUIRED, *, longest: int | None = None) -> str:
        value = self._get(name, default)
        if not isinstance(value, str):
            raise _wrong(name, "a string", value)
        if longest is not None and len(value) > longest:
            raise GuestError("too_large", f"'{name}' has {len(value)} characters, the limit is {longest}")
        return value

    def path(self, name: str) -> str:
        """A file path with `~` and variables such as `$HOME` expanded."""
        import os

        value = self.text(name, longest=4096)
        if not value or "\0" in value:
            raise _wrong(name, "a file path", value)
        return os.path.expandvars(os.path.expanduser(value))  # noqa: PTH111 - a path keeps its form.

    def number(self, name: str, default: Any = _REQUIRED, *, low: float, high: float) -> float:
        """A number between `low` and `high`; forms and queries give it as text."""
        value = self._get(name, default)
        try:
            number = float("a truth value" if isinstance(value, bool) else value)
        except (TypeError, ValueError):
            raise _wrong(name, f"a number from {low:g} to {high:g}", value) from None
        if not low <= number <= high:
            raise _wrong(name, f"a number from {low:g} to {high:g}", value)
        return number

    def integer(self, name: str, default: Any = _REQUIRED, *, low: int, high: int) -> int:
        """A whole number between `low` and `high`."""
        number = self.number(name, default, low=low, high=high)
        if number != int(number):
            raise _wrong(name, "a whole number", number)
        return int(number)

    def flag(self, name: str, default: Any = False) -> bool:  # noqa: FBT002 - a default, not a switch.
        """True or false; forms and queries give it as text."""
        value = self._get(name, default)
        known = {"true": True, "1": True, "false": False, "0": False, True: True, False: False}
        key = value.lower() if isinstance(value, str) else value
        if not isinstance(key, str | bool | int) or key not in known:
            raise _wrong(name, "true or false", value)
        return known[key]

    def mapping(self, name: str) -> dict[str, Any]:
        """A JSON object, empty if absent."""
        value = self._get(name, {})
        if not isinstance(value, dict):
            raise _wrong(name, "an object", value)
        return value

    def command(self, name: str = "command") -> str | list[str]:
        """A command: one string, or a list of strings."""
        value = self._get(name, _REQUIRED)
        texts = value if isinstance(value, list) else [value]
        if not texts or not all(isinstance(text, str) and "\0" not in text for text in texts):
            raise _wrong(name, "a string or a list of strings", value)
        if not any(text.strip() for text in texts):
            raise GuestError("bad_request", f"'{name}' is empty")
        return value  # type: ignore[no-any-return]


def _wrong(name: str, expected: str, value: Any) -> GuestError:
    return GuestError("bad_request", f"'{name}' must be {expected}, not {str(value)[:100]!r}")


async def json_params(request: web.Request) -> RequestParams:
    """The JSON body as parameters; an empty body is an empty object."""
    data = await request.read()
    if not data.strip():
        return RequestParams({})
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise GuestError("bad_request", f"the body is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise GuestError("bad_request", "the body must be a JSON object")
    return RequestParams(value)


async def form_params(request: web.Request) -> RequestParams:
    """A form (or, for convenience, a JSON body) as parameters."""
    if request.content_type == "application/json":
        return await json_params(request)
    return RequestParams(dict(await request.post()))


def query_params(request: web.Request) -> RequestParams:
    """The query string as parameters."""
    return RequestParams(dict(request.query))
