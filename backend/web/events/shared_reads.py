"""Database reads that many viewers share."""

import asyncio
import time
from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from backend.db.project_scope import current_project

T = TypeVar("T")
Reads = dict[Hashable, tuple[float, asyncio.Task[Any]]]
MOST_KEYS = 2000


class SharedReads:
    """Remembers values for a short while, and lets everybody who asks meanwhile wait for the same read.

    Every event loop has its own. An exception is that of everybody who waits for it, and is not remembered.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, Reads] = WeakKeyDictionary()

    async def get(self, key: Hashable, seconds: float, read: Callable[[], T]) -> T:
        """Returns the value of a key, at most `seconds` old.

        Args:
            key: what is read.
            seconds: how old it may be.
            read: reads it; runs in a thread.
        """
        key = (current_project(), key)  # Viewers of other projects see other rows.
        reads = self._loops.setdefault(asyncio.get_running_loop(), {})
        started, task = reads.get(key, (0.0, None))
        if task is None or self._now() - started >= seconds or _failed(task):
            for old in list(reads)[: MOST_KEYS // 2] if len(reads) >= MOST_KEYS else ():
                del reads[old]
            task = asyncio.create_task(asyncio.to_thread(read))
            reads[key] = self._now(), task
        value: T = await asyncio.shield(task)
        return value


def _failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
