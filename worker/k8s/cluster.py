"""Port to a Kubernetes cluster: objects of one namespace as plain dicts, and typed errors.

`worker.k8s.client` implements it with the official client; `tests/contract/test_kubernetes.py` tests it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

Object = dict[str, Any]
"""A cluster's object as JSON: `metadata`, `spec`, `status`, ..."""


@dataclass(frozen=True)
class ResourceKind:
    """A kind of object and its place in the API.

    Attributes:
        plural: as in URLs.
        group: of the API; empty = the core group.
        namespaced: whether it belongs to a namespace.
    """

    plural: str
    group: str = ""
    version: str = "v1"
    namespaced: bool = True

    @property
    def root(self) -> str:
        """Base path of its API."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"


PODS, SECRETS, EVENTS, CLAIMS = (ResourceKind(name) for name in ("pods", "secrets", "events", "persistentvolumeclaims"))
NODES = ResourceKind("nodes", namespaced=False)
LEASES = ResourceKind("leases", "coordination.k8s.io")


class ClusterError(Exception):
    """The request failed; the message is the server's.

    Attributes:
        code: HTTP status; 0 if there was no response.
        reason: the server's reason (`AlreadyExists`, `Expired`, ...), which may be empty; without a usable response our
            own, in snake_case (`no_response`, `invalid_response`, ...).
    """

    def __init__(self, message: str, *, code: int = 0, reason: str = "") -> None:
        super().__init__(message)
        self.message, self.code, self.reason = message, code, reason


class ObjectNotFound(ClusterError):
    """The object does not exist (404)."""


class ObjectConflict(ClusterError):
    """The object is not what the caller expects: changed, another UID, or it exists already (409)."""


class VersionGone(ClusterError):
    """The version is too old (410): list again."""


class RequestRefused(ClusterError):
    """The server refuses the request: not allowed, invalid, over a quota (400, 401, 403, 405, 422 and similar)."""


class ClusterUnavailable(ClusterError):
    """No response, or a temporary failure (5xx, 429): it may work later."""


@dataclass(frozen=True)
class ObjectList:
    """Objects, and the version of the list, from which a watch continues."""

    items: tuple[Object, ...]
    version: str


@dataclass(frozen=True)
class WatchEvent:
    """An event of a watch.

    Attributes:
        type: `ADDED`, `MODIFIED`, `DELETED`, or `BOOKMARK`, whose object has only a version.
        version: from which a later watch continues.
    """

    type: str
    object: Object
    version: str


class WatchStream(Protocol):
    """An open watch: an iterator of events, and a context manager that closes it.

    Iterating raises VersionGone if the version is too old, ClusterUnavailable if the connection breaks. It ends without
    an error when its time is over or `close` was called.
    """

    def __iter__(self) -> Iterator[WatchEvent]:
        """Yields events as they arrive."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def close(self) -> None:
        """Ends it at once, from any thread. Safe to call twice."""
        ...


class Cluster(Protocol):
    """One namespace of a cluster. Thread-safe; every call has a time limit and starts no thread.

    Every call may raise ClusterUnavailable and RequestRefused; further errors are listed per method.
    """

    @property
    def namespace(self) -> str:
        """Namespace of the objects."""
        ...

    @property
    def address(self) -> str:
        """Address of the API server, for messages."""
        ...

    def create(self, resource: ResourceKind, body: Object, *, dry_run: bool = False) -> Object:
        """Creates an object; returns what the server stored.

        Unknown fields are refused, as by `kubectl --validate=strict`.

        Args:
            resource: its kind.
            body: with `metadata.name`.
            dry_run: only check whether it could be created.

        Raises:
            ObjectConflict: One of that name exists.
        """
        ...

    def get(self, resource: ResourceKind, name: str) -> Object:
        """One object. Raises ObjectNotFound."""
        ...

    def list(self, resource: ResourceKind, *, labels: str = "", fields: str = "") -> ObjectList:
        """All objects of a kind that match both selectors, each as from `get`; paginated if there are many."""
        ...

    def watch(
        self, resource: ResourceKind, version: str, *, labels: str = "", fields: str = "", seconds: float = 30.0
    ) -> WatchStream:
        """Changes after a version, with bookmarks, so that the version stays recent without changes.

        Args:
            resource: kind to watch.
            version: of a list or an earlier change.
            labels: label selector.
            fields: field selector.
            seconds: after which it ends. A silently broken connection is noticed only then.

        Raises:
            VersionGone: The version is too old; may also be raised while iterating.
        """
        ...

    def replace(self, resource: ResourceKind, body: Object) -> Object:
        """Replaces the object of the same name.

        Raises:
            ObjectNotFound: It does not exist.
            ObjectConflict: `metadata.resourceVersion` is given and is not current.
        """
        ...

    def patch(self, resource: ResourceKind, name: str, changes: Mapping[str, Any]) -> Object:
        """Changes fields (a JSON merge patch; None removes a field). Raises like `replace`, according to `metadata`.

        With `metadata.resourceVersion` or `metadata.uid` only that very object is changed. Another version raises
        ObjectConflict, another uid RequestRefused (422).
        """
        ...

    def delete(
        self, resource: ResourceKind, name: str, *, uid: str = "", version: str = "", grace: int | None = None
    ) -> bool:
        """Requests an object's deletion, which may take a while. False if it does not exist.

        Args:
            resource: its kind.
            name: its name.
            uid: expected uid; empty = any.
            version: expected version; empty = any.
            grace: seconds for a pod's processes to stop; 0 removes the object at once; None = as in the pod's spec.

        Raises:
            ObjectConflict: Another object has that name now, or it has another version.
        """
        ...

    def logs(self, pod: str, *, lines: int = 50) -> str:
        """Last lines of output of the pod's first container. Raises ObjectNotFound."""
        ...

    def close(self) -> None:
        """Closes all connections. Safe to call twice."""
        ...
