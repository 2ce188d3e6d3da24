"""A whole session with Windows programs: `python3 -m guest_server.session_wine`, on Linux.

Starts the X server and Wine's desktop on it, and there, by Python for Windows, the server's Windows part, which
answers the API on the desktop's loopback. This process leads the inherited socket of the API to it, and the desktop's
way out to the gateway. The secret on standard input goes to the Windows part unread. What is printed and how it ends is
as in `session`.
"""

import asyncio
import contextlib
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from . import API_VERSION
from .environment_linux import SessionConfig, read_config
from .errors import StartError
from .relay import leading
from .services_linux import Services, start_x

DESKTOP = "Default"
"""Windows' own name for a user's desktop. The prefix's settings put every program on it and give it a task bar."""
PORT = 5000
PYTHON = r"C:\Python\python.exe"
PYTHON_PATH = r"C:\Deskarena"
"""Where this package lies for Windows programs."""
SERVER = "guest_server.session_windows"
_START_SECONDS = 60.0
_END_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_PASSED_ON = ("HOME", "USER", "LOGNAME", "LANG", "WINEPREFIX", "WINEARCH", "WINEDEBUG", "http_proxy", "https_proxy")
_ESSENTIAL = ("Xvfb", "server")


def wine_environment(config: SessionConfig, display: str) -> dict[str, str]:
    """What Wine and all Windows programs get: an allow-list. Windows' own variables come from the registry."""
    given = config.inherited
    passed = {name: given[name] for name in _PASSED_ON if given.get(name)}
    return {
        **passed,
        "PATH": "/usr/bin:/bin",
        "DISPLAY": display,
        "XAUTHORITY": str(config.runtime / "xauthority"),
        "XDG_RUNTIME_DIR": str(config.runtime),
    }


def server_environment(config: SessionConfig, display: str) -> dict[str, str]:
    """What the server's Windows part gets beside that: what a session is told."""
    told = {name: value for name, value in config.inherited.items() if name.startswith("DESKARENA_LIMIT_")}
    return {
        **wine_environment(config, display),
        **told,
        "PYTHONPATH": PYTHON_PATH,
        "DESKARENA_SCREEN": f"{config.width}x{config.height}",
        "DESKARENA_TUNNEL_PORTS": ",".join(str(port) for port in sorted(config.tunnel_ports)),
        "DESKARENA_EGRESS_PROXY": config.egress_proxy,
    }


def set_size(prefix: Path, width: int, height: int) -> None:
    """Tells Wine how large its desktop is, whichever program makes it. Raises OSError."""
    with (prefix / "user.reg").open("a") as registry:
        registry.write(f'\n[Software\\\\Wine\\\\Explorer\\\\Desktops]\n"{DESKTOP}"="{width}x{height}"\n')


class DesktopWindow:
    """Wine's desktop as the X server shows it: one window, as large as the screen."""

    def __init__(self, display: str, size: tuple[int, int]) -> None:
        """Begins to listen; to be called before Wine is started."""
        from Xlib import X
        from Xlib.display import Display

        self._display = Display(display)
        self._size, self._shown = size, X.MapNotify
        self._display.screen().root.change_attributes(event_mask=X.SubstructureNotifyMask)
        self._display.sync()

    def wait(self, deadline: float) -> None:
        """Returns when it is there. Raises StartError if it does not come in time (`time.monotonic`)."""
        while not self._seen():
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._display.fileno()], [], [], left)[0]:
                raise StartError("Wine's desktop did not appear; DESKARENA_VERBOSE=1 shows what it says")
        self._display.close()

    def _seen(self) -> bool:
        while self._display.pending_events():
            event = self._display.next_event()
            if event.type == self._shown:
                shape = event.window.get_geometry()
                if (shape.width, shape.height) == self._size:
                    return True
        return False


def boot(services: Services, config: SessionConfig, wine: str) -> dict[str, object]:
    """Starts the programs and returns what the Windows part said when its API answered.

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
    shell = [wine, "explorer.exe", f"/desktop={DESKTOP},{config.width}x{config.height}"]
    services.start("explorer", shell, environment)
    read_end, write_end = os.pipe()
    command = [wine, PYTHON, "-m", SERVER, "--host", "127.0.0.1", "--port", str(PORT)]
    services.start("server", command, server_environment(config, display), stdin=0, stdout=write_end, heard=True)
    os.close(write_end)
    _forget_secret()
    said = services.answer("server", read_end, deadline - time.monotonic())
    window.wait(deadline)
    return _understood(said)


def _forget_secret() -> None:
    """Standard input was the server's; nothing else that is started may read it."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)


def _understood(line: str) -> dict[str, object]:
    try:
        said = json.loads(line)
    except ValueError:
        said = None
    if not isinstance(said, dict) or said.get("ready") is not True:
        raise StartError(f"the Windows part did not say that it is ready, but {line[:500]!r}")
    return said


class _Session:
    """The running session: two relays, and the programs that it cannot do without."""

    def __init__(self, services: Services, config: SessionConfig) -> None:
        self._services, self._config = services, config
        self._end = asyncio.Event()
        self._problem = ""

    async def run(self, listener: socket.socket, told: Mapping[str, object]) -> str:
        """Serves until the session ends; says why it cannot go on, empty if it was told to end."""
        loop = asyncio.get_running_loop()
        for number in _END_SIGNALS:
            loop.add_signal_handler(number, self._end.set)
        for name in _ESSENTIAL:
            self._watch(name)
        api = leading(lambda: asyncio.open_connection("127.0.0.1", PORT))
        way_out = leading(lambda: asyncio.open_unix_connection(self._config.egress_socket))
        await asyncio.start_unix_server(api, sock=listener)
        if self._config.egress_socket:
            place = urlsplit(self._config.egress_proxy)
            await asyncio.start_server(way_out, place.hostname, place.port)
        print(json.dumps(told), flush=True)
        await self._end.wait()
        return self._problem

    def _watch(self, name: str) -> None:
        descriptor = os.pidfd_open(self._services.processes[name].pid)
        asyncio.get_running_loop().add_reader(descriptor, self._ended, name, descriptor)

    def _ended(self, name: str, descriptor: int) -> None:
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)
        code = self._services.processes[name].wait()
        if code or name != "server":
            self._problem = self._problem or f"{name} ended with {code}: the desktop cannot go on"
        self._end.set()


def run(config: SessionConfig) -> int:
    """Runs the session until it ends; the exit code."""
    start = time.monotonic()
    services = Services()
    problem = ""
    try:
        said = boot(services, config, config.inherited["DESKARENA_WINE"])
        seconds = round(time.monotonic() - start, 3)
        told = {"ready": True, "api": API_VERSION, **said, "seconds": seconds, "pid": os.getpid()}
        listener = socket.socket(fileno=int(config.inherited["DESKARENA_LISTEN_FD"]))
        listener.set_inheritable(False)
        problem = asyncio.run(_Session(services, config).run(listener, told))
    except StartError as error:
        problem = str(error)
    except KeyboardInterrupt:
        pass  # Told to end before the API answered.
    finally:
        for number in _END_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        services.stop()
    if problem:
        print(json.dumps({"ready": False, "error": problem}), file=sys.stderr, flush=True)
    return 1 if problem else 0


def main() -> None:
    """Reads the environment and runs the session."""
    try:
        config = read_config(os.environ)
    except ValueError as error:
        sys.exit(f"guest_server: {error}")
    for number in _END_SIGNALS:
        signal.signal(number, signal.default_int_handler)
    with contextlib.suppress(BrokenPipeError):
        sys.exit(run(config))


if __name__ == "__main__":
    main()
