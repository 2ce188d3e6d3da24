"""The `Cluster` port over the official client: its configuration, connections and authentication, our plain dicts."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import BadStatusLine
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import urllib3.exceptions
from kubernetes.client import ApiClient, Configuration
from kubernetes.client.exceptions import OpenApiException
from kubernetes.config import ConfigException, load_incluster_config, load_kube_config

from worker.k8s.cluster import (
    PODS,
    ClusterError,
    ClusterUnavailable,
    Object,
    ObjectConflict,
    ObjectList,
    ObjectNotFound,
    RequestRefused,
    ResourceKind,
    VersionGone,
    WatchEvent,
)

CONNECT_SECONDS, READ_SECONDS = 5.0, 20.0
_LATE_SECONDS = 10.0
"""After a watch's own end: a line on which nothing comes for so long is broken."""
_PAGE = 500
_CONNECTIONS = 32
_PIECE = 2**16
_LONGEST_LINE = 16 * 2**20
_LONGEST_ANSWER = 256 * 2**20
"""Bytes. A piece of a list, whose objects may have 1.5 MiB each, has a few MiB where they are as large as pods."""
_MOST_PIECES = 1000
"""Of a list: half a million objects."""
_MOST_WORDS = 2000
_SERVER_ERROR, _TOO_MANY = 500, 429
_BY_CODE: Mapping[int, type[ClusterError]] = {
    404: ObjectNotFound,
    409: ObjectConflict,
    410: VersionGone,
    _TOO_MANY: ClusterUnavailable,
}
IN_CLUSTER = "KUBERNETES_SERVICE_HOST"
"""Set in every pod of a cluster."""
_OWN_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


def configured(kubeconfig: str) -> bool:
    """Whether it is said where the cluster is."""
    return bool(kubeconfig or os.environ.get(IN_CLUSTER))


def connect(kubeconfig: str, namespace: str) -> "Kubernetes":
    """A cluster by a kubeconfig file, else the one that this process runs in. Asks it nothing yet.

    Args:
        kubeconfig: path; empty = in the cluster.
        namespace: empty = this process's own in the cluster, else `default`.

    Raises:
        ClusterUnavailable: there is no such configuration.
    """
    configuration = Configuration()
    try:
        if kubeconfig:
            load_kube_config(  # type: ignore[no-untyped-call]
                kubeconfig, client_configuration=configuration, persist_config=False
            )
        else:
            load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
    except (ConfigException, OSError, ValueError) as error:
        raise ClusterUnavailable(f"no cluster is configured: {error}") from error
    return Kubernetes(configuration, namespace or _own_namespace())


def _own_namespace() -> str:
    try:
        return _OWN_NAMESPACE.read_text().strip() or "default"
    except OSError:
        return "default"


