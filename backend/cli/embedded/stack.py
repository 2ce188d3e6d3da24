"""The whole stack: data folder, listening socket, servers, migrations, API, workers."""

import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import httpx

from backend.addresses import DEFAULT_PORT, FIRST_LINK_FILE
from backend.cli.embedded import children, external
from backend.cli.embedded.broker import start_broker
from backend.cli.embedded.data_dir import DataFolder, refuse_old_schema
from backend.cli.embedded.listen_socket import check_exposure, listen, url_of
from backend.cli.embedded.postgres import start_postgres
from backend.cli.embedded.process_spawn import ChildSpec, GuardedProcess, crash_message, run_to_end, spawn
from backend.cli.embedded.server import RunningServer
from backend.cli.embedded.supervisor import ChildService, ServiceSupervisor
from backend.cli.errors import StackError

PREPARE_SECONDS = 300.0
DEMONSTRATION_SECONDS = 90.0
HEALTHY_SECONDS = 90.0
LOOK_AGAIN_SECONDS = 0.05
SERVERS, USERS = 0, 1


@dataclass(frozen=True, kw_only=True)
class StackPlan:
    """Options of a stack.

    Args:
        data: Data folder.
        host: Address to listen on; other than loopback needs DESKARENA_ACCOUNTS or DESKARENA_TOKEN.
        port: Port to listen on; 0 takes a free one.
        slots: Maximum desktops in parallel; 0 = no worker, None = computed.
        durable: False for temporary data.
        outer: The caller's environment: DATABASE_URL and REDIS_URL replace the embedded servers.
    """

    data: Path
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    slots: int | None = 2
    durable: bool = True
    outer: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


class Stack:
    """The running stack; a context manager that leaves nothing behind.

    Args:
        plan: Options.
        say: Prints a message for the user.
        in_a_hurry: While stopping: true = kill instead of waiting.

    Raises:
        CliError: On entering, if it cannot be started; nothing runs then.
    """

    def __init__(
        self, plan: StackPlan, say: Callable[[str], None], in_a_hurry: Callable[[], bool] = lambda: False
    ) -> None:
        self.plan = plan
        self.url = ""
        self.supervisor = ServiceSupervisor(say)
        self._in_a_hurry = in_a_hurry
        self._open = ExitStack()
        self._demonstration: ChildSpec | None = None

    def __enter__(self) -> Self:
        with self._open as opened:
            self._start(opened)
            self._open = opened.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def _start(self, opened: ExitStack) -> None:
        plan = self.plan
        check_exposure(plan.host, token=plan.outer.get("DESKARENA_TOKEN", ""), accounts=self.has_accounts)
        external.check(plan.outer)
        if not external.database_url(plan.outer):
            refuse_old_schema(plan.data)
        folder = opened.enter_context(DataFolder(plan.data))
        listener = opened.enter_context(closing(listen(plan.host, plan.port)))
        self.url = url_of(listener)
        folder.announce(self.url)
        opened.callback(lambda: self.supervisor.stop(self._in_a_hurry))
        settings = children.ChildSettings(
            data=folder.path,
            host=plan.host,
            port=listener.getsockname()[1],
            slots=plan.slots,
            database_url=external.database_url(plan.outer) or self._start_postgres(folder),
            redis_url=external.redis_url(plan.outer) or self._start_broker(folder),
        )
        self._start_children(settings, folder, listener)

    def _start_postgres(self, folder: DataFolder) -> str:
        def start() -> RunningServer:
            return start_postgres(folder.path, durable=self.plan.durable, hold_fds=(folder.children_fd,))

        return self._add_server("postgres", start)

    def _start_broker(self, folder: DataFolder) -> str:
        port: int | None = None

        def start() -> RunningServer:
            nonlocal port
            server = start_broker(folder.path, port=port, hold_fds=(folder.children_fd,))
            port = urlsplit(server.url).port
            return server

        return self._add_server("broker", start)

    def _add_server(self, name: str, start: Callable[[], RunningServer]) -> str:
        urls: list[str] = []

        def launch() -> GuardedProcess:
            server = start()
            urls.append(server.url)
            return server.process

        self.supervisor.add(ChildService(name=name, start=launch, stage=SERVERS))
        return urls[0]

    def _start_children(self, settings: children.ChildSettings, folder: DataFolder, listener: socket.socket) -> None:
        env = children.environment(settings, self.plan.outer)
        run_to_end(_with_folder_lock(children.prepare(settings, env), folder), PREPARE_SECONDS)
        specs = [children.api(settings, env, listener.fileno())]
        if settings.slots != 0:
            keys = children.model_keys(settings, self.plan.outer)
            specs += [children.worker(settings, env, keys), children.beat(settings, env)]
        for spec in specs:
            self.supervisor.add(
                ChildService(name=spec.name, start=partial(spawn, _with_folder_lock(spec, folder)), stage=USERS)
            )
        self._wait_until_healthy()
        self._demonstration = _with_folder_lock(children.demonstration(settings, env), folder)

    @property
    def has_accounts(self) -> bool:
        """Whether people sign in."""
        return self.plan.outer.get("DESKARENA_ACCOUNTS", "").lower() in {"1", "true", "yes", "on", "t", "y"}

    @property
    def first_link(self) -> str:
        """Address at which the first administrator chooses a password; empty if somebody has one."""
        file = self.plan.data.expanduser() / FIRST_LINK_FILE
        return f"{self.url}{file.read_text().strip()}" if self.has_accounts and file.is_file() else ""

    def demonstrate(self) -> None:
        """At the very first start, submits the demonstration run; needs a worker.

        Raises:
            StackError: It could not be submitted.
        """
        if self.plan.slots != 0 and self._demonstration:
            run_to_end(self._demonstration, DEMONSTRATION_SECONDS)

    def _wait_until_healthy(self) -> None:
        deadline = time.monotonic() + HEALTHY_SECONDS
        api = next(service for service in self.supervisor.services if service.name == "api")
        while api.process is not None and not _answers(self.url):
            if (ended := api.process.wait(LOOK_AGAIN_SECONDS)) is not None:
                raise StackError(crash_message("api", ended, api.process.spec.log), code="process_crashed")
            if time.monotonic() > deadline:
                raise StackError(
                    f"The API did not respond within {HEALTHY_SECONDS:g} s; see {api.process.spec.log}.",
                    code="process_timeout",
                )


def _with_folder_lock(spec: ChildSpec, folder: DataFolder) -> ChildSpec:
    return replace(spec, hold_fds=(folder.children_fd,))


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=10.0).is_success
    except httpx.TransportError:
        return False
