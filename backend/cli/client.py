"""HTTP client of the command line: addresses, the token and errors in one place."""

import io
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from backend.addresses import API, DEFAULT_PORT
from backend.cli.errors import CliError, ServiceAway, UsageError

DEFAULT_SERVER = f"http://127.0.0.1:{DEFAULT_PORT}"
TIMEOUT = httpx.Timeout(60.0, connect=5.0)
STREAM_TIMEOUT = httpx.Timeout(600.0, connect=5.0)
PAGE_SIZE = 200
PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
IDEMPOTENCY_KEY = "Idempotency-Key"
NOT_NOW = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}
T = TypeVar("T")
OVERWRITE = {"If-Match": "*"}
"""A command says what shall be, whatever was there."""


class Api:
    """Client of one Deskarena service; a context manager.

    Args:
        server: Address such as `http://127.0.0.1:8000`; None = DESKARENA_SERVER, else the default.
        token: Bearer token; None = DESKARENA_TOKEN, if set.
        transport: httpx transport; None = HTTP.

    Every method raises CliError with a one-line message: exit code 2 if the request is wrong, 3 if the service fails.

    Attributes:
        patience: Seconds for which a request that may be repeated is repeated while the service does not answer.
    """

    patience: float = 0.0

    def __init__(
        self, server: str | None = None, token: str | None = None, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.server = (server or os.environ.get("DESKARENA_SERVER") or DEFAULT_SERVER).rstrip("/")
        if not self.server.startswith(("http://", "https://")):
            raise UsageError(
                f"--server must begin with http:// or https://, got {self.server!r}.", code="invalid_server_address"
            )
        token = token if token is not None else os.environ.get("DESKARENA_TOKEN", "")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        # Ignore proxy variables: they are meant for the internet, the service is addressed directly.
        self._http = httpx.Client(
            base_url=self.server, headers=headers, timeout=TIMEOUT, trust_env=False, transport=transport
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def get(self, path: str, **params: Any) -> Any:
        """GET below /api/v1, as JSON. Parameters that are None are left out."""
        return self._json("GET", API + path, params={k: v for k, v in params.items() if v is not None})

    def poll(self, path: str, seconds: float) -> Any:
        """GET below /api/v1, as JSON, once. `seconds` is the read timeout."""
        return self._json_once("GET", API + path, timeout=seconds)

    def post(
        self, path: str, body: Any = None, headers: Mapping[str, str] | None = None, seconds: float | None = None
    ) -> Any:
        """POST JSON below /api/v1; returns the response's JSON. `seconds` is the read timeout."""
        more = {"timeout": seconds} if seconds else {}
        return self._json("POST", API + path, json=body, headers=headers, **more)

    def put(self, path: str, body: Any) -> Any:
        """PUT JSON below /api/v1; returns the response's JSON."""
        return self._json("PUT", API + path, json=body, headers=OVERWRITE)

    def patch(self, path: str, body: Any) -> Any:
        """PATCH JSON below /api/v1; returns the response's JSON."""
        return self._json("PATCH", API + path, json=body, headers=OVERWRITE)

    def delete(self, path: str) -> Any:
        """DELETE below /api/v1; returns the response's JSON."""
        return self._json("DELETE", API + path)

    def upload(self, path: str, fields: Mapping[str, str], name: str, file: Path) -> Any:
        """POST a form with one file below /api/v1."""
        with file.open("rb") as content:
            return self._json("POST", API + path, data=dict(fields), files={"file": (name, content)})

    def items(self, path: str, limit: int | None = None, **params: Any) -> Iterator[Any]:
        """Items of a paginated list, at most `limit`."""
        query = {"limit": min(limit or PAGE_SIZE, PAGE_SIZE), **{k: v for k, v in params.items() if v is not None}}
        page = self._json("GET", API + path, params=query)
        remaining = limit
        while True:
            for item in page["items"]:
                if remaining == 0:
                    return
                yield item
                remaining = None if remaining is None else remaining - 1
            if not page.get("next") or remaining == 0:
                return
            page = self._json("GET", page["next"])

    def download(self, path: str) -> bytes:
        """GET bytes from a `path` that the API returned."""
        return self._repeat(lambda: self._send("GET", path).content)

    def download_if_exists(self, path: str) -> bytes | None:
        """Like `download`, but None if the response is 404."""
        response = self._request("GET", path)
        if response.status_code == HTTPStatus.NOT_FOUND:
            return None
        return self._check(response).content

    @contextmanager
    def stream(self, path: str, **params: Any) -> Iterator[io.BufferedReader]:
        """GET below /api/v1 as a readable stream."""
        query = {name: value for name, value in params.items() if value is not None}
        try:
            with self._http.stream("GET", API + path, params=query, timeout=STREAM_TIMEOUT) as response:
                if not response.is_success:
                    response.read()
                    raise problem(response)
                yield io.BufferedReader(_Incoming(response.iter_bytes()))
        except httpx.ConnectError:
            raise self._nobody() from None
        except httpx.TransportError as error:
            raise CliError(
                f"{self.server} closed the connection during {path}: {error or type(error).__name__}.",
                code="connection_lost",
            ) from None

    def _json(self, method: str, path: str, **more: Any) -> Any:
        repeatable = method == "GET" or IDEMPOTENCY_KEY in (more.get("headers") or {})
        ask: Callable[[], Any] = lambda: self._json_once(method, path, **more)  # noqa: E731
        return self._repeat(ask) if repeatable else ask()

    def _repeat(self, ask: Callable[[], T]) -> T:
        deadline = time.monotonic() + self.patience
        while True:
            try:
                return ask()
            except ServiceAway as error:
                pause = min(max(error.retry_after, PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
                if time.monotonic() + pause > deadline:
                    raise
            time.sleep(pause)

    def _json_once(self, method: str, path: str, **more: Any) -> Any:
        response = self._send(method, path, **more)
        if response.status_code == HTTPStatus.NO_CONTENT:
            return None
        try:
            return response.json()
        except ValueError:
            raise ServiceAway(
                f"{self.server} is not a Deskarena service (no JSON from {path}). Check --server.", code="not_a_service"
            ) from None

    def _send(self, method: str, path: str, **more: Any) -> httpx.Response:
        return self._check(self._request(method, path, **more))

    def _request(self, method: str, path: str, **more: Any) -> httpx.Response:
        try:
            return self._http.request(method, path, **more)
        except httpx.ConnectError:
            raise self._nobody() from None
        except httpx.TransportError as error:
            raise ServiceAway(
                f"{self.server} did not respond to {method} {path}: {error or type(error).__name__}.",
                code="no_response",
            ) from None

    @staticmethod
    def _check(response: httpx.Response) -> httpx.Response:
        if not response.is_success:
            raise problem(response)
        return response

    def _nobody(self) -> ServiceAway:
        return ServiceAway(
            f"No Deskarena service at {self.server}. Start one with `deskarena up`, or set "
            "--server or DESKARENA_SERVER.",
            code="service_not_found",
        )


class _Incoming(io.RawIOBase):
    """Iterator of byte chunks as a raw file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left and (piece := next(self._pieces, None)) is not None:
            self._left = piece
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size


def problem(response: httpx.Response) -> CliError:
    """Error response as one line: what is wrong, in which field, and what to do."""
    try:
        body = response.json()
    except ValueError:
        body = {}
    if not isinstance(body, dict):
        body = {}
    detail = str(body.get("detail") or f"{response.request.url} answered {response.status_code}")
    others = [f"{field['path']}: {field['message']}" for field in body.get("errors", [])[1:]]
    parts = [detail, *others, body.get("hint") or _hint(response.status_code)]
    text = " ".join(_sentence(part) for part in parts if part)
    retry_after = response.headers.get("Retry-After", "")
    in_progress = response.status_code == HTTPStatus.CONFLICT and retry_after
    not_now = not response.is_client_error or response.status_code in NOT_NOW or in_progress
    kind = ServiceAway if not_now else UsageError
    error = kind(text, code=str(body["code"])) if "code" in body else kind(text, code="unexpected_answer")
    if isinstance(error, ServiceAway) and retry_after.isdecimal():
        error.retry_after = float(retry_after)
    return error


def _hint(status: int) -> str:
    return "Set DESKARENA_TOKEN to the service's token." if status == HTTPStatus.UNAUTHORIZED else ""


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."