class Kubernetes:
    """See `Cluster`."""

    def __init__(self, configuration: Configuration, namespace: str) -> None:
        """Connects to nothing yet."""
        # What failed is tried again by whoever knows whether that is safe.
        configuration.retries = False
        configuration.connection_pool_maxsize = _CONNECTIONS
        self._configuration, self._namespace = configuration, namespace
        self._client = ApiClient(configuration)

    @property
    def namespace(self) -> str:
        """See the port."""
        return self._namespace

    @property
    def address(self) -> str:
        """See the port."""
        return str(self._configuration.host)

    def create(self, resource: ResourceKind, body: Object, *, dry_run: bool = False) -> Object:
        """See the port."""
        query = {"fieldValidation": "Strict", **({"dryRun": "All"} if dry_run else {})}
        return self._ask("POST", self._path(resource), query, body=body)

    def get(self, resource: ResourceKind, name: str) -> Object:
        """See the port."""
        return self._ask("GET", self._path(resource, name))

    def list(self, resource: ResourceKind, *, labels: str = "", fields: str = "") -> ObjectList:
        """See the port."""
        query, items = {**_selectors(labels, fields), "limit": str(_PAGE)}, list[Object]()
        for _ in range(_MOST_PIECES):
            page = self._ask("GET", self._path(resource), query)
            items += _items(page)
            metadata = _metadata(page)
            if not metadata.get("continue"):
                return ObjectList(tuple(items), str(metadata.get("resourceVersion", "")))
            query["continue"] = str(metadata["continue"])
        raise ClusterUnavailable(f"the API server sent a list of more than {_MOST_PIECES} pieces")

    def watch(
        self, resource: ResourceKind, version: str, *, labels: str = "", fields: str = "", seconds: float = 30.0
    ) -> "KubernetesWatch":
        """See the port."""
        query = {
            **_selectors(labels, fields),
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(max(1, round(seconds))),
        }
        return KubernetesWatch(self._send("GET", self._path(resource), query, read=seconds + _LATE_SECONDS), version)

    def replace(self, resource: ResourceKind, body: Object) -> Object:
        """See the port."""
        query = {"fieldValidation": "Strict"}
        return self._ask("PUT", self._path(resource, body["metadata"]["name"]), query, body=body)

    def patch(self, resource: ResourceKind, name: str, changes: Mapping[str, Any]) -> Object:
        """See the port."""
        kind, query = "application/merge-patch+json", {"fieldValidation": "Strict"}
        return self._ask("PATCH", self._path(resource, name), query, body=dict(changes), content_type=kind)

    def delete(
        self, resource: ResourceKind, name: str, *, uid: str = "", version: str = "", grace: int | None = None
    ) -> bool:
        """See the port."""
        options: Object = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        preconditions = {key: value for key, value in (("uid", uid), ("resourceVersion", version)) if value}
        if preconditions:
            options["preconditions"] = preconditions
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        try:
            self._ask("DELETE", self._path(resource, name), body=options)
        except ObjectNotFound:
            return False
        return True

    def logs(self, pod: str, *, lines: int = 50) -> str:
        """See the port."""
        return self._text(self._send("GET", f"{self._path(PODS, pod)}/log", {"tailLines": str(lines)}))

    def close(self) -> None:
        """See the port."""
        self._client.close()  # type: ignore[no-untyped-call]
        self._client.rest_client.close()

    def _path(self, resource: ResourceKind, name: str = "") -> str:
        within = f"/namespaces/{quote(self._namespace, safe='')}" if resource.namespaced else ""
        return f"{resource.root}{within}/{resource.plural}" + (f"/{quote(name, safe='')}" if name else "")

    def _ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        body: Object | None = None,
        content_type: str = "application/json",
    ) -> Object:
        text = self._text(self._send(method, path, query, body=body, content_type=content_type))
        return _object(text)

    def _text(self, response: urllib3.BaseHTTPResponse) -> str:
        with _in_our_words(), response:
            return _whole(response)

    def _send(  # noqa: PLR0913 - what makes a request
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        body: Object | None = None,
        content_type: str = "application/json",
        read: float = READ_SECONDS,
    ) -> urllib3.BaseHTTPResponse:
        """An answer whose body has not been read yet."""
        headers = {"Accept": "application/json", **({"Content-Type": content_type} if body is not None else {})}
        pairs = list((query or {}).items())
        with _in_our_words():
            request = self._client.param_serialize(
                method, path, query_params=pairs, header_params=headers, body=body, auth_settings=["BearerToken"]
            )
            answer = self._client.call_api(*request, _request_timeout=(CONNECT_SECONDS, read))
            response: urllib3.BaseHTTPResponse = answer.response
            if response.status >= 400:  # noqa: PLR2004 - where HTTP's errors begin.
                with response:
                    raise error_of(response.status, _whole(response))
        return response


class KubernetesWatch:
    """See `Watching`."""

    def __init__(self, response: urllib3.BaseHTTPResponse, version: str) -> None:
        """Takes over an answer."""
        self._response, self._version, self._closed = response, version, False

    def __enter__(self) -> Self:
        """See the port."""
        return self

    def __exit__(self, *_: object) -> None:
        """See the port. Also gives the connection up, which only the thread that iterates may do."""
        self.close()
        self._response.close()

    def close(self) -> None:
        """See the port."""
        self._closed = True
        try:
            # Wakes whoever reads; closing would wait for them.
            self._response.shutdown()
        except (ValueError, RuntimeError, OSError):
            return  # It has ended by itself, and its connection may serve another request already.

    def __iter__(self) -> Iterator[WatchEvent]:
        """See the port."""
        try:
            with _in_our_words():
                for line in self._lines():
                    yield self._change(_object(line.decode(errors="replace")))
        except ClusterUnavailable:
            if not self._closed:
                raise

    def _lines(self) -> Iterator[bytes]:
        buffer = bytearray()
        for piece in self._response.stream(_PIECE, decode_content=False):
            start = len(buffer)
            buffer += piece
            while (end := buffer.find(b"\n", start)) >= 0:
                line = bytes(buffer[:end])
                del buffer[: end + 1]
                start = 0
                if line.strip():
                    yield line
            if len(buffer) > _LONGEST_LINE:
                raise ClusterUnavailable(f"the API server sent a line of more than {_LONGEST_LINE} bytes")

    def _change(self, event: Object) -> WatchEvent:
        kind, obj = str(event.get("type", "")), event.get("object")
        if not isinstance(obj, dict):
            raise ClusterUnavailable(f"the API server sent no object with {kind or 'an event'}")
        if kind == "ERROR":
            code = obj.get("code")
            raise _error(code if isinstance(code, int) else 0, obj)
        self._version = str(_metadata(obj).get("resourceVersion") or self._version)
        return WatchEvent(kind, obj, self._version)


