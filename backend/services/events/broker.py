"""Synchronous connection to Redis or Valkey, with short timeouts and without errors while it is unavailable."""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from backend import rotating_secrets
from backend.config import get_settings

logger = logging.getLogger(__name__)
T = TypeVar("T")

TIMEOUT = 0.5
"""Time limit of one call: a step never waits longer for the broker."""
FAILURES = (redis.RedisError, OSError)
"""Exceptions of a call if the broker is unavailable or refuses."""
PAUSE = 2.0
"""Seconds without another try after a failure, so that an unavailable broker costs one timeout, not one per step."""


def client_url(url: str) -> str:
    """`url` in the client library's form: Celery's `redis+socket:///path?virtual_host=0` becomes `unix://`."""
    parts = urlsplit(url)
    if parts.scheme != "redis+socket":
        return url
    query = [("db" if key == "virtual_host" else key, value) for key, value in parse_qsl(parts.query)]
    return f"unix://{parts.netloc}{parts.path}" + (f"?{urlencode(query)}" if query else "")


class Broker:
    """One server. Without an address, a broker that is always unavailable."""

    def __init__(self, url: str) -> None:
        self.given_url = url
        self.url = client_url(url)
        self._client = self._connect() if url else None
        self._away_until = 0.0
        self._lock = threading.Lock()

    def _connect(self) -> Any:
        return redis.Redis.from_url(
            self.url,
            socket_timeout=TIMEOUT,
            socket_connect_timeout=TIMEOUT,
            retry=Retry(NoBackoff(), 1),  # one stale pooled connection after a restart of the server
            health_check_interval=0,
        )

    def call(self, work: Callable[[Any], T], default: T) -> T:
        """Result of `work(client)`, or `default` while the server is unavailable.

        Never raises because of the broker.
        """
        if self._client is None or time.monotonic() < self._away_until:
            return default
        try:
            return work(self._client)
        except (redis.RedisError, OSError) as error:
            self._rest(error)
            return default

    def _rest(self, error: Exception) -> None:
        with self._lock:
            first = time.monotonic() >= self._away_until
            self._away_until = time.monotonic() + PAUSE
        if first:
            logger.warning("the broker does not answer (%s); nothing is lost, live views pause", error)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()


class CurrentPassword(redis.CredentialProvider):
    """User and password of an address as it is now, for each new connection."""

    def __init__(self, address: Callable[[], str]) -> None:
        self._address = address

    def get_credentials(self) -> tuple[str] | tuple[str, str]:
        """(user, password), or (password)."""
        parts = urlsplit(self._address())
        password = unquote(parts.password or "")
        return (unquote(parts.username), password) if parts.username else (password,)


_address: Callable[[], str] | None = None
_current: Broker | None = None
_guard = threading.Lock()


def configure(url: str) -> None:
    """Uses the broker at `url` from now on; empty = none."""
    follow(lambda: url)


def follow(address: Callable[[], str]) -> None:
    """Uses the broker whose address that function gives, from now on."""
    global _address  # noqa: PLW0603 - one connection pool per process
    with _guard:
        _address = address
    current()


def current() -> Broker:
    """This process's broker, by default that of the settings; a new one when its password has been rotated."""
    global _address, _current  # noqa: PLW0603 - same
    with _guard:
        if _address is None:
            _address = rotating_secrets.current(get_settings(), "redis_url")
        url = _address()
        if _current is None or _current.given_url != url:
            if _current is not None:
                _current.close()
            _current = Broker(url)
        return _current


def broker_state() -> str:
    """`ok`, `away`, or `none` if no broker is configured."""
    broker = current()
    if not broker.url:
        return "none"
    return broker.call(lambda client: "ok" if client.ping() else "away", "away")
