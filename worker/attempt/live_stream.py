"""Live view: while somebody watches an attempt, its desktop's latest picture is sent to the broker.

Pictures come from the guest's `/stream`, which sends one only if the screen has changed. Without viewers there is no
connection, and so no capture. If the guest does not respond, the machine's own picture is used.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit, urlunsplit
from uuid import UUID

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect, unix_connect

from backend.domain.errors import DeskarenaError
from backend.domain.model.trajectory import Frame
from backend.telemetry.logs import in_this_context

LOOK_SECONDS = 0.5
RENEW_SECONDS = 2.0
"""Interval at which an unchanged picture is sent again, with the time at which the desktop last answered."""
HURRY_FPS = 20.0
"""Frame rate while a person acts: the effect must show at once."""
MAX_FRAME = 16 * 2**20
logger = logging.getLogger(__name__)


class Viewers(Protocol):
    """Broker side of the live view (`backend.services.events`)."""

    def watched_width(self, attempt_id: UUID) -> int:
        """Width in pixels of the widest viewer's picture; 0 without viewers."""
        ...

    def hurried(self, attempt_id: UUID) -> bool:
        """Whether a person acts on the desktop."""
        ...

    def put_frame(self, attempt_id: UUID, seq: int, jpeg: bytes, meta: Mapping[str, Any]) -> bool:
        """Sets the newest frame."""
        ...


class ActingViewers(Viewers, Protocol):
    """Viewers who can take over."""

    def clipboard_request(self, attempt_id: UUID) -> str:
        """Id of a person's request for the desktop's clipboard; empty without one."""
        ...

    def put_clipboard(self, attempt_id: UUID, request: str, text: str) -> None:
        """Answers that request."""
        ...


