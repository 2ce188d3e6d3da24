"""Scripts and files of the desktop, with arguments and results as OSWorld's `PythonController` has them.

Each call is one step of the episode, so the service records it, and its step budget counts it.
"""

import base64
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deskarena.errors import NotSupported

LONGEST_SCRIPT = 300.0
"""Seconds that the service lets a script run."""
LARGEST_FILE = 512 * 1024
"""Bytes of a file that the service reads or writes at once."""
TOO_LARGE = 3
PRELUDE = "import pyautogui; import time; pyautogui.FAILSAFE = False"
PYTHON_SECONDS = 30.0

Call = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Carries out a typed action as one step; returns its result."""


def require_text(function: str, name: str, value: Any) -> None:
    """Raises TypeError for an argument that is not a text: a step must not be spent on it."""
    if not isinstance(value, str):
        raise TypeError(f"{function}: {name} must be a text, not {value!r}"[:500])


def run_bash(call: Call, script: str, timeout: float, folder: str | None) -> dict[str, Any]:
    """`{status, output, error, returncode}`; `output` has both streams.

    Raises:
        NotSupported: the timeout is too long, or the desktop has no bash.
        TypeError: the script or the folder is not a text.
        ValueError: the timeout is not a number of seconds.
    """
    require_text("run_bash_script", "script", script)
    require_text("run_bash_script", "working_dir", folder or "")
    if not isinstance(timeout, int | float) or not timeout > 0:
        raise ValueError(f"run_bash_script: timeout must be a number of seconds above 0, not {timeout!r}")
    if timeout > LONGEST_SCRIPT:
        message = f"run_bash_script: timeout={timeout:g} is too long, the limit is {LONGEST_SCRIPT:g} s"
        raise NotSupported(message, code="script_too_long")
    guest = {"language": "bash", "timeout": timeout, "path": folder or ""}
    result = call({"type": "SCRIPT", "text": script, "guest": guest})
    if result.get("kind") == "not_available":
        raise NotSupported(f"run_bash_script: {result.get('error')}", code="no_bash")
    if "returncode" not in result:
        return {"status": "error", "output": "", "error": str(result.get("error")), "returncode": -1}
    status = "error" if result["returncode"] else "success"
    output = f"{result['output']}{result['error']}"
    return {"status": status, "output": output, "error": "", "returncode": result["returncode"]}


def run_python(call: Call, script: str) -> dict[str, Any]:
    """`{status, message, need_more, output, error, return_code}`; without a code where the script did not end."""
    require_text("run_python_script", "script", script)
    guest = {"language": "python", "timeout": PYTHON_SECONDS}
    result = call({"type": "SCRIPT", "text": script, "guest": guest})
    if "returncode" not in result:
        error = str(result.get("error"))
        return {"status": "error", "message": "Failed to execute command.", "output": None, "error": error}
    code, output, error = result["returncode"], str(result["output"]), str(result["error"])
    if code and not error:
        error = f"Process exited with code {code}"
    return {
        "status": "error" if code else "success",
        "message": "\n".join(filter(None, (output, error))),
        "need_more": False,
        "output": output,
        "error": error,
        "return_code": code,
    }


def run_command(call: Call, command: str) -> dict[str, Any]:
    """`{status, output, error, returncode}` of pyautogui code; -1 where it did not end."""
    require_text("execute_python_command", "command", command)
    result = call({"type": "PYTHON", "text": f"{PRELUDE}\n{command}"})
    if "returncode" not in result:
        return {"status": "error", "output": "", "error": str(result.get("error")), "returncode": -1}
    return {"status": "success", **{name: result[name] for name in ("output", "error", "returncode")}}


def launch(call: Call, command: str | Sequence[str], *, shell: bool = False) -> None:
    """Starts a program and does not wait for it.

    Raises:
        ValueError: the command has no word, or is not a text or a list of texts.
    """
    try:
        line = command if isinstance(command, str) else shlex.join(command)
        words = ["bash", "-c", line] if shell and line.strip() else shlex.split(line)
    except (TypeError, ValueError) as error:
        message = f"_launch_setup: the command must be a text or a list of texts, not {command!r}"
        raise ValueError(message[:500]) from error
    if not words:
        raise ValueError("_launch_setup: the command is empty")
    run_bash(call, f"setsid {shlex.join(words)} </dev/null >/dev/null 2>&1 &", 30.0, None)


def read_file(call: Call, path: str) -> bytes | None:
    """The file's content; None if it cannot be read.

    Raises:
        NotSupported: it has more than `LARGEST_FILE` bytes.
    """
    require_text("get_file", "file_path", path)
    result = call({"type": "READ_FILE", "guest": {"path": path}})
    if result.get("returncode") == TOO_LARGE:
        raise NotSupported(f"get_file: {str(result['error']).strip()}", code="file_too_large")
    return content(result)


def content(result: Mapping[str, Any]) -> bytes | None:
    """The file in a READ_FILE's result; None if it has none."""
    return base64.b64decode(result["data"]) if "data" in result else None


def write_file(call: Call, path: str, data: bytes) -> None:
    """Writes a file of the desktop, making its folders.

    Raises:
        NotSupported: it has more than `LARGEST_FILE` bytes.
        OSError: the desktop refused it.
    """
    require_text("_upload_file_setup", "path", path)
    if len(data) > LARGEST_FILE:
        message = f"upload: {path} has {len(data)} bytes, at most {LARGEST_FILE} are allowed"
        raise NotSupported(message, code="file_too_large")
    result = call({"type": "WRITE_FILE", "guest": {"path": path, "data": base64.b64encode(data).decode()}})
    if "size" not in result:
        raise OSError(f"{path} could not be written on the desktop: {str(result.get('error')).strip()}")
