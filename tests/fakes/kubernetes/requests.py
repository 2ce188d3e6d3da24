"""Parses the API's paths and queries to requests."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

from tests.fakes.kubernetes.kinds import BY_PATH, NAMESPACES, Resource
from tests.fakes.kubernetes.rbac import REVIEWS, Wish
from tests.fakes.kubernetes.status import no_such_page

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


@dataclass
class Request:
    """One request for objects.

    Attributes:
        resource: None for pages that are none of an object (discovery, health).
        query: the first value of each parameter.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""
    resource: Resource | None = None
    namespace: str = ""
    name: str = ""
    sub: str = ""
    warnings: list[str] = field(default_factory=list)

    def flag(self, name: str) -> bool:
        """A parameter that is true or not there."""
        return self.query.get(name, "").lower() in {"true", "1"}

    @property
    def watching(self) -> bool:
        """Whether changes are asked for."""
        return self.method == "GET" and self.flag("watch") and not self.sub

    @property
    def verb(self) -> str:
        """The verb of the right."""
        if self.method in {"GET", "HEAD"}:
            if self.watching:
                return "watch"
            return "get" if self.name else "list"
        if self.method == "DELETE" and not self.name:
            return "deletecollection"
        return _VERBS.get(self.method, self.method.lower())

    @property
    def dry(self) -> bool:
        """Whether nothing is to be kept."""
        return self.query.get("dryRun") == "All"

    @property
    def wish(self) -> Wish | None:
        """The right it needs; None for pages that any token may read."""
        if self.resource is None:
            return None
        named = f"{self.resource.plural}/{self.sub}" if self.sub else self.resource.plural
        namespace = self.name if self.resource is NAMESPACES else self.namespace
        return Wish(self.verb, self.resource.group, named, namespace, self.name)


def read(method: str, target: str, headers: Mapping[str, str], body: bytes) -> Request:
    """A request's target. Raises 404 for an address under a group that is not served."""
    parts = urlsplit(target)
    query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
    request = Request(method, parts.path, query, headers, body)
    if parts.path == REVIEWS:
        return request
    words = [unquote(word) for word in parts.path.split("/") if word]
    if words[:1] == ["api"] and len(words) > 2:
        _locate(request, "", words[1], words[2:])
    elif words[:1] == ["apis"] and len(words) > 3:
        _locate(request, words[1], words[2], words[3:])
    return request


def _locate(request: Request, group: str, version: str, words: list[str]) -> None:
    if words[0] == "namespaces" and len(words) > 2 and words[2] not in {"status", "finalize"}:
        request.namespace, words = words[1], words[2:]
    resource = BY_PATH.get((group, version, words[0]))
    if resource is None or (request.namespace and not resource.namespaced):
        raise no_such_page()
    request.resource = resource
    request.name, request.sub = [*words[1:3], "", ""][:2]
    if len(words) > 3:
        raise no_such_page()
