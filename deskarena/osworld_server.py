"""The HTTP server that runs in OSWorld's virtual machines, here in front of a leased desktop.

Tools that were written for such a machine get its address. Each request is one step of the episode, or a few for a file
that is larger than one step takes; readings of the screen are steps only where the newest observation is old.
"""

import email.parser
import email.policy
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath
from typing import Any, Protocol, Self
from urllib.parse import parse_qs

from deskarena import guest_calls
from deskarena.controller import Controller
from deskarena.errors import EpisodeEnded, EpisodeLost, NotSupported, ServiceError
from deskarena.guest_calls import LARGEST_FILE, Call

HOST = "127.0.0.1"
LARGEST_BODY = 256 * 2**20
"""Bytes of a request."""
COMMAND_SECONDS = 120
MOST_TEXT = 40_000
"""Characters of each stream of a command's output."""
_EXECUTE = f"""
import json, os, shlex, subprocess
command, shell = __COMMAND__
if not shell:
    words = shlex.split(command) if isinstance(command, str) else command
    command = [os.path.expanduser(word) if word.startswith("~/") else word for word in words]
try:
    done = subprocess.run(command, shell=shell, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", timeout={COMMAND_SECONDS})
    result = {{"status": "success", "output": done.stdout[:{MOST_TEXT}], "error": done.stderr[:{MOST_TEXT}],
              "returncode": done.returncode}}
except (OSError, ValueError, subprocess.SubprocessError) as error:
    result = {{"status": "error", "message": str(error)}}
print(json.dumps(result))
"""
_SPLIT = f"""
import os, sys, tempfile
path = os.path.expanduser(__PATH__)
folder = tempfile.mkdtemp(prefix="parts-")
with open(path, "rb") as file:
    number = 0
    while data := file.read({LARGEST_FILE}):
        with open(os.path.join(folder, str(number)), "wb") as part:
            part.write(data)
        number += 1
print(number, folder, sep="\\n", end="")
"""
_JOIN = """
import os, shutil
path, parts = __PARTS__
with open(os.path.expanduser(path), "wb") as file:
    for part in parts:
        with open(os.path.expanduser(part), "rb") as data:
            shutil.copyfileobj(data, file)
        os.remove(os.path.expanduser(part))
"""
_REMOVE = "import shutil; shutil.rmtree(__FOLDER__, ignore_errors=True)"


class OSWorldMachine(Protocol):
    """Part of `DesktopEnv` that the server uses."""

    controller: Controller

    def call(self, action: Mapping[str, Any]) -> Mapping[str, Any]:
        """Carries out a typed action as one step; returns its result."""


@dataclass(frozen=True)
class HttpReply:
    """An answer of the server."""

    body: bytes
    media_type: str = "application/json"
    status: int = HTTPStatus.OK


