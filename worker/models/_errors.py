"""Classifies failed requests: whether to retry, and how long the API asks to wait."""

import json
import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

MOST_WORDS = 500
_PASSING = frozenset({402, 408, 409, 425, 429, 498, 499})
_SERVER = 500
_QUOTA = re.compile(r"credit balance|insufficient[_ ](quota|balance|funds)|quota|billing", re.IGNORECASE)
_BAD_KEY = re.compile(r"API[_ ]key[_ ](not valid|invalid)|API_KEY_INVALID|invalid[_ ]api[_ ]key", re.IGNORECASE)
_BUSY = re.compile(
    r"overloaded|rate_limit|server_error|api_error|timeout|unavailable|internal|exhausted", re.IGNORECASE
)
_DURATION = re.compile(r"^(\d+(?:\.\d+)?)s$")


class FaultAction(StrEnum):
    """How to react to a failure.

    `HOLD`: wait and retry. `NONSENSE`: retry, but not often. `REFUSED`: retrying is useless, the attempt is lost.
    `WRONG`: the request itself is invalid.
    """

    HOLD = "hold"
    NONSENSE = "nonsense"
    REFUSED = "refused"
    WRONG = "wrong"


class ModelFault(Exception):
    """A failed request.

    Attributes:
        after: seconds that the API asks to wait; None = not given.
        shared: whether every request to this endpoint should wait.
        counted_as: how statistics name it, such as `HTTP 429`.
    """

    def __init__(
        self,
        kind: FaultAction,
        message: str,
        *,
        after: float | None = None,
        shared: bool = False,
        counted_as: str = "other",
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.words = message
        self.after = after
        self.shared = shared
        self.counted_as = counted_as

    def hide(self, key: str) -> None:
        """Removes a key from its message."""
        self.words = self.words.replace(key, "[key]")
        self.args = (self.words,)


def fault_of(status: int, headers: Mapping[str, str], body: bytes) -> ModelFault:
    """Classifies a response with a status other than 200.

    Args:
        status: HTTP status.
        headers: names in lower case.
        body: its beginning.
    """
    fault = _fault_of(status, headers, body)
    fault.counted_as = f"HTTP {status}"
    return fault


def _fault_of(status: int, headers: Mapping[str, str], body: bytes) -> ModelFault:
    reply = _json(body)
    message = f"HTTP {status}: {_words(reply, body)}"
    if status in _PASSING or status >= _SERVER:
        # A hint in the body (Gemini's RetryInfo) is as good as the header.
        after = retry_after(headers)
        after = _retry_info(reply) if after is None else after
        return ModelFault(FaultAction.HOLD, message, after=after, shared=status in {429, 529, 503})
    if status in {401, 403, 404, 405}:
        return ModelFault(FaultAction.REFUSED, message)
    if 300 <= status < 400:  # noqa: PLR2004 - redirects
        where = headers.get("location", "")[:200]
        return ModelFault(
            FaultAction.REFUSED, (f"redirect to {where}, which is not followed: set base_url to the final address")
        )
    if _BAD_KEY.search(message):
        return ModelFault(FaultAction.REFUSED, message)
    if _QUOTA.search(message):
        return ModelFault(FaultAction.HOLD, message)
    return ModelFault(FaultAction.WRONG, message)


def fault_within(error: Any) -> ModelFault:
    """Classifies an error inside a stream or a body with status 200."""
    details = error if isinstance(error, dict) else {"message": str(error)}
    words = _words({"error": details}, b"")
    status = details.get("status", details.get("code"))
    if isinstance(status, int) and status >= 400:  # noqa: PLR2004 - failures
        return fault_of(status, {}, json.dumps({"error": details}, default=str).encode())
    code = f"{details.get('type', '')} {details.get('code', '')} {details.get('status', '')} {words}"
    if _BUSY.search(code) or _QUOTA.search(code):
        return ModelFault(FaultAction.HOLD, words)
    return ModelFault(FaultAction.WRONG, words)


def nonsense(message: str) -> ModelFault:
    """Failure for an invalid response."""
    return ModelFault(FaultAction.NONSENSE, message, counted_as="invalid reply")


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds until Retry-After, which is a number of seconds or a date; None if it is neither.

    Args:
        headers: names in lower case.
        now: seconds since 1970; default: the clock.
    """
    exact = _number(headers.get("retry-after-ms", ""))
    if exact is not None:
        return exact / 1000
    text = headers.get("retry-after", "").strip()
    seconds = _number(text)
    if seconds is not None or not text:
        return seconds
    try:
        moment = parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, moment - (time.time() if now is None else now))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _retry_info(reply: Any) -> float | None:
    """Gemini's RetryInfo: `{"error": {"details": [{"retryDelay": "34s"}]}}`."""
    error = reply.get("error") if isinstance(reply, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and (match := _DURATION.match(delay)):
            return float(match[1])
    return None


def _words(reply: Any, body: bytes) -> str:
    """The API's error message, wherever it is, as one bounded line."""
    error = reply[0] if isinstance(reply, list) and reply else reply
    error = error.get("error", error) if isinstance(error, dict) else error
    if isinstance(error, dict):
        parts = [error.get(key) for key in ("message", "detail", "type", "code", "param", "status")]
        words = "; ".join(str(part) for part in parts if part not in {None, ""} and isinstance(part, str | int))
    else:
        words = error if isinstance(error, str) else body.decode(errors="replace")
    line = " ".join((words or "no message").split())
    return "".join(letter for letter in line if letter.isprintable())[:MOST_WORDS]
