"""A model API on a loopback port: gives scripted replies in order, and fails on demand.

It speaks OpenAI's chat completions and responses, Anthropic's messages and Gemini's generateContent, streamed and not:

    with model_server() as server:
        server.say("Hello.")
        server.fail(429, retry_after="1", times=3)
        server.say(calls=[("click", {"x": 3})])
        server.answer = lambda asked: ScriptedReply("By what was asked." if "one" in asked.text else "Else.")
        ...  # base address of every API: server.address + "/v1"
"""

import json
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.fakes.model_apis import APIS, Event, Json, ModelApi, ScriptedReply

__all__ = ["ModelServer", "ReceivedRequest", "ScriptedReply", "model_server"]
HUGE = 2 * 2**30
_BLOCK = b" " * 2**16
_CODES = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error"}
_BUSY = 429


@dataclass(frozen=True)
class ReceivedRequest:
    """One request.

    Attributes:
        headers: names in small letters.
        at: monotonic seconds.
    """

    api: str
    path: str
    headers: Mapping[str, str]
    body: Json
    at: float

    @property
    def text(self) -> str:
        """All of its body, for looking up words; pictures too, so look for words of more than a few letters."""
        return json.dumps(self.body, ensure_ascii=False)


Fault = Callable[["_Handler", ModelApi, ReceivedRequest], None]


class ModelServer:
    """The running server. What is queued comes first, one for each request; then `answer` is asked; then it is 400.

    Attributes:
        address: where it listens, without a path.
        asked: every request so far.
        key: what must be shown, if anything.
        answer: makes replies of requests once the queue is empty.
    """

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.asked: list[ReceivedRequest] = []
        self.key = ""
        self.answer: Callable[[ReceivedRequest], ScriptedReply] | None = None
        self.ended = threading.Event()
        self._lock = threading.Lock()
        self._queue: deque[ScriptedReply | Fault] = deque()
        self._until: tuple[float, Fault] | None = None
        self._number = 0

    def say(self, text: str = "", **rest: Any) -> None:
        """Queues a reply; `rest`: fields of ScriptedReply."""
        self._queue.append(ScriptedReply(text, **rest))

    def fail(  # noqa: PLR0913 - what one can say of a failure
        self,
        status: int,
        *,
        code: str = "",
        text: str = "told to fail",
        retry_after: str = "",
        times: int = 1,
        body: Json | None = None,
    ) -> None:
        """Queues answers with that status; `body` in place of the API's own form."""
        self._queue.extend([_failing(status, code, text, retry_after, body)] * times)

    def fail_for(self, seconds: float, status: int = _BUSY, *, retry_after: str = "") -> None:
        """From now on every request is answered so, for that long; the queue waits. Each call replaces the last."""
        self._until = (time.monotonic() + seconds, _failing(status, "rate_limit_error", "slow down", retry_after, None))

    def cut(self, after: int = 200, *, reply: ScriptedReply | None = None, times: int = 1) -> None:
        """Queues a reply whose connection is reset after that many bytes of its body."""
        self._queue.extend([_cut(after, reply or ScriptedReply("This sentence is never finished. " * 40))] * times)

    def hang(self, *, times: int = 1) -> None:
        """Queues no answer at all; the connection stays open until the server ends."""
        self._queue.extend([_hang] * times)

    def drip(self, *, times: int = 1) -> None:
        """Queues an answer of one byte every 50 ms without end."""
        self._queue.extend([_drip] * times)

    def flood(self, *, times: int = 1) -> None:
        """Queues an answer of 2 GB."""
        self._queue.extend([_flood] * times)

    def nonsense(self, body: bytes = b"<html>busy</html>", *, times: int = 1) -> None:
        """Queues an answer with status 200 that is none."""
        self._queue.extend([_raw(200, body)] * times)

    def redirect(self, target: str) -> None:
        """Queues an answer that leads elsewhere."""
        self._queue.append(_raw(307, b"", {"Location": target}))

    def left(self) -> int:
        """How much is still queued."""
        return len(self._queue)

    def next(self, asked: ReceivedRequest) -> ScriptedReply | Fault:
        """The answer to this request."""
        with self._lock:
            self.asked.append(asked)
            if self._until is not None and time.monotonic() < self._until[0]:
                return self._until[1]
            if self._queue:
                return self._queue.popleft()
        return self.answer(asked) if self.answer else _failing(400, "", "nothing is left to say", "", None)

    def number(self) -> int:
        """Counts replies, for their ids."""
        with self._lock:
            self._number += 1
            return self._number


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: ModelServer

    def do_POST(self) -> None:  # noqa: N802 - the library's name
        data = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        api = next((api for api in APIS if api.fits(self.path)), None)
        headers = {name.lower(): value for name, value in self.headers.items()}
        if api is None:
            self.send(404, b"no such API")
            return
        asked = ReceivedRequest(api.name, self.path, headers, json.loads(data), time.monotonic())
        if self.owner.key and self.owner.key != _shown(headers):
            fault = _failing(401, "", f"Incorrect API key provided: {_shown(headers)}", "", None)
        elif wrong := api.wrong(headers, asked.body):
            fault = _failing(400, "", wrong, "", None)
        else:
            next_reply = self.owner.next(asked)
            if isinstance(next_reply, ScriptedReply):
                self._say(api, asked, next_reply)
                return
            fault = next_reply
        with suppress(ConnectionError):
            fault(self, api, asked)

    def _say(self, api: ModelApi, asked: ReceivedRequest, reply: ScriptedReply) -> None:
        with suppress(ConnectionError):
            if _streams(asked):
                self.send(
                    200, _as_stream(api, asked, reply, self.owner.number()), {"Content-Type": "text/event-stream"}
                )
            else:
                self.send(200, json.dumps(reply.wire or api.body(reply, *_told(self, asked, reply))).encode())

    def send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """A whole answer."""
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin(self, length: int, media_type: str = "application/json") -> None:
        """The head of an answer."""
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


