"""A private database and broker that can be stopped and started again, and real worker processes on them."""

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from backend.cli.embedded.broker import start_broker
from backend.cli.embedded.postgres import start_postgres
from backend.cli.embedded.server import RunningServer
from backend.db.migrate import upgrade
from backend.db.session import make_engine, session_factory
from backend.domain import registry
from backend.domain.model.task import LoadedBenchmark
from backend.domain.registry import PluginKind
from backend.services.artifacts.stores.folder import FolderStore
from tests.factories.records import World
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[3]
STARTER = ROOT / "backend" / "starter" / "tasks"


class StartedWorker:
    """`celery -A worker.app worker`, as the product starts it."""

    def __init__(self, environment: Mapping[str, str], log: Path) -> None:
        self.log = log
        line = [sys.executable, "-P", "-m", "celery", "-A", "worker.app", "worker"]
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                [*line, "--pool", "threads", "--concurrency", "2", "--loglevel", "INFO"],
                env=dict(environment),
                cwd=log.parent,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self.process.pid

    def said(self, words: str) -> bool:
        """Whether its log contains these words."""
        return words in self.log.read_text(errors="replace")

    def kill(self) -> None:
        """Ends it as a crash would."""
        self.process.kill()
        self.process.wait()

    def stop(self, seconds: float = 15.0) -> int:
        """Asks it to end, as the product does; ends it if it does not. Returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
        return self.process.returncode


class WorkerStack:
    """Database, broker and workers in a folder of their own."""

    def __init__(self, folder: Path, *, slots: int = 2, durable: bool = False, **settings: str) -> None:
        """Starts database and broker, and migrates.

        Args:
            folder: for all that is written.
            slots: of each worker.
            durable: the database waits for the disk, as in the product; tests need not.
            settings: further environment of the workers.
        """
        self.folder = folder
        self._durable = durable
        self.postgres: RunningServer = start_postgres(folder / "db", durable=durable)
        self.broker: RunningServer | None = start_broker(folder / "broker")
        self.redis_url = self.broker.url
        upgrade(self.postgres.url)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", "/"),
            "DATABASE_URL": self.postgres.url,
            "REDIS_URL": self.redis_url,
            "DESKARENA_DATA_DIR": str(folder / "data"),
            "DESKARENA_SLOTS": str(slots),
            **settings,
        }
        (folder / "data").mkdir()
        self._engine = make_engine(self.postgres.url)
        store: Any = FolderStore(folder / "data" / "artifacts")
        self.world = World(session_factory(self._engine), store)
        self.workers: list[StartedWorker] = []
        self._numbers = itertools.count(1)

    def start_worker(self, *, wait: bool = True) -> StartedWorker:
        """Starts a worker and optionally waits until it has tested its desktops and registered."""
        worker = StartedWorker(self.environment, self.folder / f"worker-{next(self._numbers)}.log")
        self.workers.append(worker)
        if wait:
            until(lambda: worker.said("registered as"), 90.0, what=f"{worker.log} says that it has registered")
        return worker

    def stop_workers(self) -> None:
        """Stops all that there are."""
        while self.workers:
            self.workers.pop().stop()

    def import_starter(self) -> None:
        """Imports the starter benchmark."""
        registry.load()
        loaded: LoadedBenchmark = registry.lookup(PluginKind.BENCHMARK, "starter")().load(STARTER)
        self.world.benchmark(loaded)

    def stop_postgres(self) -> None:
        """Stops the database."""
        self.postgres.stop()

    def start_postgres(self) -> None:
        """Starts it again at the same address."""
        self.postgres = start_postgres(self.folder / "db", durable=self._durable)

    def stop_broker(self) -> None:
        """Stops the broker."""
        if self.broker is not None:
            self.broker.stop()
            self.broker = None

    def start_broker(self) -> None:
        """Starts it again at the same address."""
        self.broker = start_broker(self.folder / "broker", port=urlsplit(self.redis_url).port)

    def close(self) -> None:
        try:
            self.stop_workers()
        finally:
            self._engine.dispose()
            self.stop_broker()
            self.postgres.stop()
