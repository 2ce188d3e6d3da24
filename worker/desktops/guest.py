"""Desktop port on the guest API."""
# ruff: noqa: D102 - the port's docstrings are the specification of its methods.

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from backend.domain.errors import GuestLost, GuestRefused
from backend.domain.machines.health import DesktopHealth, DiskRoom
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import GUEST_CALLS, Action, ActionType, Frame, GuestCall, Interaction, Window
from backend.domain.ports.desktop import ExecResult, Probe
from backend.telemetry import tracing
from worker.desktops import replies
from worker.desktops.events import input_event
from worker.desktops.guest_calls import script_result, transfer
from worker.desktops.wire import GuestConnection

# Seconds added to a request's own time limit before a desktop counts as frozen.
_QUICK = 15.0
_MARGIN = 15.0
_TREE = 40.0
_WINDOW = 75.0
_FILE = 300.0
_CALL = 150.0
_INPUT = 30.0
_SECONDS_PER_CHARACTER = 0.06
_MAX_FACTS = 2**20
_MAX_PICTURE = 64 * 2**20


def read_clipboard(address: tuple[str, str]) -> str:
    """The text of a desktop's clipboard, over a connection of its own: the agent may be using the desktop's.

    Args:
        address: of the guest API, with its secret.

    Raises:
        GuestLost: the desktop does not answer.
        GuestRefused: it cannot read its clipboard.
    """
    desktop = GuestDesktop(*address)
    try:
        return desktop.clipboard()
    finally:
        desktop.close()


