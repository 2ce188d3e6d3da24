"""A copy of a kind of objects, kept up to date: listed, then watched; listed again where the watch lost its place."""

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
"""A line that broke without a word is noticed that late: what is wrong with a pod is to be known within a minute."""
_SHORTEST_WATCH = 0.9
"""Seconds. One that ended sooner, without a word, was no watch: a second is the least that a server is asked for."""
logger = logging.getLogger(__name__)

ChangeListener = Callable[[str, Object], None]
"""Hears of each change: `ADDED`, `MODIFIED` or `DELETED`, and the object, as a DELETED one was last."""


def _nothing(_: str, __: Object) -> None:
    return


class Reflector:
    """One thread and one watch for a kind of objects in a namespace, however many there are.

    What a broken watch missed is found by the next list, and told as if it had been watched. While the API server is
    away the copy stays as it was last, and `trouble` says so.
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
        """Takes note; `start` begins.

        Args:
            cluster: whose objects.
            resource: which kind.
            labels: selector.
            fields: selector.
            on_change: called from the reflector's thread, one change after another. Must not wait for the cluster.
            seconds: of one watch.
            first_pause: seconds before the first further try; doubled with each, with jitter, to 30 at most.
        """
        self._cluster, self._resource = cluster, resource
        self._labels, self._fields = labels, fields
        self._told, self._seconds, self._first_pause = on_change, seconds, first_pause
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
        """Begins."""
        self._thread.start()

    def stop(self, seconds: float = 5.0) -> None:
        """Ends the watch and waits so long for the thread. Safe to call twice."""
        self._ended.set()
        with self._lock:
            watching = self._watching
        if watching is not None:
            watching.close()
        if self._thread.ident is not None:
            self._thread.join(seconds)

    def objects(self) -> Mapping[str, Object]:
        """All objects by name, as they were last seen. Not to be changed."""
        with self._lock:
            return dict(self._objects)

    def get(self, name: str) -> Object | None:
        """One object, as it was last seen; None if there is none. Not to be changed."""
        with self._lock:
            return self._objects.get(name)

    def wait(self, seconds: float) -> bool:
        """Waits for the first list, so long at most. True once there was one."""
        return self._listed.wait(seconds)

    @property
    def trouble(self) -> str:
        """Why the copy may be old, in the server's words; empty while it is watched."""
        return self._trouble

    @property
    def age(self) -> float:
        """Seconds since the server last said something: the copy may be that old, though no trouble is known."""
        return time.monotonic() - self._heard_at

    @property
    def well(self) -> float:
        """A clock in seconds that stands still while there is trouble."""
        with self._lock:
            return (self._troubled_at if self._trouble else time.monotonic()) - self._troubled

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self._follow(self._list())
            except VersionGone:
                logger.info("%s: the watch was too old; listed again", self._resource.plural)
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
        """Waits before the next try: longer each time, and not all workers at the same moment."""
        with self._lock:
            self._troubled_at = self._troubled_at if self._trouble else time.monotonic()
            self._trouble = trouble
        longest = min(LONGEST_PAUSE, self._first_pause * 2.0 ** min(self._failures, 16))
        self._failures += 1
        self._ended.wait(longest * random.uniform(0.5, 1.0))  # noqa: S311 - no secret

    def _list(self) -> str:
        asked_at = time.monotonic()
        listed = self._cluster.list(self._resource, labels=self._labels, fields=self._fields)
        objects = {_name(each): each for each in listed.items}
        before = self.objects()
        for name, each in objects.items():
            old = before.get(name)
            if old is None or _uid(old) != _uid(each):
                if old is not None:
                    self._note("DELETED", old)
                self._note("ADDED", each)
            elif _version(old) != _version(each):
                self._note("MODIFIED", each)
        for name in before.keys() - objects.keys():
            self._note("DELETED", before[name])
        self._worked(asked_at, self._hasty)
        self._listed.set()
        return listed.version

    def _follow(self, version: str) -> None:
        """Watches from a version on, one watch after another, until there is an error or it is over.

        Raises:
            ClusterError: it cannot be watched now; Unavailable also where a watch ends at once, as some proxies do it.
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
                raise ClusterUnavailable("the watch ended at once: does a proxy in between not stream?")
            self._hasty, self._heard_at = 0, time.monotonic()

    def _heard(self, change: WatchEvent, version: str) -> str:
        self._worked(time.monotonic(), 0)
        if change.type != "BOOKMARK":
            self._note(change.type, change.object)
        return change.version or version

    def _worked(self, heard_at: float, failures: int) -> None:
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
        self._told(kind, obj)


def _name(obj: Object) -> str:
    return str(obj.get("metadata", {}).get("name", ""))


def _uid(obj: Object) -> str:
    return str(obj.get("metadata", {}).get("uid", ""))


def _version(obj: Object) -> str:
    return str(obj.get("metadata", {}).get("resourceVersion", ""))
