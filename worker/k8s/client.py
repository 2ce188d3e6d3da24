"""`Cluster` port on the official client: its configuration, connections and authentication, our plain dicts."""

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import BadStatusLine
from pathlib import Path
from threading import Lock
from typing import Any, Self
from urllib.parse import quote

import urllib3.exceptions
from kubernetes.client import ApiClient, Configuration
from kubernetes.client.exceptions import OpenApiException
from kubernetes.config import ConfigException

from worker.k8s.api_credentials import credentials_of, read_configuration
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

logger = logging.getLogger(__name__)
CONNECT_SECONDS, READ_SECONDS = 5.0, 20.0
LATE_SECONDS = 10.0
"""Seconds after a watch's own end: a connection without data for so long is broken."""
_PAGE = 500
_PIECE = 2**16
LONGEST_LINE = 16 * 2**20
LONGEST_ANSWER = 256 * 2**20
"""Bytes. A page of a list of large objects has a few MiB; a single object may have 1.5 MiB."""
MOST_PIECES = 1000
"""Maximum pages of a list: half a million objects."""
_MOST_WORDS = 2000
_SERVER_ERROR, _TOO_MANY, _UNAUTHORIZED = 500, 429, 401
_BY_CODE: Mapping[int, type[ClusterError]] = {
    404: ObjectNotFound,
    409: ObjectConflict,
    410: VersionGone,
    _TOO_MANY: ClusterUnavailable,
}
IN_CLUSTER = "KUBERNETES_SERVICE_HOST"
"""Variable that is set in every pod of a cluster."""
_OWN_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


def configured(kubeconfig: str) -> bool:
    """Whether a cluster is configured."""
    return bool(kubeconfig or os.environ.get(IN_CLUSTER))


def connect(kubeconfig: str, namespace: str) -> "Kubernetes":
    """A cluster from a kubeconfig file, else the one that this process runs in. Does not connect yet.

    It is read again when the server no longer accepts its token or certificate.

    Args:
        kubeconfig: path; empty = in the cluster.
        namespace: empty = the process's own in the cluster, else `default`.

    Raises:
        ClusterUnavailable: There is no such configuration.
    """
    return Kubernetes(
        read_configuration(kubeconfig), namespace or _own_namespace(), lambda: read_configuration(kubeconfig)
    )


def _own_namespace() -> str:
    try:
        return _OWN_NAMESPACE.read_text().strip() or "default"
    except OSError:
        return "default"


class Kubernetes:
    """See `Cluster`."""

    def __init__(self, configuration: Configuration, namespace: str, read_again: Callable[[], Configuration]) -> None:
        """Does not connect yet. `read_again` gives the configuration as it is now; raises ClusterUnavailable."""
        self._configuration, self._namespace, self._read_again = configuration, namespace, read_again
        self._client = ApiClient(configuration)
        self._renewing = Lock()

    @property
    def namespace(self) -> str:
        return self._namespace

    @property
    def address(self) -> str:
        return str(self._configuration.host)

    def create(self, resource: ResourceKind, body: Object, *, dry_run: bool = False) -> Object:
        query = {"fieldValidation": "Strict", **({"dryRun": "All"} if dry_run else {})}
        return self._ask("POST", self._path(resource), query, body=body)

    def get(self, resource: ResourceKind, name: str) -> Object:
        return self._ask("GET", self._path(resource, name))

    def list(self, resource: ResourceKind, *, labels: str = "", fields: str = "") -> ObjectList:
        query, items = {**_selectors(labels, fields), "limit": str(_PAGE)}, list[Object]()
        for _ in range(MOST_PIECES):
            page = self._ask("GET", self._path(resource), query)
            items += _items(page)
            metadata = _metadata(page)
            if not metadata.get("continue"):
                return ObjectList(tuple(items), str(metadata.get("resourceVersion", "")))
            query["continue"] = str(metadata["continue"])
        raise ClusterUnavailable(
            f"the API server sent a list of more than {MOST_PIECES} pages", reason="response_too_long"
        )

    def watch(
        self, resource: ResourceKind, version: str, *, labels: str = "", fields: str = "", seconds: float = 30.0
    ) -> "KubernetesWatch":
        query = {
            **_selectors(labels, fields),
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(max(1, round(seconds))),
        }
        return KubernetesWatch(self._send("GET", self._path(resource), query, read=seconds + LATE_SECONDS), version)

    def replace(self, resource: ResourceKind, body: Object) -> Object:
        query = {"fieldValidation": "Strict"}
        return self._ask("PUT", self._path(resource, body["metadata"]["name"]), query, body=body)

    def patch(self, resource: ResourceKind, name: str, changes: Mapping[str, Any]) -> Object:
        kind, query = "application/merge-patch+json", {"fieldValidation": "Strict"}
        return self._ask("PATCH", self._path(resource, name), query, body=dict(changes), content_type=kind)

    def delete(
        self, resource: ResourceKind, name: str, *, uid: str = "", version: str = "", grace: int | None = None
    ) -> bool:
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
        return self._text(self._send("GET", f"{self._path(PODS, pod)}/log", {"tailLines": str(lines)}))

    def close(self) -> None:
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
        """A response whose body has not been read yet."""
        headers = {"Accept": "application/json", **({"Content-Type": content_type} if body is not None else {})}
        pairs = list((query or {}).items())

        def call(client: ApiClient) -> Any:
            request = client.param_serialize(
                method, path, query_params=pairs, header_params=headers, body=body, auth_settings=["BearerToken"]
            )
            return client.call_api(*request, _request_timeout=(CONNECT_SECONDS, read)).response

        with _in_our_words():
            client = self._client
            response: urllib3.BaseHTTPResponse = call(client)
            if response.status == _UNAUTHORIZED and self._renewed(client):  # It has done nothing: repeating is safe.
                response.release_conn()
                response = call(self._client)
            if response.status >= 400:  # noqa: PLR2004 - where HTTP's errors begin.
                with response:
                    raise error_of(response.status, _whole(response))
        return response

    def _renewed(self, refused: ApiClient) -> bool:
        """Reads the configuration again; whether there are other credentials than the refused client's."""
        with self._renewing:
            if self._client is not refused:
                return True  # Another thread has been here.
            fresh = self._read_again()
            if different := credentials_of(fresh) != credentials_of(self._configuration):
                self._configuration, self._client = fresh, ApiClient(fresh)
                logger.info("the API server refused the credentials; others were read")
            return different


