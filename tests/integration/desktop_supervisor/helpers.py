"""Desktop supervisors for tests, as root and as an ordinary user; runs things on a desktop without a screen."""

import http.client
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.processes import read_living
from tests.waiting import seconds_until
from worker.desktop_supervisor.client import CHECKOUT, DesktopHandle, DesktopSupervisorClient, DesktopSupervisorOptions
from worker.local.limits import MIB, DesktopLimits
from worker.local.watchdog import descendants

STANDIN = Path(__file__).parent / "standin" / "guest_server"
FLAVOURS = ("root", "user", "container")
"""Root of the host, an ordinary user, and root as a container has it: without the right to mount."""
CONTAINER = (
    "--bounding-set=-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,"
    "+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap"
)
"""Docker's default rights."""
ORDINARY = 64321
"""The ordinary user's number where the tests themselves run as root: one that no machine uses."""
SMALL = DesktopLimits(
    memory=256 * MIB, processes=80, home=32 * MIB, tmp=16 * MIB, run=4 * MIB, shm=16 * MIB, file_size=8 * MIB
)


@contextmanager
def supervisor_options(flavour: str, server: Path = STANDIN, **more: Any) -> Iterator[DesktopSupervisorOptions]:
    """Options of a desktop supervisor of that flavour. Skips what this test process cannot be."""
    if flavour != "user" and os.getuid() != 0:
        pytest.skip("needs root: the flavour of ordinary users is tested")
    folder = Path(tempfile.mkdtemp(prefix="supervisor-test-"))
    try:
        (folder / "site").mkdir()
        site = more.pop("site", folder / "site")
        if flavour == "user" and os.getuid() == 0:
            yield _as_ordinary_user(folder, server, site, more)
        else:
            prefix = ("setpriv", CONTAINER, "--inh-caps=-all", "--") if flavour == "container" else ()
            yield DesktopSupervisorOptions(cache=folder / "cache", server=server, site=site, prefix=prefix, **more)
    finally:
        shutil.rmtree(folder)