class GuestDesktop:
    """A desktop behind its guest API. The port's docstrings are the specification."""

    def __init__(self, address: str, secret: str, *, screen: ScreenSize | None = None, patience: float = 1.0) -> None:
        """Does not connect yet.

        Args:
            address: `http://host:port`, or `unix:/path` of a socket.
            secret: the desktop's secret.
            screen: its size; None = queried when needed.
            patience: see the port.
        """
        self.patience = patience
        self._wire = GuestConnection(address, secret)
        if screen is not None:
            self.__dict__["screen"] = screen

    @cached_property
    def screen(self) -> ScreenSize:
        """Size in pixels."""
        return self.probe().screen

    def close(self) -> None:
        """Closes the connections; the desktop keeps running. Safe to call twice."""
        self._wire.close()

    def replace_secret(self, secret: str) -> None:
        """Sets a new secret: clones of one machine start with the same."""
        self._post("/secret", {"secret": secret})
        self._wire.show(secret)

    def restored(self, secret: str, *, now: float, entropy: str, seconds: float) -> None:
        """Tells a virtual machine that it was resumed from its template.

        Args:
            secret: its new secret.
            now: the time, in seconds since 1970.
            entropy: random bytes, base64.
            seconds: deadline.
        """
        self._post("/restored", {"time": now, "secret": secret, "entropy": entropy}, seconds)
        self._wire.show(secret)

    def probe(self) -> Probe:
        return replies.probe(self._wire.ask("GET", "/probe", seconds=_QUICK).mapping())

    def limits_reached(self) -> Mapping[str, int]:
        """How often a limit of the whole desktop was reached, by its name. Raises GuestLost, GuestRefused."""
        counts = self._wire.ask("GET", "/limits", seconds=_QUICK).mapping()
        return {str(name): count for name, count in counts.items() if isinstance(count, int)}

    def health(self) -> DesktopHealth:
        return replies.health(self._wire.ask("GET", "/health", seconds=_QUICK, most=_MAX_FACTS).mapping())

    def disks(self) -> Sequence[DiskRoom]:
        params = {"only": "disks"}
        return replies.disks(self._wire.ask("GET", "/health", seconds=_QUICK, most=_MAX_FACTS, params=params).mapping())

    def frame(self, *, quality: int = 85) -> Frame:
        params = {"format": "jpeg", "quality": quality}
        return replies.frame(self._wire.ask("GET", "/frame", seconds=_QUICK, most=_MAX_PICTURE, params=params))

    def screenshot(self) -> Frame:
        return replies.frame(self._wire.ask("GET", "/screenshot", seconds=_QUICK, most=_MAX_PICTURE))

    def accessibility_tree(self) -> str:
        return replies.text(self._wire.ask("GET", "/accessibility", seconds=_TREE * self.patience).mapping(), "AT")

    def windows(self) -> Sequence[Window]:
        return replies.windows(self._wire.ask("GET", "/windows", seconds=_QUICK).mapping())

    def clipboard(self) -> str:
        return replies.text(self._wire.ask("GET", "/clipboard", seconds=_QUICK).mapping(), "text")

    def perform(self, action: Action) -> Mapping[str, Any]:
        with tracing.span("action", {"deskarena.action.type": action.type.value}):
            return self._perform(action)

    def _perform(self, action: Action) -> Mapping[str, Any]:
        if action.type is ActionType.PYTHON:
            return script_result(self._run_agents_python(action.text))
        if action.type is ActionType.SCRIPT:
            return script_result(self._run_script(action.text, action.guest or GuestCall()))
        if action.type in GUEST_CALLS:
            return transfer(action, lambda code, seconds: self.run_python(code, timeout=seconds))
        seconds = _INPUT + len(action.text) * _SECONDS_PER_CHARACTER
        self._post("/input", {"events": [input_event(action)]}, seconds)
        return {}

    def wait_stable(self, *, quiet: float, timeout: float) -> float:
        params = {"quiet": quiet, "timeout": timeout}
        reply = self._wire.ask("GET", "/stable", seconds=timeout + _MARGIN, params=params)
        return replies.number(reply.mapping(), "elapsed")

    def execute(self, command: str | Sequence[str], *, shell: bool = False, timeout: float = 120.0) -> ExecResult:
        payload = {"command": _plain(command), "shell": shell, "timeout": timeout}
        return replies.exec_result(self._post("/execute", payload, timeout + _MARGIN).mapping())

    def run_python(self, code: str, *, timeout: float = 30.0) -> ExecResult:
        payload = {"code": code, "timeout": timeout, "isolated": True}
        return replies.exec_result(self._post("/run_python", payload, timeout + _MARGIN).mapping(), "return_code")

    def _run_agents_python(self, code: str, timeout: float = 30.0) -> ExecResult:
        """With the modules of the desktop's user, which `run_python` must not see."""
        payload = {"code": code, "timeout": timeout}
        return replies.exec_result(self._post("/run_python", payload, timeout + _MARGIN).mapping(), "return_code")

    def launch(self, command: str | Sequence[str], *, shell: bool = False) -> None:
        self._post("/setup/launch", {"command": _plain(command), "shell": shell})

    def open_file(self, path: str) -> None:
        self._post("/setup/open_file", {"path": path}, _WINDOW)

    def activate_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        self._post("/setup/activate_window", {"window_name": name, "strict": strict, "by_class": by_class})

    def close_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        self._post("/setup/close_window", {"window_name": name, "strict": strict, "by_class": by_class})

    def read_file(self, path: str, *, max_bytes: int = 256 * 2**20) -> bytes:
        return self._wire.ask("POST", "/file", seconds=_FILE, most=max_bytes, data={"file_path": path}).data

    def write_file(self, path: str, data: bytes) -> None:
        form, files = {"file_path": path}, {"file_data": ("file", data)}
        self._wire.ask("POST", "/setup/upload", seconds=_FILE, data=form, files=files)

    def wallpaper(self) -> bytes:
        return self._wire.ask("POST", "/wallpaper", seconds=_QUICK, most=_MAX_PICTURE, json={}).data

    def interactions(self, since: int = 0) -> Sequence[Interaction]:
        reply = self._wire.ask("GET", "/interactions", seconds=_QUICK, params={"since": since})
        entries = replies.interactions(reply.mapping())
        if [entry.number for entry in entries] != list(range(since + 1, since + 1 + len(entries))):
            # The log is incomplete, so "it did not happen" would be a guess.
            raise GuestLost("the desktop's log of interactions has lost entries", code="guest_protocol_error")
        return entries

    def call(self, method: str, route: str, payload: Mapping[str, Any] | None = None) -> Any:
        parameters = dict(payload or {})
        options: dict[str, Any] = {"params": parameters} if method == "GET" else {"json": parameters}
        timeout = parameters.get("timeout", parameters.get("max_wait_time", 0))
        seconds = _CALL + (float(timeout) if isinstance(timeout, int | float) else 0.0)
        reply = self._wire.ask(method, route, seconds=seconds, **options)
        if reply.media_type != "application/json" and not reply.media_type.startswith("text/"):
            raise GuestRefused(f"{route} returned {reply.media_type}, not JSON", kind="bad_request")
        return reply.decoded()

    def _run_script(self, script: str, call: GuestCall) -> ExecResult:
        if call.language == "python":
            return self._run_agents_python(script, call.timeout)
        payload = {"script": script, "timeout": call.timeout, "working_dir": call.path or None}
        return replies.exec_result(self._post("/run_bash_script", payload, call.timeout + _MARGIN).mapping())

    def _post(self, route: str, payload: Mapping[str, Any], seconds: float = _QUICK) -> Any:
        return self._wire.ask("POST", route, seconds=seconds, json=dict(payload))


def _plain(command: str | Sequence[str]) -> str | list[str]:
    return command if isinstance(command, str) else list(command)