class _Refused(Exception):
    """A request that cannot be answered; the message says why."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class OSWorldServer:
    """Listens on a port of this machine until `close`.

    Attributes:
        address: of the server, for example `http://127.0.0.1:40123`.
    """

    def __init__(self, desktop: OSWorldMachine) -> None:
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer((HOST, 0), partial(_Handler, self._answer))
        self._http.daemon_threads = True
        self._routes = _routes(desktop)
        self.address = f"http://{HOST}:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, name="osworld-server", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answers no further requests. Safe to call twice."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answer(self, route: str, media_type: str, body: bytes) -> HttpReply:
        """One request at a time: a desktop has one pointer, an episode one newest step."""
        if route not in self._routes:
            message = f"{route} is not available: the desktop is leased from a Deskarena service"
            return _error(HTTPStatus.NOT_IMPLEMENTED, message)
        try:
            fields = _fields(media_type, body)
            with self._lock:
                return self._routes[route](fields)
        except _Refused as error:
            return _error(error.status, str(error))
        except KeyError as error:
            return _error(HTTPStatus.BAD_REQUEST, f"{route} needs {error.args[0]!r}")
        except (ServiceError, EpisodeEnded, EpisodeLost, NotSupported, OSError) as error:
            return _error(HTTPStatus.SERVICE_UNAVAILABLE, str(error))


def _routes(desktop: OSWorldMachine) -> Mapping[str, Callable[[Mapping[str, Any]], HttpReply]]:
    reads, call = desktop.controller, desktop.call

    def execute(fields: Mapping[str, Any]) -> HttpReply:
        return _execute(call, fields["command"], shell=bool(fields.get("shell")))

    def windows(letter: str) -> Callable[[Mapping[str, Any]], HttpReply]:
        return lambda fields: _window(call, letter, fields)

    return {
        "GET /screenshot": lambda _: HttpReply(reads.get_screenshot(), "image/png"),
        "GET /accessibility": lambda _: _json({"AT": reads.get_accessibility_tree()}),
        "GET /terminal": lambda _: _json({"output": reads.get_terminal_output(), "status": "success"}),
        "GET /platform": lambda _: HttpReply(reads.get_vm_platform().encode(), "text/plain"),
        "GET /cursor_position": lambda _: _json(list(reads.get_cursor_position().values())),
        "POST /screen_size": lambda _: _json(reads.get_vm_screen_size()),
        "POST /desktop_path": lambda _: _json({"desktop_path": reads.get_vm_desktop_path()}),
        "POST /list_directory": lambda fields: _json(
            {"directory_tree": reads.get_vm_directory_tree(str(fields["path"]))}
        ),
        "POST /file": lambda fields: _file(call, str(fields["file_path"])),
        "POST /execute": execute,
        "POST /run_python": lambda fields: _json(guest_calls.run_python(call, str(fields["code"]))),
        "POST /run_bash_script": lambda fields: _json(
            guest_calls.run_bash(
                call, str(fields["script"]), float(fields.get("timeout") or 30), fields.get("working_dir")
            )
        ),
        "POST /setup/execute": execute,
        "POST /setup/launch": lambda fields: _launch(call, fields["command"], shell=bool(fields.get("shell"))),
        "POST /setup/upload": lambda fields: _upload(call, str(fields["file_path"]), fields["file_data"]),
        "POST /setup/open_file": lambda fields: _launch(call, ["xdg-open", str(fields["path"])]),
        "POST /setup/activate_window": windows("a"),
        "POST /setup/close_window": windows("c"),
    }


def _fields(media_type: str, body: bytes) -> Mapping[str, Any]:
    """A request's parameters; a file's are bytes.

    Raises:
        _Refused: they cannot be read.
    """
    try:
        if media_type.startswith("multipart/form-data"):
            return _parts(media_type, body)
        if media_type.startswith("application/json"):
            return dict(json.loads(body or b"{}"))
        return {name: values[-1] for name, values in parse_qs(body.decode()).items()}
    except (ValueError, TypeError) as error:
        raise _Refused(HTTPStatus.BAD_REQUEST, f"the parameters cannot be read: {error}") from error


def _parts(media_type: str, body: bytes) -> dict[str, Any]:
    parser = email.parser.BytesParser(policy=email.policy.HTTP)
    message = parser.parsebytes(b"Content-Type: " + media_type.encode() + b"\r\n\r\n" + body)
    fields: dict[str, Any] = {}
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        data = part.get_payload(decode=True)
        if isinstance(name, str) and isinstance(data, bytes):
            fields[name] = data if part.get_filename() is not None else data.decode()
    return fields


def _json(value: Any, status: HTTPStatus = HTTPStatus.OK) -> HttpReply:
    return HttpReply(json.dumps(value).encode(), status=status)


def _error(status: HTTPStatus, message: str) -> HttpReply:
    return _json({"status": "error", "message": message, "error": message}, status)


def _python(call: Call, code: str) -> str:
    """Standard output of a script. Raises OSError if it failed."""
    action = {"type": "SCRIPT", "text": code, "guest": {"language": "python", "timeout": COMMAND_SECONDS + 30.0}}
    result = call(action)
    if result.get("returncode") != 0:
        raise OSError(f"the desktop's Python failed: {str(result.get('error')).strip()}")
    return str(result["output"])


def _execute(call: Call, command: Any, *, shell: bool) -> HttpReply:
    code = _pyautogui_code(command)
    if code is not None:
        return _json(guest_calls.run_command(call, code))
    result = json.loads(_python(call, _EXECUTE.replace("__COMMAND__", repr((command, shell)))))
    failed = result["status"] == "error"
    return _json(result, HTTPStatus.INTERNAL_SERVER_ERROR if failed else HTTPStatus.OK)


def _pyautogui_code(command: Any) -> str | None:
    """The code of `python -c CODE` that uses pyautogui: mouse and keyboard are recorded as such."""
    match command:
        case ["python" | "python3", "-c", str(code)] if "pyautogui" in code:
            return code
        case _:
            return None


def _launch(call: Call, command: Any, *, shell: bool = False) -> HttpReply:
    guest_calls.launch(call, command, shell=shell)
    return HttpReply(b"launched", "text/plain")


def _window(call: Call, letter: str, fields: Mapping[str, Any]) -> HttpReply:
    words = ["wmctrl", *(["-x"] if fields.get("by_class") else []), *(["-F"] if fields.get("strict") else [])]
    done = _execute(call, [*words, f"-{letter}", str(fields["window_name"])], shell=False)
    if json.loads(done.body).get("returncode") != 0:
        raise _Refused(HTTPStatus.NOT_FOUND, f"no window is called {fields['window_name']!r}")
    return done


def _file(call: Call, path: str) -> HttpReply:
    result = call({"type": "READ_FILE", "guest": {"path": path}})
    if result.get("returncode") == guest_calls.TOO_LARGE:
        return HttpReply(_large_file(call, path), "application/octet-stream")
    data = guest_calls.content(result)
    if data is None:
        raise _Refused(HTTPStatus.NOT_FOUND, f"{path} cannot be read: {str(result.get('error')).strip()}")
    return HttpReply(data, "application/octet-stream")


def _large_file(call: Call, path: str) -> bytes:
    number, folder = _python(call, _SPLIT.replace("__PATH__", repr(path))).split("\n")
    try:
        parts = [guest_calls.read_file(call, str(PurePosixPath(folder, str(each)))) for each in range(int(number))]
    finally:
        _python(call, _REMOVE.replace("__FOLDER__", repr(folder)))
    return b"".join(part or b"" for part in parts)


def _upload(call: Call, path: str, data: Any) -> HttpReply:
    if not isinstance(data, bytes):
        raise _Refused(HTTPStatus.BAD_REQUEST, "file_data must be a file")
    if len(data) <= LARGEST_FILE:
        guest_calls.write_file(call, path, data)
        return HttpReply(b"uploaded", "text/plain")
    parts = [f"{path}.part{number}" for number in range(-(-len(data) // LARGEST_FILE))]
    for number, part in enumerate(parts):
        guest_calls.write_file(call, part, data[number * LARGEST_FILE : (number + 1) * LARGEST_FILE])
    _python(call, _JOIN.replace("__PARTS__", repr((path, parts))))
    return HttpReply(b"uploaded", "text/plain")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, answer: Callable[[str, str, bytes], HttpReply], *args: Any) -> None:
        self._answer = answer
        super().__init__(*args)

    def do_GET(self) -> None:
        self._respond("GET", b"")

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > LARGEST_BODY:
            self.close_connection = True
            self._send(_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {LARGEST_BODY} bytes are allowed"))
        else:
            self._respond("POST", self.rfile.read(length))

    def _respond(self, method: str, body: bytes) -> None:
        route = f"{method} {self.path.partition('?')[0]}"
        self._send(self._answer(route, self.headers.get("Content-Type", ""), body))

    def _send(self, reply: HttpReply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.media_type)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its base's own name.
        """The service records the steps."""