def _shown(headers: Mapping[str, str]) -> str:
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    return headers.get("x-api-key") or headers.get("x-goog-api-key") or bearer


def _streams(asked: ReceivedRequest) -> bool:
    return bool(asked.body.get("stream")) or "streamGenerateContent" in asked.path


def _told(handler: _Handler, asked: ReceivedRequest, reply: ScriptedReply) -> tuple[str, int]:
    return _model(asked, reply), handler.owner.number()


def _model(asked: ReceivedRequest, reply: ScriptedReply) -> str:
    return reply.model or asked.body.get("model") or asked.path.rsplit("/", 1)[-1].partition(":")[0]


def _as_stream(api: ModelApi, asked: ReceivedRequest, reply: ScriptedReply, number: int) -> bytes:
    events: Iterator[Event] | Sequence[Event] = api.events(reply, _model(asked, reply), number, asked.body)
    parts = []
    for name, data in events:
        head = f"event: {name}\n" if name else ""
        parts.append(f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n")
    return "".join([": begins\n\n", *parts]).encode()


def _failing(status: int, code: str, text: str, retry_after: str, body: Json | None) -> Fault:
    def fault(handler: _Handler, api: ModelApi, _: ReceivedRequest) -> None:
        error_body = body or api.error(status, code or _CODES.get(status, "server_error"), text)
        handler.send(status, json.dumps(error_body).encode(), {"Retry-After": retry_after} if retry_after else {})

    return fault


def _cut(after: int, reply: ScriptedReply) -> Fault:
    def fault(handler: _Handler, api: ModelApi, asked: ReceivedRequest) -> None:
        if _streams(asked):
            body, media = _as_stream(api, asked, reply, 0), "text/event-stream"
        else:
            body, media = json.dumps(api.body(reply, _model(asked, reply), 0)).encode(), "application/json"
        handler.begin(len(body), media)
        handler.wfile.write(body[:after])
        handler.wfile.flush()
        # No lingering: the other end sees a reset, as when a machine in between goes away.
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.close_connection = True
        handler.connection.close()

    return fault


def _hang(handler: _Handler, _: ModelApi, __: ReceivedRequest) -> None:
    handler.owner.ended.wait(300)
    handler.close_connection = True


def _drip(handler: _Handler, _: ModelApi, __: ReceivedRequest) -> None:
    handler.begin(len(_BLOCK))
    while not handler.owner.ended.wait(0.05):
        handler.wfile.write(b" ")


def _flood(handler: _Handler, _: ModelApi, __: ReceivedRequest) -> None:
    handler.begin(HUGE)
    for _block in range(HUGE // len(_BLOCK)):
        if handler.owner.ended.is_set():
            return
        handler.wfile.write(_BLOCK)


def _raw(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> Fault:
    return lambda handler, _, __: handler.send(status, body, headers)


@contextmanager
def model_server(port: int = 0) -> Iterator[ModelServer]:
    """A server that is gone at the end."""
    server = ThreadingHTTPServer(("127.0.0.1", port), _Handler, bind_and_activate=True)
    server.daemon_threads = True
    scripted = ModelServer(int(server.server_address[1]))
    server.RequestHandlerClass = type("Handler", (_Handler,), {"owner": scripted})
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield scripted
    finally:
        scripted.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