class LiveStreamThread:
    """Background thread of one attempt's live view. Errors never affect the attempt."""

    def __init__(  # noqa: PLR0913 - what it needs to know
        self,
        attempt_id: UUID,
        address: tuple[str, str],
        viewers: ActingViewers,
        *,
        fps: float,
        step: Callable[[], int],
        screen_width: int,
        quality: int = 70,
        otherwise: Callable[[], Frame | None] = lambda: None,
        clipboard: Callable[[], str] = str,
    ) -> None:
        """Starts at once.

        Args:
            attempt_id: attempt of the frames.
            address: of the guest API, with its secret (`OpenDesktop.stream_address`).
            viewers: viewers, and sink of frames.
            fps: maximum frame rate.
            step: returns the number of the current step.
            screen_width: of the desktop, in pixels.
            quality: JPEG quality.
            otherwise: the machine's own picture if the guest sends none (`OpenDesktop.picture`).
            clipboard: the text of the desktop's clipboard, for a person who acts there.
        """
        self._attempt_id = attempt_id
        self._address = address
        self._viewers = viewers
        self._ask = {"fps": fps, "quality": quality}
        self._screen_width = screen_width
        self._step = step
        self._otherwise = otherwise
        self._clipboard = clipboard
        self._seq = 0
        self._again = False
        self._picture = _Picture()
        self._answered_at = 0.0
        self._closed = Event()
        self._thread = Thread(target=in_this_context(self._run), name="live", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Requests the end without waiting, so that the attempt's end is not delayed. Safe to call twice."""
        self._closed.set()

    def join(self, seconds: float) -> None:
        """Waits for its end, at most for the given seconds."""
        self._thread.join(seconds)

    def _run(self) -> None:
        """No `PeriodicThread`: a turn lasts as long as somebody watches, and `close` waits for none."""
        while not self._closed.wait(0.0 if self._again else LOOK_SECONDS):
            self._again = False
            wish = self._wish()
            if wish is None:
                continue
            try:
                self._stream(wish)
                self._again = True  # Only the rate or the size changes, or nobody watches.
            except (OSError, WebSocketException, ValueError, TypeError, KeyError) as error:
                logger.info("live view interrupted: attempt %s: %s", self._attempt_id, error)
                self._show_machine()

    def _show_machine(self) -> None:
        """Shows the machine's own picture: a guest that does not respond may have crashed visibly."""
        frame = self._otherwise()
        if frame is not None and not self._closed.is_set():
            meta = {"captured_at": time.time(), "width": frame.width, "height": frame.height}
            self._picture = self._picture.next(frame.data, meta)
            self._send()

    def _wish(self) -> "_Wish | None":
        """The picture that viewers want now; None without a viewer."""
        width = self._viewers.watched_width(self._attempt_id)
        if not width:
            return None
        hurried = self._viewers.hurried(self._attempt_id)
        return _Wish(hurried, 1.0 if hurried else min(1.0, width / self._screen_width))

    def _stream(self, wish: "_Wish") -> None:
        address, secret = self._address
        fps = max(self._ask["fps"], HURRY_FPS) if wish.hurried else self._ask["fps"]
        with connect_stream(address, secret, {**self._ask, "fps": fps, "scale": round(wish.scale, 3)}) as socket:
            self._pump(socket, wish)

    def _pump(self, socket: ClientConnection, wish: "_Wish") -> None:
        look_at, sent_at, answer = time.monotonic() + LOOK_SECONDS, 0.0, socket.ping()
        while not self._closed.is_set():
            if time.monotonic() >= look_at:
                look_at = time.monotonic() + LOOK_SECONDS
                if self._wish() != wish:
                    return
                if wish.hurried:
                    self._answer_clipboard()
                if answer.is_set():
                    self._answered_at, answer = time.time(), socket.ping()
                if sent_at and time.monotonic() - sent_at > RENEW_SECONDS:
                    # The screen is unchanged: send the same picture before its key expires.
                    sent_at = self._send()
            frame = _next_frame(socket, max(0.0, look_at - time.monotonic()))
            if frame is not None:
                self._picture, self._answered_at = self._picture.next(*frame), time.time()
                sent_at = self._send()

    def _answer_clipboard(self) -> None:
        """A desktop that cannot say leaves the request without an answer."""
        request = self._viewers.clipboard_request(self._attempt_id)
        if not request:
            return
        try:
            self._viewers.put_clipboard(self._attempt_id, request, self._clipboard())
        except DeskarenaError as error:
            logger.info("clipboard not read: attempt %s: %s", self._attempt_id, error)

    def _send(self) -> float:
        self._seq += 1
        facts = {"answered_at": self._answered_at} if self._answered_at else {}
        meta = {**self._picture.meta, "picture": self._picture.number, **facts, "step": self._step()}
        self._viewers.put_frame(self._attempt_id, self._seq, self._picture.data, meta)
        return time.monotonic()


@dataclass(frozen=True)
class _Wish:
    """`hurried`: a person acts; `scale`: of the picture, at most 1."""

    hurried: bool
    scale: float


@dataclass(frozen=True)
class _Picture:
    """The newest picture. `number` counts different ones."""

    number: int = 0
    data: bytes = b""
    meta: Mapping[str, Any] = field(default_factory=dict)

    def next(self, data: bytes, meta: Mapping[str, Any]) -> "_Picture":
        """The picture after this one, which is this one if nothing has changed; `changed_at` by this clock."""
        if data == self.data:
            return self
        return _Picture(self.number + 1, data, {**meta, "changed_at": time.time()})


def _next_frame(socket: ClientConnection, seconds: float) -> tuple[bytes, dict[str, Any]] | None:
    """The next picture with its metadata; None if there is none in that time."""
    try:
        head = json.loads(socket.recv(timeout=seconds))
        if head.get("type") != "frame":
            return None
        data = socket.recv(timeout=5.0)
    except TimeoutError:
        return None
    if not isinstance(data, bytes):
        raise TypeError("the guest sent text instead of a picture")
    return data, {"captured_at": float(head["t"]), "width": int(head["width"]), "height": int(head["height"])}


def connect_stream(address: str, secret: str, ask: Mapping[str, Any]) -> ClientConnection:
    """Opens a websocket to the guest's `/stream`.

    Args:
        address: `http://host:port`, or `unix:/path` of a socket.
        secret: the desktop's secret.
        ask: `fps`, `quality`, `scale`.

    Raises:
        OSError: nothing listens there.
        WebSocketException: it is not a guest, or the secret is wrong.
    """
    options: dict[str, Any] = {
        "additional_headers": {"Authorization": f"Bearer {secret}"},
        "max_size": MAX_FRAME,
        "open_timeout": 5,
        "close_timeout": 1,
        # A hanging guest keeps its connection; only a ping distinguishes it from an unchanged screen.
        "ping_interval": 5,
        "ping_timeout": 10,
        "compression": None,
    }
    parts = urlsplit(address)
    if parts.scheme == "unix":
        socket: ClientConnection = unix_connect(parts.path, f"ws://guest/stream?{urlencode(ask)}", **options)
    else:
        scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
        url = urlunsplit((scheme, parts.netloc, parts.path.rstrip("/") + "/stream", urlencode(ask), ""))
        socket = connect(url, proxy=None, **options)
    return socket
