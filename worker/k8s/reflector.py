"""Local copy of a kind of objects, kept current: listed, then watched; listed again if the watch lost its place."""

import logging
import random
import time
from collections.abc import Callable, Mapping
from threading import Event, Lock, Thread

from worker.k8s.cluster import (
    Cluster,
    ClusterError,
    ClusterUnavailable,
    Object,
    ResourceKind,
    VersionGone,
    WatchEvent,
    WatchStream,
)

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
WATCH_SECONDS = 30.0
"""A silently broken connection is noticed after so long: a pod's failure must be known within a minute."""
_SHORTEST_WATCH = 0.9
"""Seconds. Shorter watches without an error count as failed: watches request at least a second."""
logger = logging.getLogger(__name__)

ChangeListener = Callable[[str, Object], None]
"""Called for each change: `ADDED`, `MODIFIED` or `DELETED`, and the object (its last state if DELETED)."""


def _nothing(_: str, __: Object) -> None:
    return


class Reflector:
    """One thread and one watch for a kind of objects in a namespace.

    Changes missed by a broken watch are found by the next list, and reported as if watched. While the API server is
    unavailable the copy keeps its last state, and `trouble` has the reason.

    Args:
        cluster: of the objects.
        resource: their kind.
        labels: label selector.
        fields: field selector.
        on_change: called from the reflector's thread, sequentially. Must not wait for the cluster.
        seconds: duration of one watch.
        first_pause: seconds before the first retry; doubled each time, with jitter, up to 30.
    """

    def __init__(  # noqa: PLR0913 - what it selects, and who hears
        self,
        cluster: Cluster,
        resource: ResourceKind,
        *,
        labels: str = "",
        fields: str = "",
        on_change: ChangeListener = _nothing,
        seconds: float = WATCH_SECONDS,
        first_pause: float = FIRST_PAUSE,
    ) -> None:
        self._cluster, self._resource = cluster, resource
        self._labels, self._fields = labels, fields
        self._on_change, self._seconds, self._first_pause = on_change, seconds, first_pause
        self._objects: dict[str, Object] = {}
        self._trouble = "the objects have not been listed yet"
        self._failures = self._hasty = 0
        self._heard_at = self._troubled_at = time.monotonic()
        self._troubled = 0.0
        self._lock = Lock()
        self._ended = Event()
        self._listed = Event()
        self._watching: WatchStream | None = None
        self._thread = Thread(target=self._run, name=f"watch-{resource.plural}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, seconds: float = 5.0) -> bool:
        """Stops the watch and waits at most the given seconds for the thread. True if it ended. Safe to call twice."""
        self._ended.set()
        with self._lock:
            watching = self._watching
        if watching is not None:
            watching.close()
        if self._thread.ident is not None:
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def objects(self) -> Mapping[str, Object]:
        """All objects by name, as last seen. Do not modify them."""
        with self._lock:
            return dict(self._objects)

    def get(self, name: str) -> Object | None:
        """One object as last seen; None if it does not exist. Do not modify it."""
        with self._lock:
            return self._objects.get(name)

    def wait(self, seconds: float) -> bool:
        """Waits for the first list, at most for the given seconds. True once there was one."""
        return self._listed.wait(seconds)

    @property
    def trouble(self) -> str:
        """Why the copy may be outdated, as the server's message; empty while it is watched."""
        return self._trouble

    @property
    def age(self) -> float:
        """Seconds since the server last sent something: the copy may be that old even without known trouble."""
        return time.monotonic() - self._heard_at

    @property
    def well(self) -> float:
        """A clock in seconds that stops during outages."""
        with self._lock:
            return (self._troubled_at if self._trouble else time.monotonic()) - self._troubled

    def _run(self) -> None:
        """No `PeriodicThread`: a turn lasts as long as its watch, and the pauses grow, with jitter."""
        while not self._ended.is_set():
            try:
                self._follow(self._list())
            except VersionGone:
                logger.info("%s: watch too old, listed again", self._resource.plural)
                self._rest("the watch was too old")
            except ClusterError as error:
                if not self._failures:
                    details = f" ({error.__cause__!r})" if error.__cause__ else ""
                    logger.warning("%s cannot be watched: %s%s", self._resource.plural, error.message, details)
                self._rest(error.message)
            except Exception as error:
                logger.exception("watching %s failed", self._resource.plural)
                self._rest(str(error))

    def _rest(self, trouble: str) -> None:
        """Waits before the next try: longer each time, with jitter."""
        with self._lock:
            self._troubled_at = self._troubled_at if self._trouble else time.monotonic()
            self._trouble = trouble
        longest = min(LONGEST_PAUSE, self._first_pause * 2.0 ** min(self._failures, 16))
        self._failures += 1
        self._ended.wait(longest * random.uniform(0.5, 1.0))  # noqa: S311 - no secret

    def _list(self) -> str:
        asked_at = time.monotonic()
        listed = self._cluster.list(self._resource, labels=self._labels, fields=self._fields)
        objects = {_name(item): item for item in listed.items}
        before = self.objects()
        for name, new in objects.items():
            old = before.get(name)
            if old is None or _uid(old) != _uid(new):
                if old is not None:
                    self._note("DELETED", old)
                self._note("ADDED", new)
            elif _version(old) != _version(new):
                self._note("MODIFIED", new)
        for name in before.keys() - objects.keys():
            self._note("DELETED", before[name])
        self._note_success(asked_at, self._hasty)
        self._listed.set()
        return listed.version

    def _follow(self, version: str) -> None:
        """Watches from a version on, one watch after another, until an error or the end.

        Raises:
            ClusterError: It cannot be watched now; ClusterUnavailable also if a watch ends at once, as with some
                proxies.
        """
        while not self._ended.is_set():
            start, before = time.monotonic(), version
            watch = self._cluster.watch(
                self._resource, version, labels=self._labels, fields=self._fields, seconds=self._seconds
            )
            with watch as watching:
                with self._lock:
                    self._watching = watching
                if self._ended.is_set():
                    return
                for change in watching:
                    version = self._heard(change, version)
            if version == before and time.monotonic() - start < _SHORTEST_WATCH and not self._ended.is_set():
                self._hasty += 1
                raise ClusterUnavailable(
                    "the watch ended at once: a proxy in between may not support streaming", reason="no_streaming"
                )
            self._hasty, self._heard_at = 0, time.monotonic()

    def _heard(self, change: WatchEvent, version: str) -> str:
        self._note_success(time.monotonic(), 0)
        if change.type != "BOOKMARK":
            self._note(change.type, change.object)
        return change.version or version

    def _note_success(self, heard_at: float, failures: int) -> None:
        with self._lock:
            if self._trouble:
                self._troubled += time.monotonic() - self._troubled_at
            self._trouble, self._failures, self._heard_at = "", failures, heard_at

    def _note(self, kind: str, obj: Object) -> None:
        with self._lock:
            if kind == "DELETED":
                self._objects.pop(_name(obj), None)
            else:
                self._objects[_name(obj)] = obj
        self._on_change(kind, obj)


def _name(obj: Object) -> str:
    return str(obj.get("metadata", {}).get("name", ""))


def _uid(obj: Object) -> str:
    return str(obj.get("metadata", {}).get("uid", ""))


def _version(obj: Object) -> str:
    return str(obj.get("metadata", {}).get("resourceVersion", ""))