class KubernetesWatch:
    """See `WatchStream`."""

    def __init__(self, response: urllib3.BaseHTTPResponse, version: str) -> None:
        self._response, self._version, self._closed = response, version, False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the connection, which only the iterating thread may do."""
        self.close()
        self._response.close()

    def close(self) -> None:
        self._closed = True
        try:
            # Wakes the reader; closing the response would wait for it.
            self._response.shutdown()
        except (ValueError, RuntimeError, OSError):
            return  # It has ended by itself, and its connection may serve another request already.

    def __iter__(self) -> Iterator[WatchEvent]:
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
            if len(buffer) > LONGEST_LINE:
                raise ClusterUnavailable(
                    f"the API server sent a line of more than {LONGEST_LINE} bytes", reason="response_too_long"
                )

    def _change(self, event: Object) -> WatchEvent:
        kind, obj = str(event.get("type", "")), event.get("object")
        if not isinstance(obj, dict):
            raise _invalid(f"sent an event that is not an object: {kind or 'an event'}")
        if kind == "ERROR":
            code = obj.get("code")
            raise _error(code if isinstance(code, int) else 0, obj)
        self._version = str(_metadata(obj).get("resourceVersion") or self._version)
        return WatchEvent(kind, obj, self._version)


def _selectors(labels: str, fields: str) -> dict[str, str]:
    return {**({"labelSelector": labels} if labels else {}), **({"fieldSelector": fields} if fields else {})}


def _whole(response: urllib3.BaseHTTPResponse) -> str:
    """Reads a response's body. Raises ClusterUnavailable if it is too long."""
    body = bytearray()
    for piece in response.stream(_PIECE):
        body += piece
        if len(body) > LONGEST_ANSWER:
            raise ClusterUnavailable(
                f"the API server sent a response of more than {LONGEST_ANSWER} bytes", reason="response_too_long"
            )
    return body.decode(errors="replace")


def _invalid(problem: str) -> ClusterUnavailable:
    return ClusterUnavailable(f"the API server {problem}", reason="invalid_response")


def _object(text: str) -> Object:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _invalid(f"sent invalid JSON: {text[:200]!r}") from error
    if not isinstance(value, dict):
        raise _invalid(f"did not send a JSON object: {text[:200]!r}")
    return value


def _items(listing: Object) -> list[Object]:
    """Objects of a list, with their kind, which lists leave out and single objects have."""
    version, kind = str(listing.get("apiVersion", "")), str(listing.get("kind", ""))
    if not version or not kind.endswith("List"):
        raise _invalid(f"did not send a list, but {kind or 'an object without a kind'}")
    items = listing.get("items") or []
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise _invalid(f"sent a {kind} with items that are not objects")
    for item in items:
        _metadata(item)
    return [{"apiVersion": version, "kind": kind.removesuffix("List"), **item} for item in items]


def _metadata(obj: Object) -> Object:
    metadata = obj.get("metadata", {})
    if not isinstance(metadata, dict):
        raise _invalid("sent an object without metadata")
    return metadata


def error_of(code: int, text: str) -> ClusterError:
    """The error for an HTTP status, with the server's message: a Status object, or any other text."""
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
    """Maps exceptions of the client and its connections to ours."""
    try:
        yield
    except (urllib3.exceptions.HTTPError, OpenApiException, OSError, ConfigException) as error:
        raise ClusterUnavailable(f"the API server does not respond: {_plain(error)}", reason="no_response") from error


def _plain(error: Exception) -> str:
    """The error as short text; the original exception stays its cause."""
    match error:
        case urllib3.exceptions.NameResolutionError():
            return "its name cannot be resolved"
        case urllib3.exceptions.NewConnectionError(__cause__=OSError(strerror=str(why))):
            return f"no connection: {why.lower()}"
        case urllib3.exceptions.TimeoutError():
            return "timeout"
        case urllib3.exceptions.ProtocolError(args=(_, BadStatusLine() as line)) if not isinstance(line, OSError):
            return "the response is not HTTP"
        case urllib3.exceptions.ProtocolError() | ConnectionError():
            return "it closed the connection"
    # Without object addresses, which these libraries put into their messages.
    words = str(getattr(error, "reason", "") or error)
    return " ".join((words.rpartition("object at 0x")[2].partition(": ")[2] or words).split())[:_MOST_WORDS]
