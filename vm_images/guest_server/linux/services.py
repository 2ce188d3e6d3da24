"""Programs of a desktop: X server, session bus, accessibility bus, window manager."""

import _thread
import contextlib
import ctypes
import json
import os
import secrets
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from guest_server.linux.environment import SessionConfig
from guest_server.linux.protected_session import load_filter
from guest_server.linux.spawner import Spawner
from guest_server.protocol.errors import GuestError, StartError

END_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_START_SECONDS = 15.0
_STOP_SECONDS = 2.0
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_FAMILY_LOCAL, _FAMILY_WILD = 256, 65535
X_SERVERS = {"xvfb": "Xvfb", "xorg": "Xorg"}
PROBLEM_STATUS, KILLED_STATUS = 1, 3
"""Exit codes of a session that cannot continue: a program of it ended; one was ended by SIGKILL."""
_LIBC = ctypes.CDLL(None, use_errno=True)


def hide_memory() -> None:
    """Makes this process's memory, environment and descriptors unreadable for other processes of the same user.

    Agents' code runs as the same user and must not find the secret. The X server, the window manager and all other
    programs are readable again: the flag is reset by exec.
    """
    if _LIBC.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise StartError("this process could not be made unreadable for others (prctl failed)", code="not_protected")


def _die_with_parent() -> None:
    # SIGTERM first: the X server removes its lock file, and the accessibility bus ends its children.
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


@dataclass
class Services:
    """The running programs, in the order of their start.

    For the main thread only: the parent-death signal follows the thread that started a program.

    Attributes:
        spawner: starts those that start others.
    """

    spawner: Spawner = field(default_factory=lambda: Spawner(protected=False))
    processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def start(  # noqa: PLR0913 - what a process is started with
        self,
        name: str,
        argv: Sequence[str],
        environment: Mapping[str, str],
        pass_fds: Sequence[int] = (),
        *,
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.DEVNULL,
        heard: bool = False,
        inside: bool = False,
        system_call_filter: bytes = b"",
    ) -> None:
        """Starts a program in its own process group.

        Args:
            name: identifies it.
            argv: the program and its arguments.
            environment: its complete environment.
            pass_fds: descriptors besides its standard streams.
            stdin: a descriptor.
            stdout: a descriptor.
            heard: pass its stderr on in any case, not only with DESKARENA_VERBOSE.
            inside: it may start other programs of the desktop, which must not end this session.
            system_call_filter: program for it and all that it starts; empty = none.

        Raises:
            StartError: the program does not exist, or may not be run.
        """

        def prepare() -> None:
            _die_with_parent()
            if system_call_filter:
                load_filter(system_call_filter)

        def start() -> "subprocess.Popen[bytes]":
            return subprocess.Popen(
                argv,
                stdin=stdin,
                stdout=stdout,
                stderr=None if heard or os.environ.get("DESKARENA_VERBOSE") else subprocess.DEVNULL,
                env=dict(environment),
                pass_fds=pass_fds,
                start_new_session=True,
                preexec_fn=prepare,  # noqa: PLW1509 - no other thread of ours holds a lock.
            )

        try:
            self.processes[name] = self.spawner.run(start) if inside else start()
        except (OSError, subprocess.SubprocessError) as error:
            raise StartError(f"{argv[0]} could not be started: {error}", code="not_started") from None

    def answer(self, name: str, read_end: int, seconds: float = _START_SECONDS) -> str:
        """The line that a program writes to a pipe once it is ready. Raises StartError on timeout."""
        text = b""
        deadline = time.monotonic() + seconds
        while not text.endswith(b"\n"):
            ready, _, _ = select.select([read_end], [], [], max(0.0, deadline - time.monotonic()))
            piece = os.read(read_end, 4096) if ready else b""
            if not piece:
                raise StartError(
                    f"{name} {self._fate(name, seconds)}; DESKARENA_VERBOSE=1 shows what it says", code="not_ready"
                )
            text += piece
        os.close(read_end)
        return text.decode().strip()

    def _fate(self, name: str, seconds: float) -> str:
        code = self.processes[name].poll()
        return f"was not ready in {seconds:.0f} s" if code is None else f"ended with {code}"

    def any_killed(self) -> bool:
        """Whether SIGKILL has ended one of them."""
        return any(process.poll() == -signal.SIGKILL for process in self.processes.values())

    def stop(self) -> None:
        """Ends all programs in reverse order, and returns when they are gone.

        A sandbox that protects them ends them with this process.
        """
        signalled = [process for process in reversed(self.processes.values()) if _signal_group(process, signal.SIGTERM)]
        deadline = time.monotonic() + _STOP_SECONDS
        for process in signalled:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
            _signal_group(process, signal.SIGKILL)
            process.wait()


