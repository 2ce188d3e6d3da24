"""Watches: changes of a resource from a version on, with bookmarks, filters, an end, 410 for a forgotten version."""

import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

from tests.fakes.kubernetes import status
from tests.fakes.kubernetes.kinds import Json, Resource
from tests.fakes.kubernetes.selectors import Test
from tests.fakes.kubernetes.store import Change, Key, ObjectStore, Version


@dataclass(frozen=True)
class Wanted:
    """The events that a watch asked for.

    Attributes:
        since: version from which on; None: what there is comes first.
        seconds: after which it ends.
        bookmarks: seconds between two of them; 0 for none.
        initial: what there is comes first, and a bookmark says when all of it came (streaming lists).
    """

    resource: Resource
    namespace: str = ""
    name: str = ""
    test: Test | None = None
    since: int | None = None
    seconds: float = 1800.0
    bookmarks: float = 0.0
    initial: bool = False

    def fits(self, version: Version | None) -> bool:
        """Whether an object is one of those."""
        if version is None:
            return False
        about = version.data["metadata"]
        inside = not self.namespace or about.get("namespace") == self.namespace
        return (
            inside and (not self.name or about["name"] == self.name) and (self.test is None or self.test(version.data))
        )


_ERROR = b'{"type":"ERROR"'


def _line(kind: str, encoded: bytes) -> bytes:
    return b'{"type":"' + kind.encode() + b'","object":' + encoded + b"}\n"


def _bookmark(resource: Resource, revision: int, *, complete: bool = False) -> bytes:
    about: Json = {"resourceVersion": str(revision), "creationTimestamp": None}
    if complete:
        about["annotations"] = {"k8s.io/initial-events-end": "true"}
    bookmark = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": about}
    return _line("BOOKMARK", json.dumps(bookmark).encode())


def gone(since: int, current: int) -> bytes:
    """The event that reports a compacted version; the watch ends with it."""
    refusal = status.expired(f"too old resource version: {since} ({current})")
    return _line("ERROR", json.dumps(refusal.body()).encode())


def _told(wanted: Wanted, change: Change) -> bytes | None:
    """A change as this watch sees it: an object that starts to match is added, one that stops is deleted."""
    was = change.kind != "ADDED" and wanted.fits(change.before)
    fits = change.kind != "DELETED" and wanted.fits(change.version)
    if fits:
        return _line("MODIFIED" if was else "ADDED", change.version.encoded)
    if not was:
        return None
    return _line("DELETED", _last(change).encoded)


def _last(change: Change) -> Version:
    """The last form that fitted, with the version of this change."""
    if change.kind == "DELETED" or change.before is None:
        return change.version
    about = {**change.before.data["metadata"], "resourceVersion": str(change.revision)}
    return Version({**change.before.data, "metadata": about}, change.revision)


class Watch:
    """One running watch. Iterate over its lines; `cut` ends it from another thread.

    Attributes:
        severed: it is to end as a broken connection does.
    """

    def __init__(self, store: ObjectStore, wanted: Wanted) -> None:
        self._store = store
        self._wanted = wanted
        self._ends = math.inf
        self._cut = False
        self.severed = False

    def cut(self) -> None:
        """Ends it at once."""
        with self._store.changed:
            self._cut = True
            self._store.changed.notify_all()

    def _over(self) -> bool:
        return self._cut or time.monotonic() >= self._ends

    def __iter__(self) -> Iterator[bytes]:
        """Lines; an empty one every second or so, to see whether anybody is still there."""
        wanted = self._wanted
        # Its time counts from when it is read: on a busy machine it would else be over before the first change.
        self._ends = time.monotonic() + wanted.seconds
        at, first = self._begin()
        yield b"".join(first)
        if first and first[-1].startswith(_ERROR):
            return
        marked = time.monotonic()
        while not self._over():
            changes, lost = self._next(at, marked)
            if lost:
                yield gone(at, self._store.revision)
                return
            yield b"".join(line for change in changes if (line := _told(wanted, change)) is not None)
            at = changes[-1].revision if changes else at
            if wanted.bookmarks and time.monotonic() - marked >= wanted.bookmarks:
                at, marked = self._quiet(at), time.monotonic()
                yield _bookmark(wanted.resource, at)

    def _next(self, at: int, marked: float) -> tuple[list[Change], bool]:
        """Changes after `at`, after a short wait; and whether some were dropped before they could be sent."""
        with self._store.changed:
            shelf = self._store.shelf(self._wanted.resource)
            if at >= shelf.dropped and not shelf.since(at):
                self._store.changed.wait(self._patience(marked))
            return shelf.since(at), at < shelf.dropped

    def _quiet(self, at: int) -> int:
        """The newest version, if this resource has not changed since `at`."""
        with self._store.lock:
            shelf = self._store.shelf(self._wanted.resource)
            return at if at < shelf.dropped or shelf.since(at) else self._store.revision

    def _patience(self, marked: float) -> float:
        left = min(1.0, self._ends - time.monotonic())
        if self._wanted.bookmarks:
            left = min(left, marked + self._wanted.bookmarks - time.monotonic())
        return max(left, 0.0)

    def _begin(self) -> tuple[int, list[bytes]]:
        """Where it starts, and what there is."""
        wanted = self._wanted
        if wanted.since is not None and not wanted.initial:
            with self._store.lock:
                lost = wanted.since < self._store.shelf(wanted.resource).compacted
                return wanted.since, [gone(wanted.since, self._store.revision)] if lost else []
        with self._store.lock:
            shelf, at = self._store.shelf(wanted.resource), self._store.revision
            items: list[tuple[Key, Version]] = sorted(shelf.objects.items(), key=lambda item: item[0])
        lines = [_line("ADDED", version.encoded) for _, version in items if wanted.fits(version)]
        return at, [*lines, _bookmark(wanted.resource, at, complete=True)] if wanted.initial else lines
