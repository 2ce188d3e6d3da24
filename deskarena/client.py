"""A small client of the REST API: runs, episodes, and one episode's line by its token."""

import os
import time
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

import httpx

from deskarena.errors import ServiceError

DEFAULT_SERVER = "http://127.0.0.1:8000"
BASE = "/api/v1"
UNIX = "unix:"
PATIENCE = 30.0
"""Seconds for which a repeatable request is retried while the service is unavailable."""
PAUSE = 0.5


class Client:
    """Requests below /api/v1 with one token.

    Args:
        server: address of the service, or `unix:` and a socket's path; default DESKARENA_SERVER, else this machine.
        token: bearer token; default DESKARENA_TOKEN, if set.
        transport: how requests travel; None = by HTTP.
    """

    def __init__(
        self, server: str | None = None, token: str | None = None, *, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.server = (server or os.environ.get("DESKARENA_SERVER") or DEFAULT_SERVER).rstrip("/")
        self._given_transport = transport
        socket = self.server.removeprefix(UNIX) if self.server.startswith(UNIX) else None
        travels = httpx.HTTPTransport(uds=socket) if socket and transport is None else transport
        bearer = token if token is not None else os.environ.get("DESKARENA_TOKEN", "")
        self._http = httpx.Client(
            base_url="http://deskarena" if socket else self.server,
            headers={"Authorization": f"Bearer {bearer}"} if bearer else {},
            timeout=httpx.Timeout(90.0, connect=5.0),
            # The service is addressed as it is named: proxies of the environment are for the world outside.
            trust_env=False,
            transport=travels,
        )

    def with_token(self, token: str) -> "Client":
        """Another client of the same service, with a token."""
        return Client(self.server, token, transport=self._given_transport)

    def get(self, path: str, **params: Any) -> Any:
        """GET as JSON; parameters that are None are left out."""
        return _json(self._send("GET", BASE + path, params=_without_none(params)))

    def post(self, path: str, body: Mapping[str, Any] | None = None, *, repeat: bool = False) -> Any:
        """POST JSON; `repeat`: repeating is harmless, so it is retried while the service is unavailable."""
        return _json(self._send("POST", BASE + path, json=None if body is None else dict(body), repeat=repeat))

    def upload(self, path: str, fields: Mapping[str, str], name: str, data: bytes) -> Any:
        """POST a form with a file named `file`."""
        return _json(self._send("POST", BASE + path, data=dict(fields), files={"file": (name, data)}))

    def data(self, address: str) -> tuple[bytes, str]:
        """Bytes and their media type; the address as the service gave it."""
        answer = self._send("GET", address)
        return answer.content, answer.headers.get("content-type", "").partition(";")[0]

    def items(self, path: str, **params: Any) -> Iterator[Any]:
        """The items of a list, part after part."""
        page = self.get(path, **{"limit": 200, **params})
        yield from page["items"]
        while page.get("next"):
            page = _json(self._send("GET", page["next"]))
            yield from page["items"]

    def close(self) -> None:
        self._http.close()

    def _send(self, method: str, path: str, *, repeat: bool = False, **more: Any) -> httpx.Response:
        deadline = time.monotonic() + (PATIENCE if repeat or method == "GET" else 0.0)
        while True:
            try:
                answer = self._http.request(method, path, **more)
            except httpx.TransportError as error:
                problem = ServiceError(f"{self.server} does not answer: {error or type(error).__name__}")
            else:
                if answer.is_success:
                    return answer
                problem = _problem(answer)
            if problem.status not in {0, HTTPStatus.SERVICE_UNAVAILABLE} or time.monotonic() > deadline:
                raise problem
            time.sleep(PAUSE)


def _without_none(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}


def _json(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except ValueError as error:
        raise ServiceError(f"{answer.request.url} does not answer like a Deskarena service") from error


def _problem(answer: httpx.Response) -> ServiceError:
    try:
        body = answer.json()
    except ValueError:
        body = {}
    body = body if isinstance(body, dict) else {}
    return ServiceError(
        str(body.get("detail") or f"{answer.request.url} answered {answer.status_code}"),
        status=answer.status_code,
        code=str(body.get("code", "")),
        hint=str(body.get("hint", "")),
    )
