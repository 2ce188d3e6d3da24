"""Requests of people and programs while processes are replaced. Nothing is retried: every failure counts."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import Any, Self
from uuid import UUID

import httpx
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

POLITE = {1001, 1012}
"""Closing codes by which a page knows that it is to come back (frontend/static/js/lib/socket.js)."""
PAUSE = 0.02
"""Seconds between two requests of a client, unless the caller says otherwise."""
KEYS = 5
COME_BACK_SECONDS = 0.5
"""The first pause of the pages' own socket."""


@dataclass
class Tally:
    """Results of all requests.

    Attributes:
        counts: requests by kind.
        failed: what each failed one was, and why.
        seconds: how long each took.
        reconnected: websockets that were closed politely and came back.
        events: numbers of the run's events, in the order in which a listener got them.
    """

    counts: dict[str, int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    reconnected: int = 0
    events: list[int] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def note(self, kind: str, seconds: float, problem: str = "") -> None:
        with self.lock:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            self.seconds.append(seconds)
            if problem:
                self.failed.append(f"{kind}: {problem}")

    @property
    def total(self) -> int:
        return sum(self.counts.values())


class ClientLoad:
    """Clients in threads of their own, from entering to leaving the context."""

    def __init__(self, address: str, run_id: UUID, short: dict[str, Any], pause: float = PAUSE) -> None:
        """Begins nothing yet.

        Args:
            address: of the proxy.
            run_id: the run that is under way.
            short: body of a run, for submissions.
            pause: seconds between two requests of a client.
        """
        self.tally = Tally()
        self._address, self._run_id, self._short, self._pause = address, run_id, short, pause
        self._ended = Event()
        work = [self._read, self._read, self._watch, self._submit, self._change, self._wait, self._listen]
        self._threads = [Thread(target=self._guard, args=(task,), daemon=True) for task in work]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(60)

    def _guard(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - a client that breaks is a failure of the test, told with the others
            self.tally.note(work.__name__, 0.0, f"broke: {error!r}")

    def _ask(self, client: httpx.Client, kind: str, method: str, path: str, **more: Any) -> None:
        start = time.monotonic()
        try:
            answer = client.request(method, path, **more)
            problem = "" if answer.is_success else f"{answer.status_code} {answer.text[:200]}"
        except httpx.HTTPError as error:
            problem = repr(error)
        self.tally.note(kind, time.monotonic() - start, problem)
        self._ended.wait(self._pause)

    def _client(self) -> httpx.Client:
        return httpx.Client(base_url=self._address, timeout=60.0, trust_env=False)

    def _read(self) -> None:
        paths = ["/api/v1/runs", f"/api/v1/runs/{self._run_id}", "/api/v1/workers", "/healthz"]
        with self._client() as client:
            while not self._ended.is_set():
                for path in paths:
                    self._ask(client, "read", "GET", path)

    def _watch(self) -> None:
        with self._client() as client:
            while not self._ended.is_set():
                for path in ("/", f"/runs/{self._run_id}", "/workers"):
                    self._ask(client, "page", "GET", path, headers={"Accept": "text/html"})

    def _submit(self) -> None:
        number = 0
        with self._client() as client:
            while not self._ended.is_set():
                number += 1
                key = {"Idempotency-Key": f"rolling-{number % KEYS}"}
                self._ask(client, "submit", "POST", "/api/v1/runs", json=self._short, headers=key)

    def _change(self) -> None:
        """Writes without an idempotency key, which must not be repeated."""
        seats = 0
        with self._client() as client:
            while not self._ended.is_set():
                seats += 1
                body = {"name": "Photoshop", "seats": 1 + seats % 50}
                self._ask(client, "write", "POST", "/api/v1/licences", json=body)

    def _wait(self) -> None:
        headers = {"Prefer": "wait=4"}
        with self._client() as client:
            while not self._ended.is_set():
                self._ask(client, "long wait", "GET", f"/api/v1/runs/{self._run_id}", headers=headers)

    def _listen(self) -> None:
        """The run's events by websocket, coming back as our pages do: after a polite end, from the last number."""
        address = f"{self._address.replace('http', 'ws', 1)}/ws/runs/{self._run_id}/events"
        while not self._ended.is_set():
            last = self.tally.events[-1] if self.tally.events else 0
            start = time.monotonic()
            try:
                with connect(f"{address}?after={last}", proxy=None) as socket:
                    self.tally.note("websocket", time.monotonic() - start)
                    self._hear(socket)
            except ConnectionClosed as closed:
                code = closed.rcvd.code if closed.rcvd else None
                if code not in POLITE:
                    self.tally.note("websocket", 0.0, f"closed with {code}")
                self.tally.reconnected += 1
                self._ended.wait(COME_BACK_SECONDS)

    def _hear(self, socket: Any) -> None:
        while not self._ended.is_set():
            try:
                message = json.loads(socket.recv(timeout=0.5))
            except TimeoutError:
                continue
            if "seq" in message:  # Else it is a beat, or says that attempts wait.
                self.tally.events.append(message["seq"])
