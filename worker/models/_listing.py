"""Lists an endpoint's models: the one request that costs nothing and needs the key.

For a cassette, reads the file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from backend.domain import registry
from backend.domain.errors import Invalid, ModelApiFailed, WebFailed
from backend.domain.registry import PluginKind
from backend.services.artifacts.egress_policy import EgressPolicy, checked_url
from backend.services.artifacts.ssrf_safe_http import GuardedWeb
from backend.services.capacity.model_endpoints import Endpoint
from worker.models.cassette import lines_of

SECONDS = 3.0
_MOST_BYTES = 4 * 2**20
_OK = range(200, 300)
_NO_LIST = frozenset({404, 405, 501})
"""Status codes of servers that implement the API without such a list."""
_REFUSED = frozenset({401, 403})


@dataclass(frozen=True)
class Listing:
    """How an API lists its models: the path after the endpoint's address, and the headers with the key."""

    path: str
    headers: Mapping[str, str]


def answers(endpoint: Endpoint) -> str | None:
    """Error of the request; empty on success, None if there is nothing to request.

    Args:
        endpoint: with its key and complete address.
    """
    if endpoint.cassette is not None:
        return _unreadable(endpoint.cassette)
    listing = getattr(registry.lookup(PluginKind.MODEL, endpoint.api), "listing", None)
    if listing is None or not endpoint.base_url:
        return None
    request: Listing = listing(endpoint)
    try:
        # The operator configured the address, which often is on this machine.
        host = str(checked_url(endpoint.base_url).hostname)
        web = GuardedWeb(EgressPolicy(private_hosts=(host,)))
        headers = {**endpoint.headers, **request.headers}
        reply = web.send(
            "GET", endpoint.base_url + request.path, headers=headers, max_bytes=_MOST_BYTES, timeout=SECONDS
        )
    except (WebFailed, Invalid) as error:
        return f"does not respond: {_without(endpoint.key.get_secret_value(), error.message)}"
    if reply.status in _REFUSED:
        return f"rejected the key (status {reply.status})"
    return "" if reply.status in {*_OK, *_NO_LIST} else f"responded with status {reply.status}"


def _unreadable(cassette: Path) -> str:
    try:
        lines_of(cassette)
    except ModelApiFailed as error:
        return f"cannot be replayed: {error.message}"
    return ""


def _without(key: str, text: str) -> str:
    return text.replace(key, "...") if key else text
