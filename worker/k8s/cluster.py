"""The port to a Kubernetes cluster: one namespace's objects as plain dicts, and what can go wrong, by type.

`worker.k8s.client` implements it with the official client; `tests/contract/test_kubernetes.py` holds it to this.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

Object = dict[str, Any]
"""An object of the cluster as its JSON: `metadata`, `spec`, `status`, ..."""


@dataclass(frozen=True)
class ResourceKind:
    """A kind of object by its place in the API.

    Attributes:
        plural: as in addresses.
        group: of the API; empty = the core group.
        namespaced: lies in a namespace.
    """

    plural: str
    group: str = ""
    version: str = "v1"
    namespaced: bool = True

    @property
    def root(self) -> str:
        """Where its API begins."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"


PODS, SECRETS, EVENTS, CLAIMS = (ResourceKind(name) for name in ("pods", "secrets", "events", "persistentvolumeclaims"))
NODES = ResourceKind("nodes", namespaced=False)
LEASES = ResourceKind("leases", "coordination.k8s.io")


class ClusterError(Exception):
    """The cluster did not do it; the text is what its server said.

    Attributes:
        code: HTTP status; 0 if there was no answer.
        reason: the server's own short word (`AlreadyExists`, `Expired`, ...); may be empty.
    """

    def __init__(self, message: str, *, code: int = 0, reason: str = "") -> None:
        super().__init__(message)
        self.message, self.code, self.reason = message, code, reason


class ObjectNotFound(ClusterError):
    """There is no such object (404)."""


class ObjectConflict(ClusterError):
    """It is not what the caller takes it for: changed since, another UID, or there already (409)."""


class VersionGone(ClusterError):
    """So old a version is not kept any more (410): list again."""


class RequestRefused(ClusterError):
    """The server says no: not allowed, not valid, over a quota (400, 401, 403, 405, 422 and the like)."""


class ClusterUnavailable(ClusterError):
    """No answer, or none now (5xx, 429): later it may work."""


@dataclass(frozen=True)
class ObjectList:
    """Objects, and the version of the whole list, from which a watch goes on."""

    items: tuple[Object, ...]
    version: str


@dataclass(frozen=True)
class WatchEvent:
    """What a watch tells.

    Attributes:
        type: `ADDED`, `MODIFIED`, `DELETED`, or `BOOKMARK`, whose object has nothing but a version.
        version: from which a later watch goes on.
    """

    type: str
    object: Object
    version: str


class WatchStream(Protocol):
    """A watch that is open: an iterator of changes, and a context manager that closes it.

    Iterating raises VersionGone where the version is too old, ClusterUnavailable where the line breaks. It ends by
    itself, without an error, when its time is over or `close` was called.
    """

    def __iter__(self) -> Iterator[WatchEvent]:
        """The changes, as they come."""
        ...

    def __enter__(self) -> Self:
        """Itself."""
        ...

    def __exit__(self, *_: object) -> None:
        """Closes it."""
        ...

    def close(self) -> None:
        """Ends it, from any thread, at once. Safe to call twice."""
        ...


class Cluster(Protocol):
    """One namespace of a cluster. Safe for threads; every call is bounded in time and starts no thread.

    Every call may raise ClusterUnavailable and Refused; what else, it says itself.
    """

    @property
    def namespace(self) -> str:
        """Whose objects these are."""
        ...

    @property
    def address(self) -> str:
        """Of the API server, for words to people."""
        ...

    def create(self, resource: ResourceKind, body: Object, *, dry_run: bool = False) -> Object:
        """Makes an object; what the server made of it.

        Fields that the server does not know are refused, as `kubectl --validate=strict` does.

        Args:
            resource: what it is.
            body: with `metadata.name`.
            dry_run: only asks whether it could be made.

        Raises:
            ObjectConflict: one of that name is there.
        """
        ...

    def get(self, resource: ResourceKind, name: str) -> Object:
        """One object. Raises ObjectNotFound."""
        ...

    def list(self, resource: ResourceKind, *, labels: str = "", fields: str = "") -> ObjectList:
        """All objects of a kind that both selectors select, each as `get` gives it, in pieces where there are many."""
        ...

    def watch(
        self, resource: ResourceKind, version: str, *, labels: str = "", fields: str = "", seconds: float = 30.0
    ) -> WatchStream:
        """What changes after a version; with bookmarks, so that the version stays young where nothing changes.

        Args:
            resource: what to watch.
            version: of a list or an earlier change.
            labels: selector.
            fields: selector.
            seconds: after which it ends by itself. A line that broke without a word is noticed that late.

        Raises:
            VersionGone: the version is too old; it may also come while iterating.
        """
        ...

    def replace(self, resource: ResourceKind, body: Object) -> Object:
        """Puts an object in the place of the one of its name.

        Raises:
            ObjectNotFound: there is none.
            ObjectConflict: it has `metadata.resourceVersion`, and is not that version any more.
        """
        ...

    def patch(self, resource: ResourceKind, name: str, changes: Mapping[str, Any]) -> Object:
        """Changes fields (a JSON merge patch; None removes a field). Raises like `replace`, by `metadata` as given.

        With `metadata.resourceVersion` or `metadata.uid` in the changes, only that very object is changed. Of another
        version it is a ObjectConflict; of the same version and another uid, which cannot be, Refused (422).
        """
        ...

    def delete(
        self, resource: ResourceKind, name: str, *, uid: str = "", version: str = "", grace: int | None = None
    ) -> bool:
        """Asks for an object's end; it may take a while. False if there was none.

        Args:
            resource: what it is.
            name: its name.
            uid: of the one that is meant; empty = whichever has the name.
            version: that it must still have; empty = any.
            grace: seconds that a pod's processes get; 0 removes the object at once; None = as the pod says.

        Raises:
            ObjectConflict: another one has that name now, or it has another version.
        """
        ...

    def logs(self, pod: str, *, lines: int = 50) -> str:
        """The last lines that the pod's first container said. Raises ObjectNotFound."""
        ...

    def close(self) -> None:
        """Closes what is open. Safe to call twice."""
        ...
