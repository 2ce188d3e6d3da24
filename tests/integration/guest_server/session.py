"""Starts guest sessions for tests and talks to them."""

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import httpx
import psutil
import pytest

from backend.domain.model.run import ScreenSize
from tests.waiting import until
from worker.desktops import GuestDesktop

ROOT = Path(__file__).resolve().parents[3]
SECRET = "test-secret-0123456789"
READY_SECONDS = 60.0
PROGRAMS = ("/usr/bin/python3", "Xvfb", "openbox", "dbus-daemon", "mousepad")


class RunningSession:
    """A running `guest_server.linux.session` with its folders, socket and clients."""

    def __init__(
        self,
        folder: Path,
        *,
        variables: Mapping[str, str] | None = None,
        secret: str = SECRET,
        user: int | None = None,
        package: Path = ROOT / "vm_images",
    ) -> None:
        for program in PROGRAMS:
            if shutil.which(program) is None:
                pytest.skip(f"needs {program}: run `make setup`")
        self.folder = folder
        self.secret = secret
        self.home, self.run = folder / "home", folder / "run"
        self.socket_path = folder / "api.sock"
        for path in (self.home, self.run):
            path.mkdir()
            if user is not None:
                os.chown(path, user, user)
        self.environment = {
            "PATH": "/usr/bin:/bin:/usr/games",
            "HOME": str(self.home),
            "USER": "user",
            "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(self.run),
            "DESKARENA_SCREEN": "1280x800",
            "DESKARENA_LISTEN_FD": "3",
            "PYTHONPATH": f"{package}:{ROOT / '.guest-site'}",
            **(variables or {}),
        }
        self.process = self._start(user)
        self.ready: dict[str, Any] = {}

    def _start(self, user: int | None) -> "subprocess.Popen[bytes]":
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.socket_path))
        listener.listen(64)
        listener.set_inheritable(True)
        # The shell puts the socket at descriptor 3, as the sandbox does.
        fd = listener.fileno()
        command = ["/bin/bash", "-c", f"exec /usr/bin/python3 -m guest_server.linux.session 3<&{fd}"]
        with listener:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self.environment,
                cwd=self.home,
                pass_fds=[fd],
                start_new_session=True,
                user=user,
                group=user,
                extra_groups=[] if user is not None else None,
            )
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError), process.stdin:
            process.stdin.write(self.secret.encode() + b"\n")
        process.stdin = None  # Closed: `communicate` must not flush it.
        return process

    def __enter__(self) -> Self:
        self.wait_ready()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wait_ready(self) -> dict[str, Any]:
        """The ready line; fails with what the session said if there is none."""
        assert self.process.stdout is not None
        readable, _, _ = select.select([self.process.stdout], [], [], READY_SECONDS)
        line = self.process.stdout.readline() if readable else b""
        assert line, f"the session did not become ready: {self.end()}"
        self.ready = json.loads(line)
        self.desktop = GuestDesktop(f"unix:{self.socket_path}", self.secret, screen=ScreenSize(width=1280, height=800))
        self.http = self.client({"Authorization": f"Bearer {self.secret}"})
        # The editor must not bring back what an earlier test had not saved.
        setting = ["org.xfce.mousepad.preferences.file", "session-restore", "never"]
        self.post("/execute", {"command": ["gsettings", "set", *setting]})
        return self.ready

    def client(self, headers: Mapping[str, str]) -> httpx.Client:
        """A plain HTTP client of the session."""
        transport = httpx.HTTPTransport(uds=str(self.socket_path), verify=False)  # noqa: S501 - no TLS here
        return httpx.Client(transport=transport, base_url="http://guest", headers=dict(headers), timeout=60)

    def end(self) -> tuple[int, str]:
        """Waits for the end; exit code and what was said on standard error."""
        _, error = self.process.communicate(timeout=20)
        return self.process.returncode, error.decode()

    def stop(self) -> tuple[int, str]:
        """Ends the session if it runs; exit code and what was said."""
        if self.ready:
            self.desktop.close()
            self.http.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.end()
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def post(self, route: str, payload: Any = None, **options: Any) -> httpx.Response:
        """POST with a JSON body; fails unless it is 200."""
        response = self.http.post(route, json=payload, **options) if payload is not None else self.http.post(route)
        assert response.status_code == 200, f"{route}: {response.status_code} {response.text[:1000]}"
        return response

    def get(self, route: str, **params: Any) -> httpx.Response:
        """GET; fails unless it is 200."""
        response = self.http.get(route, params=params)
        assert response.status_code == 200, f"{route}: {response.status_code} {response.text[:1000]}"
        return response

    def input(self, *events: dict[str, Any]) -> None:
        """Carries out input events."""
        self.post("/input", {"events": list(events)})

    def write(self, name: str, data: bytes | str = b"") -> Path:
        """A file in the home."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def edit(self, name: str, text: str = "") -> Path:
        """Opens a new text file in the editor and puts the pointer into it."""
        path = self.write(name, text)
        self.desktop.open_file(str(path))
        # The window bears the file's name before its text is read, and reading it would undo what is typed meanwhile.
        self.get("/stable", quiet=0.4, timeout=10)
        window = wait(lambda: [w for w in self.desktop.windows() if name in w.title and w.active], "the editor")[0]
        self.input({"type": "click", "x": window.x + window.width // 2, "y": window.y + window.height - 60})
        return path

    def save(self, path: Path, expected: str) -> None:
        """Saves with Ctrl+S until the file holds the text: what is pasted may reach the editor after the next key."""
        pressed = 0.0

        def saved() -> bool:
            nonlocal pressed
            if time.monotonic() - pressed > 1:
                self.input({"type": "hotkey", "keys": ["ctrl", "s"]})
                pressed = time.monotonic()
            return path.read_text("utf-8").rstrip("\n") == expected.rstrip("\n")

        wait(saved, lambda: repr(path.read_text()))

    def close_windows(self) -> None:
        """Ends every application with a window."""
        self.post("/setup/close_all", {})

    def processes(self, words: str = "") -> list[psutil.Process]:
        """The session's own processes, by its runtime folder in their environment, whose command line has the words.

        Other sessions may run the same programs on this machine.
        """
        return [each for each in psutil.process_iter() if self._is_own(each, words)]

    def _is_own(self, process: psutil.Process, words: str) -> bool:
        try:
            return (
                words in " ".join(process.cmdline())
                and process.environ().get("XDG_RUNTIME_DIR") == str(self.run)
                and process.status() != psutil.STATUS_ZOMBIE
            )
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            return False

    def signal_own(self, number: int, words: str) -> int:
        """Sends a signal to those of the session's own processes; how many there were."""
        found = self.processes(words)
        for process in found:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        return len(found)


def wait(condition: Callable[[], Any], what: str | Callable[[], str], seconds: float = 30.0) -> Any:
    """Waits until a condition gives something true, and gives that."""
    return until(condition, seconds, what=what)
