"""Two API processes behind the product's proxy, and workers, each of which can be replaced while all is in use."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from tests.integration.worker.stack import ROOT, StartedWorker, WorkerStack
from tests.waiting import until

PROXY = ROOT / "deploy" / "proxy"
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
DRAIN_SECONDS = 2.0
GRACE_SECONDS = 4.0
STOPPED = {0, -signal.SIGTERM}


def free_port() -> int:
    """A free port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def answers(port: int, path: str) -> bool:
    """Whether that address returns 200."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


class ApiProcess:
    """`python -m backend.web.serve` on its own port, as in a container."""

    def __init__(self, environment: Mapping[str, str], log: Path) -> None:
        self.port = free_port()
        self._environment = {**environment, "DESKARENA_PORT": str(self.port)}
        self._log = log
        self.start()

    def start(self) -> None:
        """Starts it and waits until it is ready."""
        with self._log.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "backend.web.serve"],
                env=self._environment,
                cwd=self._log.parent,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        until(lambda: answers(self.port, "/readyz"), 90.0, what=f"{self._log} is of an API that is ready")

    def stop(self, seconds: float = 40.0) -> None:
        """SIGTERM, and the end in bounded time."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(seconds)
        assert code in STOPPED, f"the API ended with {code}: {self._log}"


class Site:
    """The whole service on this machine."""

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        """Starts it.

        Args:
            folder: for all that is written.
            durable: the database waits for the disk.
        """
        settings = {"DESKARENA_POLL_SECONDS": "0.5", "DESKARENA_SHUTDOWN_GRACE_SECONDS": str(GRACE_SECONDS)}
        self.stack = WorkerStack(folder, slots=2, durable=durable, **settings)
        self.stack.import_starter()
        environment = {**self.stack.environment, "DESKARENA_DRAIN_SECONDS": str(DRAIN_SECONDS)}
        self.apis = [ApiProcess(environment, folder / f"api-{number}.log") for number in (1, 2)]
        self.port = free_port()
        self._log = folder / "proxy.log"
        self._proxy = self._start_proxy(folder / "proxy")
        self.workers = [self.stack.start_worker() for _ in range(2)]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _start_proxy(self, folder: Path) -> subprocess.Popen[bytes]:
        """Debian's nginx with the product's configuration; only the addresses are of this machine."""
        assert NGINX is not None
        folder.mkdir()
        shutil.copy(PROXY / "nginx.conf", folder)
        upstream = (PROXY / "upstream.conf").read_text()
        for number, api in enumerate(self.apis, 1):
            upstream = upstream.replace(f"api-{number}:8000", f"127.0.0.1:{api.port}")
        (folder / "upstream.conf").write_text(upstream)
        (folder / "listen.conf").write_text(f"listen 127.0.0.1:{self.port};\n")
        with self._log.open("ab") as out:
            process = subprocess.Popen(
                [NGINX, "-p", f"{folder}/", "-c", str(folder / "nginx.conf"), "-g", "daemon off;"],
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        until(lambda: answers(self.port, "/readyz"), 20.0, what="the proxy answers")
        return process

    def passed_on(self, api: ApiProcess) -> int:
        """Requests that the proxy has seen answered by one of the APIs without a refusal."""
        lines = self._log.read_text(errors="replace").splitlines()
        return sum(f" 127.0.0.1:{api.port} " in line and " 429 " not in line for line in lines)

    def restart_api(self, api: ApiProcess) -> None:
        """Replaces one API process; returns once the proxy uses it again."""
        api.stop()
        before = self.passed_on(api)
        api.start()
        until(lambda: self.passed_on(api) > before, 30.0, what="the proxy uses it again")

    def restart_worker(self, worker: StartedWorker) -> StartedWorker:
        """Starts another, then ends this one, as a rolling update does."""
        fresh = self.stack.start_worker()
        assert worker.stop(GRACE_SECONDS + 30.0) == 0
        self.stack.workers.remove(worker)
        self.workers[self.workers.index(worker)] = fresh
        return fresh

    def close(self) -> None:
        self._proxy.terminate()
        self._proxy.wait(10)
        try:
            for api in self.apis:
                if api.process.poll() is None:
                    api.stop()
        finally:
            self.stack.close()
