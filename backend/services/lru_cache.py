"""In-process cache of what never changes, or may be forgotten."""

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """The most recently used values, never None. Thread-safe."""

    def __init__(self, most: int) -> None:
        """Args: most: number of values; the least recently used ones beyond it are forgotten."""
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()
        self._pending: dict[K, Future[V]] = {}
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        """The value; None if it is missing or was evicted."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: K, value: V) -> V:
        """Stores and returns a value."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._most:
                self._values.popitem(last=False)
        return value

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """The value, made where it is missing; threads that miss it at the same time wait for the one that makes it.

        If that one fails, so do those that wait for it.
        """
        with self._lock:
            pending = self._pending.get(key)
            own = Future[V]() if pending is None and key not in self._values else None
            if own is not None:
                self._pending[key] = own
        if own is not None:
            return self._make(key, own, make)
        value = self.get(key) if pending is None else pending.result()
        return self.get_or_make(key, make) if value is None else value  # None: forgotten in between.

    def _make(self, key: K, own: Future[V], make: Callable[[], V]) -> V:
        try:
            own.set_result(self.put(key, make()))
        except BaseException as error:
            own.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._pending[key]
        return own.result()
