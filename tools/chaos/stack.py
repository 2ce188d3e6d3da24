"""The whole stack as real processes: what `deskarena up` starts, by its means, with two workers and lines to cut."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import httpx
import redis
from sqlalchemy import make_url, text

from backend.cli.embedded import children
from backend.cli.embedded.broker import start_broker
from backend.cli.embedded.data_dir import DataFolder
from backend.cli.embedded.listen_socket import listen, url_of
from backend.cli.embedded.postgres import start_postgres
from backend.cli.embedded.process_spawn import ChildSpec, GuardedProcess, run_to_end, spawn
from backend.cli.embedded.server import RunningServer
from backend.cli.embedded.supervisor import ChildService, ServiceSupervisor
from backend.db.session import make_engine, session_factory
from backend.services.artifacts.stores.folder import FolderStore
from tests.factories.records import World
from tests.waiting import until
from tools.chaos.facts import Facts
from tools.chaos.proxy import LinkProcess

WORKERS = ("worker-1", "worker-2")
LEASE, HEARTBEAT = 10.0, 2.0
"""The defaults of the product, in seconds: the campaign changes neither."""
DISK = "1500m"
"""Size of the data folder's own file system, where one can be mounted."""
FRESH = HEARTBEAT + 2.0


class ChaosStack:
    """Database, broker, API, beat and two workers under the product's own supervisor and guards.

    Every line to the database and to the broker leads through a link of `lines` named `worker-1>postgres` and the like.
    The workers are two nodes where the machine lets us give them host names of their own.
    """

    flavour = "local"
    rest_seconds = 60.0
    """Seconds after the last episode's end until nothing of it may remain."""

    def __init__(self, *, slots: int = 2) -> None:
        """Starts everything. `slots`: desktops of each worker."""
        self.folder = Path(tempfile.mkdtemp(prefix="chaos-", dir="/tmp"))
        self.tmp, self.data = self.folder / "tmp", self.folder / "data"
        self.tmp.mkdir(mode=0o711)
        self.desktop_supervisors: set[str] = set()
        self.data.mkdir(mode=0o700)
        self.own_disk = _mounted(self.data)
        self.own_names = os.geteuid() == 0
        self.slots = slots
        self.messages: list[str] = []
        self.supervisor = ServiceSupervisor(self.messages.append)
        self._closing = contextlib.ExitStack()
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        self._closing.callback(self._remove)
        self._prepare()
        folder_fd = self._closing.enter_context(DataFolder(self.data)).children_fd
        self._closing.callback(self.supervisor.stop)
        self.database_url = self._serve(
            "postgres", partial(start_postgres, self.data, durable=False, hold_fds=(folder_fd,))
        )
        self.redis_url = self._serve("broker", self._broker_starter(folder_fd))
        self.lines = LinkProcess(self._upstreams())
        self._closing.callback(self.lines.close)
        self._engine = make_engine(self.database_url)
        self._closing.callback(self._engine.dispose)
        self.store = FolderStore(self.data / "artifacts")
        self.world = World(session_factory(self._engine), self.store)  # type: ignore[arg-type]
        # Registered last, so that it comes first: who stops still has its lines.
        self._closing.callback(self._stop)
        self._start_users(folder_fd)
        self._stop_read, self._stop_write = os.pipe()
        self._watching = Thread(target=self.supervisor.watch, args=(self._stop_read,), name="supervisor", daemon=True)
        self._watching.start()

    def _prepare(self) -> None:
        """Prepares what must exist first and last longest; for other kinds of stack."""

    def furnish(self) -> None:
        """Adds what the work needs besides the starter tasks; for other kinds of stack."""

    def _worker_environment(self, worker: str) -> dict[str, str]:  # noqa: ARG002
        """Further variables of a worker; for other flavours."""
        return {}

    def _broker_starter(self, folder_fd: int) -> Callable[[], RunningServer]:
        port: int | None = None

        def start() -> RunningServer:
            nonlocal port
            server = start_broker(self.data, port=port, hold_fds=(folder_fd,))
            port = urlsplit(server.url).port
            return server

        return start

    def _serve(self, name: str, start: Callable[[], RunningServer]) -> str:
        urls: list[str] = []

        def launch() -> GuardedProcess:
            server = start()
            urls.append(server.url)
            return server.process

        self.supervisor.add(ChildService(name=name, start=launch, stage=0))
        return urls[0]

    def _upstreams(self) -> dict[str, int | str]:
        socket = f"{make_url(self.database_url).query['host']}/.s.PGSQL.5432"
        broker = urlsplit(self.redis_url).port or 0
        users = ("api", *WORKERS)
        return {f"{user}>postgres": socket for user in users} | {f"{user}>broker": broker for user in users}

    def _settings(self, user: str, port: int) -> children.ChildSettings:
        database = make_url(self.database_url).set(
            host="127.0.0.1", port=self.lines.ports[f"{user}>postgres"], query={}
        )
        password, line = urlsplit(self.redis_url).password, self.lines.ports[f"{user}>broker"]
        return children.ChildSettings(
            data=self.data,
            host="127.0.0.1",
            port=port,
            slots=self.slots,
            database_url=database.render_as_string(hide_password=False),
            redis_url=f"redis://:{password}@127.0.0.1:{line}/0",
        )

    def _start_users(self, folder_fd: int) -> None:
        listener = self._closing.enter_context(contextlib.closing(listen("127.0.0.1", 0)))
        self.url, port = url_of(listener), listener.getsockname()[1]
        self.api = httpx.Client(base_url=self.url, timeout=10.0)
        self._closing.callback(self.api.close)
        outer = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "TMPDIR": str(self.tmp)}
        api = self._settings("api", port)
        env = children.environment(api, outer)
        run_to_end(replace(children.prepare(api, env), hold_fds=(folder_fd,)), 300.0)
        specs = [children.api(api, env, listener.fileno()), children.beat(api, env)]
        for name in WORKERS:
            settings = self._settings(name, port)
            env = {**children.environment(settings, outer), **self._worker_environment(name)}
            specs.append(self._named_spec(name, children.worker(settings, env, {})))
        self.specs = {spec.name: replace(spec, hold_fds=(folder_fd,)) for spec in specs}
        for name in self.specs:
            self.supervisor.add(ChildService(name=name, start=partial(self._spawn, name), stage=1))

    def _named_spec(self, name: str, spec: ChildSpec) -> ChildSpec:
        argv = spec.argv
        if self.own_names:
            argv = ("/usr/bin/unshare", "--uts", "sh", "-c", f'hostname {name} && exec "$@"', "sh", *argv)
        return replace(spec, name=name, argv=argv, log=self.data / "logs" / f"{name}.log")

    def _spawn(self, name: str) -> GuardedProcess:
        return spawn(self.specs[name])

    # ---- what faults and checks need

    def service(self, name: str) -> ChildService:
        """A part of the stack by name: postgres, broker, api, beat, worker-1, worker-2."""
        return next(service for service in self.supervisor.services if service.name == name)

    def pid(self, name: str) -> int | None:
        """Process id of a part, None while it is being started again."""
        process = self.service(name).process
        return None if process is None else process.pid

    def live(self) -> dict[str, int]:
        """Attempts under way by the worker that has them. Raises Unavailable."""
        query = "SELECT w.pid, count(*) FROM attempt a JOIN worker w ON w.id = a.worker_id WHERE a.live GROUP BY w.pid"
        with self.world.work() as session:
            by_pid = {row[0]: row[1] for row in session.execute(text(query))}
        return {name: by_pid.get(self.pid(name), 0) for name in WORKERS}

    def has_room(self, live: Mapping[str, int], lost: str) -> bool:
        """Whether a slot is free without that worker, while a number of attempts is under way."""
        return any(live[name] < self.slots for name in WORKERS if name != lost)

    def forgive(self) -> None:
        """Earlier failures count no more, as after a minute of health: each fault finds a healthy stack."""
        for service in self.supervisor.services:
            service.failures = 0

    def unwell(self) -> str:
        """Descriptions of problems; empty once everything works."""
        for service in self.supervisor.services:
            if service.process is None:
                return f"{service.name} is being started again"
        try:
            if not self.api.get("/healthz").is_success:
                return "the API says that it is not well"
            redis.Redis.from_url(self.redis_url, socket_timeout=2.0).ping()
            return self._unheard()
        except (httpx.TransportError, redis.RedisError) as error:
            return f"{type(error).__name__}: {error}"

    def _unheard(self) -> str:
        """A worker's process without a recent heartbeat."""
        with self.world.work() as session:
            query = (
                "SELECT pid FROM worker WHERE state = 'online' AND heartbeat_at > now() - make_interval(secs => :age)"
            )
            heard = set(session.scalars(text(query), {"age": FRESH}))
        missing = [name for name in WORKERS if self.pid(name) not in heard]
        return f"no heartbeat of {', '.join(missing)}" if missing else ""

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """Closes pooled database connections, which would be broken later."""
        self._engine.dispose()
        yield

    # ---- the end

    def _stop(self) -> None:
        if hasattr(self, "_watching"):
            os.write(self._stop_write, b"x")
            self._watching.join(130.0)
            os.close(self._stop_write)
            os.close(self._stop_read)
        self.supervisor.stop()

    def _remove(self) -> None:
        if self.own_disk:
            with contextlib.suppress(OSError, shutil.Error):  # A partial copy is better than none.
                shutil.copytree(self.data / "logs", self.folder / "logs")
            until(lambda: _unmounted(self.data), 20.0, what=f"{self.data} can be unmounted")

    def orphans(self, facts: Facts) -> dict[str, str]:  # noqa: ARG002
        """Descriptions of possible leftovers besides processes, by name; for other kinds of stack."""
        return {}

    def at_rest(self) -> list[str]:
        """Descriptions of what an idle stack must not have besides processes and folders; for other kinds of stack."""
        return []

    def left(self) -> list[str]:
        """Descriptions of leftovers besides processes and files after the stop; for other kinds of stack."""
        return []

    def close(self) -> None:
        """Ends everything; the folder is kept for checking leftovers.

        The logs are in `data/logs`, and in `logs` if the data folder was a separate file system.
        """
        self._closing.close()

    def discard(self) -> None:
        """Removes the folder of a stack that was closed."""
        shutil.rmtree(self.folder)


def _mounted(folder: Path) -> bool:
    """Mounts a small separate file system at the folder, if permitted."""
    if os.geteuid() != 0:
        return False
    words = ["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=0700", "chaos", str(folder)]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def _unmounted(folder: Path) -> bool:
    return subprocess.run(["umount", str(folder)], capture_output=True, check=False).returncode == 0


def now() -> float:
    """Seconds since 1970 by this machine's clock, which is the database's as well."""
    return time.time()