def _selectors(labels: str, fields: str) -> dict[str, str]:
    return {**({"labelSelector": labels} if labels else {}), **({"fieldSelector": fields} if fields else {})}


def _whole(response: urllib3.BaseHTTPResponse) -> str:
    """The body of an answer. Raises ClusterUnavailable for one that is too long to be meant."""
    body = bytearray()
    for piece in response.stream(_PIECE):
        body += piece
        if len(body) > _LONGEST_ANSWER:
            raise ClusterUnavailable(f"the API server sent an answer of more than {_LONGEST_ANSWER} bytes")
    return body.decode(errors="replace")


def _object(text: str) -> Object:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ClusterUnavailable(f"the API server sent no JSON: {text[:200]!r}") from error
    if not isinstance(value, dict):
        raise ClusterUnavailable(f"the API server sent no object: {text[:200]!r}")
    return value


def _items(listing: Object) -> list[Object]:
    """Objects of a list; they do not say what they are there. Watched or asked for by name, they do."""
    version, kind = str(listing.get("apiVersion", "")), str(listing.get("kind", ""))
    if not version or not kind.endswith("List"):
        raise ClusterUnavailable(f"the API server sent no list, but {kind or 'an object of no kind'}")
    items = listing.get("items") or []
    if not isinstance(items, list) or not all(isinstance(each, dict) for each in items):
        raise ClusterUnavailable(f"the API server sent a {kind} of what are no objects")
    for each in items:
        _metadata(each)
    return [{"apiVersion": version, "kind": kind.removesuffix("List"), **each} for each in items]


def _metadata(obj: Object) -> Object:
    """What an object says of itself."""
    about = obj.get("metadata", {})
    if not isinstance(about, dict):
        raise ClusterUnavailable("the API server sent an object whose metadata is none")
    return about


def error_of(code: int, text: str) -> ClusterError:
    """The error that an answer with that status means, in the server's words: a Status object, or any other text."""
    try:
        status = json.loads(text)
    except ValueError:
        status = None
    return _error(code, status if isinstance(status, dict) else {"message": text.strip()})


def _error(code: int, status: Mapping[str, Any]) -> ClusterError:
    reason = str(status.get("reason") or "")
    if reason == "Expired":
        code = 410
    kind = _BY_CODE.get(code, ClusterUnavailable if code >= _SERVER_ERROR or code == 0 else RequestRefused)
    words = str(status.get("message") or reason or f"HTTP status {code}")
    return kind(words[:_MOST_WORDS], code=code, reason=reason)


@contextmanager
def _in_our_words() -> Iterator[None]:
    """What the client and its connections raise, as our error."""
    try:
        yield
    except (urllib3.exceptions.HTTPError, OpenApiException, OSError, ConfigException) as error:
        raise ClusterUnavailable(f"the API server does not answer: {_plain(error)}") from error


def _plain(error: Exception) -> str:
    """What happened, in words for people; whoever logs the error has its own words as the cause."""
    match error:
        case urllib3.exceptions.NameResolutionError():
            return "its name cannot be resolved"
        case urllib3.exceptions.NewConnectionError(__cause__=OSError(strerror=str(why))):
            return f"no connection: {why.lower()}"
        case urllib3.exceptions.TimeoutError():
            return "nothing came in time"
        case urllib3.exceptions.ProtocolError(args=(_, BadStatusLine() as line)) if not isinstance(line, OSError):
            return "what it sends is no HTTP"
        case urllib3.exceptions.ProtocolError() | ConnectionError():
            return "it closed the connection"
    # Without the addresses of objects that these libraries put into their words.
    words = str(getattr(error, "reason", "") or error)
    return " ".join((words.rpartition("object at 0x")[2].partition(": ")[2] or words).split())[:_MOST_WORDS]
