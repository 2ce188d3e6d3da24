"""Types that accept any text of a guest, a model, a task file or a browser without failing."""

import json
import math
from datetime import datetime
from typing import Any

from psycopg.abc import Buffer
from psycopg.types.string import StrDumperUnknown
from pydantic_core import from_json
from sqlalchemy import CheckConstraint, DateTime, Dialect, Text
from sqlalchemy.types import TypeDecorator

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def clean_text(value: str) -> str:
    """`value` with NUL and lone surrogates replaced: PostgreSQL refuses both, and guests send both."""
    value = value.replace("\x00", REPLACEMENT)
    return value.encode("utf-8", "replace").decode() if _has_surrogate(value) else value


def _has_surrogate(value: str) -> bool:
    return not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value)


def clean_json(value: Any) -> Any:
    """`value` with clean strings, and None for NaN and infinity, which JSON does not have."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {clean_text(str(key)): clean_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean_json(item) for item in value]
    return value


def load_json(data: bytes | str) -> Any:
    """A JSON value, read three times as fast as by `json`, which reads what is nested in more than 200 levels."""
    try:
        return from_json(data)
    except ValueError:
        return json.loads(data)


def dump_json(value: Any) -> str:
    """Serialises a JSONB value; the engine uses it for every one."""
    return json.dumps(clean_json(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=str)


class SafeTextDumper(StrDumperUnknown):
    """Cleans every text on its way to the server: what is searched for, too, and what no column type sees."""

    def dump(self, obj: str) -> Buffer | None:
        """The text's bytes."""
        return super().dump(clean_text(obj))


class SafeText(TypeDecorator[str]):
    """Untrusted text, cleaned when stored."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - the port's signature
        """Cleans one bound value."""
        return None if value is None else clean_text(value)


class Timestamp(TypeDecorator[datetime]):
    """timestamptz; a naive time is a programming error."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - same
        """Rejects times without a zone."""
        if value is not None and value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        return value


def one_of(column: str, values: type | tuple[str, ...], *, optional: bool = False) -> CheckConstraint:
    """A CHECK that `column` holds one of an enum's values (or NULL)."""
    words = values if isinstance(values, tuple) else tuple(str(value) for value in values)  # type: ignore[attr-defined]
    listed = ", ".join(f"'{word}'" for word in words)
    clause = f"{column} IN ({listed})"
    return CheckConstraint(f"{column} IS NULL OR {clause}" if optional else clause, name=column)
