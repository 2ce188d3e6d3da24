"""Logs as JSON: one line an event, with the ids of what it is about.

Ids are bound where something begins (a request, an attempt) and found in everything that is logged within, in threads
too that `in_this_context` starts. Whatever a guest or model wrote stays within its string: lines are ASCII.
"""

import json
import logging
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal

from backend.domain.formats.foreign_text import visible
from backend.telemetry import tracing

LogFormat = Literal["text", "json"]
ACCESS = "deskarena.access"
"""Logger of answered requests; silent in text."""
MOST_TEXT, MOST_TRACE, MOST_ID = 8_000, 32_000, 64
"""Characters of a message, of a traceback and of an id."""
FIELDS = ("method", "route", "status", "seconds")
"""Further facts of an event, given as `extra`."""
_IDS: ContextVar[dict[str, str] | None] = ContextVar("log_ids", default=None)
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


def limit_text(text: str, most: int) -> str:
    """The text with unfit characters visible, and cut."""
    fit = visible(text[: most + 1])
    return fit if len(fit) <= most else f"{fit[: most - 3]}..."


@contextmanager
def log_ids(**ids: object) -> Iterator[None]:
    """Within it, everything that is logged has these ids."""
    token = _IDS.set({**(_IDS.get() or {}), **_fit(ids)})
    try:
        yield
    finally:
        _IDS.reset(token)


def add_log_ids(**ids: object) -> None:
    """Adds ids that are known only later, for the rest of the innermost `log_ids`; without one, nothing."""
    current = _IDS.get()
    if current is not None:
        current.update(_fit(ids))


def _fit(ids: Mapping[str, object]) -> dict[str, str]:
    return {name: limit_text(str(value), MOST_ID) for name, value in ids.items()}


def current_ids() -> Mapping[str, str]:
    """Ids of what happens now."""
    return _IDS.get() or {}


def in_this_context(work: Callable[..., Any]) -> Callable[..., Any]:
    """`work` for another thread, with the ids of this one."""
    return partial(copy_context().run, work)


def is_request_id(text: str) -> bool:
    """Whether a client's id of its request may be used as it is."""
    return _REQUEST_ID.fullmatch(text) is not None


class JsonFormatter(logging.Formatter):
    """One object a line: `time`, `level`, `logger`, `message`, ids, and `exception` with its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        event: dict[str, Any] = {
            "time": at.replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": limit_text(record.getMessage(), MOST_TEXT),
            "thread": limit_text(record.threadName or "", MOST_ID),
            **current_ids(),
            **tracing.current_ids(),
            **{name: record.__dict__[name] for name in FIELDS if name in record.__dict__},
        }
        trace = record.exc_text or (self.formatException(record.exc_info) if record.exc_info else "")
        if trace:
            event["exception"] = limit_text(trace, MOST_TRACE)
        return json.dumps(event, ensure_ascii=True, default=str)


def uvicorn_logs(form: LogFormat, level: str) -> dict[str, Any] | None:
    """Configuration of all logs of an API process; None: uvicorn's own."""
    logging.getLogger(ACCESS).setLevel(logging.INFO if form == "json" else logging.WARNING)
    if form == "text":
        return None
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonFormatter}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json", "stream": sys.stderr}},
        "root": {"handlers": ["stderr"], "level": level},
    }


def begin_logs(form: LogFormat) -> None:
    """Sets the format of records that are logged before a log is set up."""
    if form == "json" and logging.lastResort is not None:
        logging.lastResort.setFormatter(JsonFormatter())


def use_json(logger: logging.Logger) -> None:
    """All handlers of a logger write JSON."""
    for handler in logger.handlers:
        handler.setFormatter(JsonFormatter())
