"""Session with Windows programs: `python3 -m guest_server.linux.wine_session`, on Linux.

Starts the X server and Wine's desktop on it, and there, with Python for Windows, the server's Windows part, which
serves the API on the desktop's loopback. This process relays the inherited socket of the API to it, and the desktop's
egress to the gateway. The secret on stdin goes to the Windows part unread. Output and exit code are as in `session`.
"""

import asyncio
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from guest_server import API_VERSION
from guest_server.linux.environment import FALLBACK, SessionConfig, language, read_config
from guest_server.linux.services import END_SIGNALS, Services, conclude, start_x, use_up_process_ids
from guest_server.protocol.errors import StartError
from guest_server.socket_relay import leading

if TYPE_CHECKING:
    from Xlib.xobject.drawable import Window

DESKTOP = "Default"
"""Windows' name of a user's desktop. The prefix's settings put every program on it and give it a task bar."""
PORT = 5000
PYTHON = r"C:\Python\python.exe"
PYTHON_PATH = r"C:\Deskarena"
"""Path of this package for Windows programs."""
SERVER = "guest_server.windows.session"
_START_SECONDS = 60.0
_SERVER_SECONDS = 15.0
_PASSED_ON = ("HOME", "USER", "LOGNAME", "WINEPREFIX", "WINEARCH", "WINEDEBUG", "http_proxy", "https_proxy")


def wine_environment(config: SessionConfig, display: str) -> dict[str, str]:
    """Environment of Wine and all Windows programs: an allow-list. Windows' own variables come from the registry."""
    source = config.inherited
    passed = {name: source[name] for name in _PASSED_ON if source.get(name)}
    return {
        **passed,
        "LANG": language(source.get("LANG") or FALLBACK),
        "PATH": "/usr/bin:/bin",
        "DISPLAY": display,
        "XAUTHORITY": str(config.runtime / "xauthority"),
        "XDG_RUNTIME_DIR": str(config.runtime),
    }


def server_environment(config: SessionConfig, display: str) -> dict[str, str]:
    """Additional environment of the server's Windows part: the session's configuration."""
    limits = {name: value for name, value in config.inherited.items() if name.startswith("DESKARENA_LIMIT_")}
    return {
        **wine_environment(config, display),
        **limits,
        "PYTHONPATH": PYTHON_PATH,
        "DESKARENA_SCREEN": f"{config.width}x{config.height}",
        "DESKARENA_TUNNEL_PORTS": ",".join(str(port) for port in sorted(config.tunnel_ports)),
        "DESKARENA_EGRESS_PROXY": config.egress_proxy,
    }


def set_size(prefix: Path, width: int, height: int) -> None:
    """Sets the size of Wine's desktop. Raises OSError."""
    with (prefix / "user.reg").open("a") as registry:
        registry.write(f'\n[Software\\\\Wine\\\\Explorer\\\\Desktops]\n"{DESKTOP}"="{width}x{height}"\n')


class DesktopWindow:
    """Wine's desktop as the X server shows it: one window, as large as the screen."""

    def __init__(self, display: str, size: tuple[int, int]) -> None:
        """Starts listening; must be called before Wine is started."""
        from Xlib import X
        from Xlib.display import Display

        self._display = Display(display)
        self._size, self._shown = size, X.MapNotify
        self._display.screen().root.change_attributes(event_mask=X.SubstructureNotifyMask)
        self._display.sync()

    def wait(self, deadline: float) -> int:
        """Returns the process of the window once it exists.

        It is an `explorer.exe`: the one started here or another, since the first program that needs a desktop creates
        it. Without that process, Wine shows nothing any more.

        Raises:
            StartError: it does not appear in time (`time.monotonic`), or has no process.
        """
        while (window := self._find_window()) is None:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not select.select([self._display.fileno()], [], [], remaining)[0]:
                raise StartError(
                    "Wine's desktop did not appear; DESKARENA_VERBOSE=1 shows what it says", code="not_ready"
                )
        owner = window.get_full_property(self._display.intern_atom("_NET_WM_PID"), 0)
        self._display.close()
        if owner is None:
            raise StartError("Wine's desktop does not say whose window it is", code="no_owner")
        return int(owner.value[0])

    def _find_window(self) -> "Window | None":
        while self._display.pending_events():
            event = self._display.next_event()
            if event.type == self._shown:
                shape = event.window.get_geometry()
                if (shape.width, shape.height) == self._size:
                    return event.window
        return None


