"""The records behind the API: objects, one version counter for all of them, and a log of changes that can be compacted.

Objects that are in the store are never changed: a write puts a new one in its place. So readers need no copies, and a
version is turned into JSON once, however many watch it.
"""

import json
import threading
import uuid
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from tests.fakes.kubernetes.kinds import Json, Resource

Key = tuple[str, str]
Listener = Callable[[Resource, "Change"], None]
# Changes that are kept for each resource; older ones are compacted away, as etcd does after five minutes.
KEPT = 20_000


@dataclass(frozen=True)
class Version:
    """One object as it was at one time."""

    data: Json
    revision: int

    @cached_property
    def encoded(self) -> bytes:
        """Its JSON."""
        return json.dumps(self.data, separators=(",", ":")).encode()

    @cached_property
    def listed(self) -> bytes:
        """Its JSON in a list, which alone says the kind of all."""
        data = {key: value for key, value in self.data.items() if key not in {"kind", "apiVersion"}}
        return json.dumps(data, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Change:
    """A change: ADDED, MODIFIED or DELETED; `before` is the object before it."""

    kind: str
    version: Version
    before: Version | None

    @property
    def revision(self) -> int:
        """Its position in the log."""
        return self.version.revision


@dataclass
class Shelf:
    """Everything of one resource.

    Attributes:
        compacted: no watch may start before this revision.
        dropped: the newest change that the log no longer has; a running watch that has not told it is over.
    """

    objects: dict[Key, Version] = field(default_factory=dict)
    log: list[Change] = field(default_factory=list)
    compacted: int = 0
    dropped: int = 0

    def since(self, revision: int) -> list[Change]:
        """Changes after that revision."""
        return self.log[bisect_right(self.log, revision, key=lambda change: change.revision) :]

    def trim(self) -> None:
        """Drops the older half of a log that has grown too long."""
        if len(self.log) > KEPT:
            self.compacted = self.dropped = self.log[KEPT // 2 - 1].revision
            del self.log[: KEPT // 2]


def now() -> str:
    """The time as objects carry it: whole seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def now_micro() -> str:
    """The time as leases and events carry it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def key_of(obj: Json) -> Key:
    """Namespace ("" for what has none) and name."""
    about = obj["metadata"]
    return about.get("namespace", ""), about["name"]


class ObjectStore:
    """Objects of all kinds, for any thread; hold `lock` over read and write to make them one step.

    Attributes:
        revision: the newest version.
        changed: is notified after every change.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.revision = 1
        self._floor = 0
        self._shelves: dict[Resource, Shelf] = {}
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        """Has a function called after every change, under the lock: it must only hand over."""
        self._listeners.append(listener)

    def shelf(self, resource: Resource) -> Shelf:
        """Objects and log of one resource; read under the lock."""
        with self.lock:
            return self._shelves.setdefault(resource, Shelf(compacted=self._floor))

    def get(self, resource: Resource, key: Key) -> Json | None:
        """One object; not to be changed."""
        version = self.shelf(resource).objects.get(key)
        return version.data if version else None

    def all(self, resource: Resource, namespace: str = "") -> list[Json]:
        """All objects, of one namespace or of all."""
        with self.lock:
            objects = self.shelf(resource).objects
            return [item.data for key, item in objects.items() if not namespace or key[0] == namespace]

    def put(self, resource: Resource, obj: Json) -> Json:
        """Stores an object under the next version and returns it; gives it an identity when it is new."""
        with self.lock:
            shelf, key = self.shelf(resource), key_of(obj)
            before = shelf.objects.get(key)
            self.revision += 1
            about = dict(obj["metadata"])
            if before is None:
                about["uid"] = str(uuid.uuid4())
                about["creationTimestamp"] = now()
            about["resourceVersion"] = str(self.revision)
            version = Version({**obj, "metadata": about}, self.revision)
            shelf.objects[key] = version
            self._tell(resource, shelf, Change("MODIFIED" if before else "ADDED", version, before))
            return version.data

    def remove(self, resource: Resource, key: Key) -> Json:
        """Takes an object away; its last form carries the version of that."""
        with self.lock:
            shelf = self.shelf(resource)
            before = shelf.objects.pop(key)
            self.revision += 1
            about = {**before.data["metadata"], "resourceVersion": str(self.revision)}
            version = Version({**before.data, "metadata": about}, self.revision)
            self._tell(resource, shelf, Change("DELETED", version, before))
            return version.data

    def compact(self) -> None:
        """Drops all changes so far; a watch from an older version gets 410."""
        with self.lock:
            self._floor = self.revision
            for shelf in self._shelves.values():
                shelf.dropped = shelf.log[-1].revision if shelf.log else shelf.dropped
                shelf.log.clear()
                shelf.compacted = self.revision
            self.changed.notify_all()

    def _tell(self, resource: Resource, shelf: Shelf, change: Change) -> None:
        shelf.log.append(change)
        shelf.trim()
        for listener in self._listeners:
            listener(resource, change)
        self.changed.notify_all()

    def resources(self) -> Iterator[Resource]:
        """Kinds of which there has been anything."""
        with self.lock:
            yield from list(self._shelves)
