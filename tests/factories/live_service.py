"""The product's own server in a process of its own, and somebody who scores what it is given by a rule."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import create_server, socket

import httpx

from backend.db.models import Worker
from backend.services.capacity.workers import worker_heartbeat
from backend.services.scheduling.claims import Claim
from tests.conftest import ROOT
from tests.factories.records import World
from tests.waiting import until


@dataclass
class LiveService:
    """A server whose address stays the same while its process is replaced.

    Attributes:
        url: its address.
    """

    database: str
    data: Path
    settings: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._socket: socket = create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when it answers."""
        environment = {
            **os.environ, "DATABASE_URL": self.database, "DESKARENA_DATA_DIR": str(self.data), **self.settings
        }  # fmt: skip
        descriptor = self._socket.fileno()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "backend.web.serve", "--fd", str(descriptor)],
            cwd=ROOT, env=environment, pass_fds=[descriptor],
        )  # fmt: skip
        until(lambda: httpx.get(f"{self.url}/readyz", timeout=60.0).is_success, 60.0, what="the service answers")

    def freeze(self) -> None:
        """It accepts connections and does nothing."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def stop(self) -> None:
        """Ends the process; connections wait for the next one."""
        if self._process is not None:
            self._signal(signal.SIGCONT)
            self._signal(signal.SIGTERM)
            self._process.wait(30.0)
            self._process = None

    def close(self) -> None:
        """Connections are refused from now on."""
        self.stop()
        self._socket.close()

    def _signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)


@contextmanager
def live_service(database: str, data: Path, **settings: str) -> Iterator[LiveService]:
    """A running one, ended afterwards."""
    service = LiveService(database, data, settings)
    try:
        service.start()
        yield service
    finally:
        service.close()


@contextmanager
def scoring(world: World, worker: Worker, score: Callable[[Claim], float]) -> Iterator[threading.Event]:
    """Meanwhile every episode gets its score by the rule, through all states of an attempt.

    Yields:
        An event: nothing is taken while it is set.
    """
    rest, ended = threading.Event(), threading.Event()

    def work() -> None:
        while not ended.wait(0.02):
            world.do(worker_heartbeat, worker.id, [])
            while not rest.is_set() and (claim := world.claim(worker)) is not None:
                world.score(claim, score(claim), steps=0)
            world.roll_up()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield rest
    finally:
        ended.set()
        thread.join(60.0)
