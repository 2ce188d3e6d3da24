"""A service on loopback with a worker whose desktops are in memory; database, broker and HTTP are real."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from socket import create_server
from threading import Thread

import pytest
import uvicorn

from backend.config import Settings
from backend.domain import registry
from backend.services import events
from backend.web.app import create_app
from deskarena.client import Client
from tests.factories.claims import infeasible_task, note_task
from tests.factories.records import World, world
from tests.integration.worker.in_process import InProcessWorker, benchmark_of
from tests.waiting import until


@dataclass
class OutsideService:
    """The installation that the tests of one file share."""

    url: str
    world: World
    worker: InProcessWorker
    clients: list[Client] = field(default_factory=list)

    def client(self, token: str = "") -> Client:
        """A client of it, closed at the end."""
        self.clients.append(Client(self.url, token))
        return self.clients[-1]


class ApiThread:
    """The product's API in a thread, by default at a free port."""

    def __init__(self, settings: Settings, world: World, port: int = 0) -> None:
        app = create_app(settings, world.factory, world.store)
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=3, ws="none"))
        self._socket = create_server(("127.0.0.1", port))
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._thread.start()
        until(lambda: self._server.started, 240.0, what="the API answers")

    def stop(self) -> None:
        """In good order."""
        self._server.should_exit = True
        self._thread.join(20.0)
        self._socket.close()


@pytest.fixture(scope="module")
def service(postgres_server: str, redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OutsideService]:
    """With the benchmark `notes`: a task that is solved by typing, and an infeasible one."""
    from tests import databases

    folder: Path = tmp_path_factory.mktemp("outside")
    registry.load()
    events.configure(redis_url)
    settings = Settings(data_dir=folder, slots=2, poll_seconds=0.2, heartbeat_seconds=0.1, lease_seconds=10.0)
    with databases.copied(postgres_server) as url, world(url) as installation:
        installation.benchmark(benchmark_of(note_task(), infeasible_task()), name="notes")
        worker = InProcessWorker(settings, installation)
        server = ApiThread(settings, installation)
        outside_service = OutsideService(server.url, installation, worker)
        try:
            yield outside_service
        finally:
            for client in outside_service.clients:
                client.close()
            server.stop()
            worker.stop()
            events.configure("")