def boot(services: Services, config: SessionConfig, wine: str) -> tuple[dict[str, object], dict[str, int]]:
    """Starts the programs.

    Returns:
        The ready report of the Windows part; and the processes without which the session cannot continue. Wine started
        two of them itself; where one ends, the others do not end: they show nothing, or hang.

    Raises:
        StartError: a program could not be started, or was not ready in time.
    """
    deadline = time.monotonic() + _START_SECONDS
    display_pipe = start_x(services, config)
    set_size(Path(config.inherited["WINEPREFIX"]), config.width, config.height)
    display = f":{services.answer('Xvfb', display_pipe)}"
    os.environ["XAUTHORITY"] = str(config.runtime / "xauthority")  # python-xlib reads it from there only.
    os.chdir(Path(config.inherited["WINEPREFIX"], "drive_c", "users", config.inherited["USER"]))
    window = DesktopWindow(display, (config.width, config.height))
    environment = wine_environment(config, display)
    wine_server = start_wine_server(wine, environment)
    shell = [wine, "explorer.exe", f"/desktop={DESKTOP},{config.width}x{config.height}"]
    services.start("explorer", shell, environment, system_call_filter=config.wine_filter)
    read_end, write_end = os.pipe()
    command = [wine, PYTHON, "-m", SERVER, "--host", "127.0.0.1", "--port", str(PORT)]
    services.start(
        "server", command, server_environment(config, display), stdin=0, stdout=write_end, heard=True,
        system_call_filter=config.wine_filter,
    )  # fmt: skip
    os.close(write_end)
    _forget_secret()
    reply = services.answer("server", read_end, deadline - time.monotonic())
    started = {name: services.processes[name].pid for name in ("Xvfb", "server")}
    return ready_report(reply), {**started, "explorer": window.wait(deadline), "wineserver": wine_server}


def _forget_secret() -> None:
    """Stdin belonged to the server; nothing else that is started may read it."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)


def ready_report(line: str) -> dict[str, object]:
    """The ready report of the Windows part, as JSON.

    Raises:
        StartError: Its output is something else.
    """
    try:
        reply = json.loads(line)
    except ValueError:
        reply = None
    if not isinstance(reply, dict) or reply.get("ready") is not True:
        raise StartError(f"the Windows part did not say that it is ready, but {line[:500]!r}", code="not_ready")
    return reply


def start_wine_server(wine: str, environment: Mapping[str, str], processes: Path = Path("/proc")) -> int:
    """Starts Wine's server, and returns its process.

    Each program would start it; but of two that do so at once, one fails. It stays until the session ends.

    Raises:
        StartError: it cannot be started, or is gone although it reported to be ready.
    """
    command = [str(Path(wine).with_name("wineserver")), "-p"]
    try:
        # It reports when it is ready, and continues with the given streams.
        result = subprocess.run(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SERVER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StartError(f"Wine's server could not be started: {error}", code="not_started") from None
    if result.returncode:
        raise StartError(f"Wine's server could not be started: it ended with {result.returncode}", code="start_failed")
    for path in processes.glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):  # That process has ended meanwhile.
            if path.read_text().startswith("wineserver"):
                return int(path.parent.name)
    raise StartError("Wine's server is not running", code="not_running")


class _Session:
    """The running session: two relays, and the required programs."""

    def __init__(self, services: Services, config: SessionConfig, essential: Mapping[str, int]) -> None:
        self._services, self._config, self._essential = services, config, essential
        self._end = asyncio.Event()
        self._problem = ""

    async def run(self, listener: socket.socket, facts: Mapping[str, object]) -> str:
        """Serves until the session ends; returns why it cannot continue, empty if it was told to end."""
        loop = asyncio.get_running_loop()
        for number in END_SIGNALS:
            loop.add_signal_handler(number, self._end.set)
        for name, pid in self._essential.items():
            self._watch(name, pid)
        api = leading(lambda: asyncio.open_connection("127.0.0.1", PORT))
        way_out = leading(lambda: asyncio.open_unix_connection(self._config.egress_socket))
        await asyncio.start_unix_server(api, sock=listener)
        if self._config.egress_socket:
            proxy = urlsplit(self._config.egress_proxy)
            await asyncio.start_server(way_out, proxy.hostname, proxy.port)
        print(json.dumps(facts), flush=True)
        await self._end.wait()
        return self._problem

    def _watch(self, name: str, pid: int) -> None:
        descriptor = os.pidfd_open(pid)
        asyncio.get_running_loop().add_reader(descriptor, self._on_end, name, descriptor)

    def _on_end(self, name: str, descriptor: int) -> None:
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)
        code = self._services.processes["server"].wait() if name == "server" else None
        if code != 0:
            how = "" if code is None else f" with {code}"
            self._problem = self._problem or f"{name} ended{how}: the desktop cannot go on"
        self._end.set()


def run(config: SessionConfig) -> int:
    """Runs the session until it ends; the exit code."""
    start = time.monotonic()
    services = Services()

    def work() -> str:
        reply, essential = boot(services, config, config.inherited["DESKARENA_WINE"])
        use_up_process_ids(config.protected_pids)
        seconds = round(time.monotonic() - start, 3)
        facts = {"ready": True, "api": API_VERSION, **reply, "seconds": seconds, "pid": os.getpid()}
        listener = socket.socket(fileno=int(config.inherited["DESKARENA_LISTEN_FD"]))
        listener.set_inheritable(False)
        return asyncio.run(_Session(services, config, essential).run(listener, facts))

    return conclude(services, work)


def main() -> None:
    """Reads the environment and runs the session."""
    try:
        config = read_config(os.environ)
    except ValueError as error:
        sys.exit(f"guest_server: {error}")
    for number in END_SIGNALS:
        signal.signal(number, signal.default_int_handler)
    with contextlib.suppress(BrokenPipeError):
        sys.exit(run(config))


if __name__ == "__main__":
    main()