def _as_ordinary_user(folder: Path, server: Path, site: Path, more: dict[str, Any]) -> DesktopSupervisorOptions:
    """Copies what the ordinary user must be able to read: the checkout may lie in root's own home."""
    folder.chmod(0o755)
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("base", "desktop_supervisor", "local"):
        shutil.copytree(CHECKOUT / "worker" / name, folder / "checkout" / "worker" / name, ignore=ignore)
    shutil.copy(CHECKOUT / "worker" / "__init__.py", folder / "checkout" / "worker")
    shutil.copytree(server, folder / "server", ignore=ignore)
    shutil.copytree(site, folder / "third-party", ignore=ignore)
    (folder / "cache").mkdir()
    os.chown(folder / "cache", ORDINARY, ORDINARY)
    return DesktopSupervisorOptions(
        cache=folder / "cache",
        server=folder / "server",
        site=folder / "third-party",
        checkout=folder / "checkout",
        python="/usr/bin/python3",
        prefix=(
            *("setpriv", f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups", "--inh-caps=-all"),
            *("--bounding-set=-all", "--"),
        ),
        **more,
    )


@contextmanager
def supervisor(flavour: str, **more: Any) -> Iterator[DesktopSupervisorClient]:
    """A desktop supervisor that is stopped at the end."""
    with supervisor_options(flavour, **more) as options:
        client = DesktopSupervisorClient(options)
        try:
            yield client
        finally:
            client.close()


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("desktop", timeout=60)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


class SandboxedGuest:
    """The stand-in's client."""

    def __init__(self, kept: DesktopHandle, secret: str) -> None:
        self.kept, self.secret = kept, secret

    def post(self, route: str, body: dict[str, Any]) -> Any:
        connection = _Connection(self.kept.socket)
        try:
            connection.request("POST", route, json.dumps(body), {"X-Secret": self.secret})
            answer = connection.getresponse()
            assert answer.status == 200
            return json.loads(answer.read())
        finally:
            connection.close()

    def run(self, *command: str, timeout: float = 30) -> dict[str, Any]:
        """Runs a command inside and waits for it."""
        found: dict[str, Any] = self.post("/run", {"command": command, "timeout": timeout})
        return found

    def python(self, code: str, timeout: float = 30) -> Any:
        """Runs Python inside, which prints JSON; returns that."""
        done = self.run("/usr/bin/python3", "-c", code, timeout=timeout)
        assert done["returncode"] == 0, done
        return json.loads(done["output"])

    def start(self, *command: str) -> None:
        """Starts a command inside and does not wait."""
        self.post("/run", {"command": command, "detached": True})


@contextmanager
def desktop(client: DesktopSupervisorClient, limits: DesktopLimits = SMALL, **more: Any) -> Iterator[SandboxedGuest]:
    """A desktop with the stand-in, destroyed at the end."""
    kept = client.spawn(secret="the secret", screen=(800, 600), limits=limits, timeout=30, **more)
    try:
        yield SandboxedGuest(kept, "the secret")
    finally:
        client.destroy(kept)


def eventually(condition: Callable[[], Any], seconds: float = 30.0) -> float:
    """Waits until the condition holds; returns how long that took."""
    return seconds_until(condition, seconds)


def exists(pid: int) -> bool:
    """Whether a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in {"Z", "X"}
    except (FileNotFoundError, ProcessLookupError):
        return False


def family(pid: int) -> list[int]:
    """All processes of a desktop, in the host's numbers."""
    return descendants(pid)


def pid_by_name(pid: int, start: str) -> int:
    """A living process of a desktop whose name, as the kernel has it, begins so."""
    statuses = read_living(Path(f"/proc/{member}/status") for member in family(pid))
    named = next(status for status in statuses if status.startswith(f"Name:\t{start}"))
    return next(int(line.split()[1]) for line in named.splitlines() if line.startswith("Pid:"))


def supervisor_folder(client: DesktopSupervisorClient) -> Path:
    """Where a desktop supervisor keeps its sockets."""
    return Path(client.about["folder"])


def groups_of(name: str) -> list[Path]:
    """The control groups of a desktop supervisor. Walks past groups that vanish meanwhile."""
    folders = (Path(folder) for folder, _, _ in os.walk("/sys/fs/cgroup"))
    return [folder for folder in folders if folder.name == f"deskarena-{name}"]


WORKER = f"""
import json, sys, time
sys.path.insert(0, {str(CHECKOUT)!r})
from pathlib import Path
from tests.processes import read_living
from tests.waiting import seconds_until
from worker.desktop_supervisor.client import DesktopSupervisorClient, DesktopSupervisorOptions
from worker.local.limits import DesktopLimits
options = json.loads(sys.argv[1])
for name in ("cache", "server", "site", "checkout"):
    options[name] = Path(options[name])
for name in ("private", "prefix"):
    options[name] = tuple(options[name])
client = DesktopSupervisorClient(DesktopSupervisorOptions(**options))
kept = [client.spawn(secret="s", screen=(640, 480), limits=DesktopLimits(), timeout=30) for _ in range(2)]
pids = [each.pid for each in kept]
print(json.dumps({{**client.about, "pid": client.pid, "desktops": pids}}), flush=True)
exec(sys.argv[2])
while True:
    time.sleep(60)
"""
"""A worker of its own: starts a supervisor with two desktops, says so, runs the code it is given, and waits."""


def worker_command(options: DesktopSupervisorOptions, then: str = "") -> list[str]:
    """The command line of such a worker."""
    from dataclasses import asdict

    told = {
        key: [str(each) for each in value]
        if isinstance(value, tuple)
        else value
        if isinstance(value, bool)
        else str(value)
        for key, value in asdict(options).items()
    }
    return [sys.executable, "-c", WORKER, json.dumps(told), then]