def use_up_process_ids(last: int) -> None:
    """Returns when every later program has a larger process id than `last`: the sandbox protects those up to it."""
    numbers, ended = [0], threading.Lock()

    def take() -> None:
        numbers.append(threading.get_native_id())
        ended.release()

    # Not by `threading.Thread`, which takes several times as long.
    while numbers[-1] < last:
        ended.acquire()
        _thread.start_new_thread(take, ())
        with ended:
            pass


def conclude(services: Services, work: Callable[[], str]) -> int:
    """Runs a session to its end and ends all its programs.

    Args:
        services: the programs; `work` starts them.
        work: returns why the session cannot continue, empty if it was told to end.

    Returns:
        The exit code: `PROBLEM_STATUS` or `KILLED_STATUS` with a problem, which is written to stderr as one JSON line.
    """
    problem, killed = "", False
    try:
        problem = work()
    except (StartError, GuestError) as error:
        problem = str(error)
    except KeyboardInterrupt:
        pass  # Asked to end before the API was ready.
    finally:
        for number in END_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        killed = services.any_killed()
        services.stop()
    if problem:
        print(json.dumps({"ready": False, "error": problem}), file=sys.stderr, flush=True)
    return (KILLED_STATUS if killed else PROBLEM_STATUS) if problem else 0


def _signal_group(process: "subprocess.Popen[bytes]", number: int) -> bool:
    """False if the signal is not allowed."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return True


def start_x(services: Services, config: SessionConfig) -> int:
    """Starts the X server; returns the pipe on which it will report its display number."""
    authority = config.runtime / "xauthority"
    write_authority(authority, socket.gethostname(), secrets.token_bytes(16))
    framebuffer(config).parent.mkdir(mode=0o700, exist_ok=True)
    read_end, write_end = os.pipe()
    argv = x_command(config, write_end)
    services.start(X_SERVERS[config.x_server], argv, config.inherited, [write_end])
    os.close(write_end)
    return read_end


def x_command(config: SessionConfig, write_end: int) -> list[str]:
    """Command line of the X server: Xvfb with its own frame buffer, or Xorg on the machine's graphics card."""
    size = f"{config.width}x{config.height}x24"
    own = {
        "xvfb": ["-screen", "0", size, "-fbdir", str(framebuffer(config).parent)],
        # Its log would be in the home. The terminal is the session's, the machine's first one.
        "xorg": ["vt1", "-keeptty", "-sharevts", "-logfile", str(config.runtime / "Xorg.log")],
    }[config.x_server]
    common = ["-displayfd", str(write_end), "-auth", str(config.runtime / "xauthority"), "-nolisten", "tcp", "-noreset"]
    return [X_SERVERS[config.x_server], *own, *common, "-dpi", "96", "-s", "0", "-maxclients", "2048"]


def framebuffer(config: SessionConfig) -> Path:
    """Xvfb's frame buffer file."""
    return config.runtime / "screen" / "Xvfb_screen0"


def start_bus(services: Services, config: SessionConfig, environment: Mapping[str, str]) -> int:
    """Starts the session bus; returns the pipe on which it will report its address."""
    read_end, write_end = os.pipe()
    address = f"--address=unix:path={config.runtime / 'bus'}"
    argv = ["dbus-daemon", "--session", "--nofork", "--nopidfile", address, f"--print-address={write_end}"]
    services.start("dbus-daemon", argv, environment, [write_end], inside=True)
    os.close(write_end)
    return read_end


def start_openbox(services: Services, environment: Mapping[str, str]) -> None:
    """Starts the window manager, with a menu from this package."""
    services.start("openbox", ["openbox"], environment, inside=True)


def start_accessibility(services: Services, environment: Mapping[str, str]) -> None:
    """Starts the accessibility bus, enabled."""
    for folder in ("/usr/libexec", "/usr/lib/at-spi2-core"):
        launcher = Path(folder, "at-spi-bus-launcher")
        if launcher.exists():
            services.start("at-spi", [str(launcher), "--launch-immediately", "--a11y=1"], environment, inside=True)
            return
    print("guest_server: at-spi2-core is not installed, there is no accessibility tree", file=sys.stderr)


def write_authority(path: Path, host: str, cookie: bytes) -> None:
    """Writes an X authority file with one cookie for every display.

    Two entries: libXau accepts the wildcard family, and python-xlib looks for the host's name.
    """
    entries = b""
    for family, address in ((_FAMILY_WILD, b""), (_FAMILY_LOCAL, host.encode())):
        entries += struct.pack(">H", family)
        for part in (address, b"", b"MIT-MAGIC-COOKIE-1", cookie):
            entries += struct.pack(">H", len(part)) + part
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(entries)
