"""Carries out an agent's scripts and files, with the rights of the agent's own code in the guest."""

import base64
import binascii
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from backend.domain.model.code_results import CONTENT, MOST_OUTPUT
from backend.domain.model.trajectory import LARGEST_FILE, Action, ActionType, GuestCall
from backend.domain.ports.desktop import ExecResult

RunPython = Callable[[str, float], ExecResult]
TOO_LARGE = 3
"""Exit code of a read whose file is larger than `LARGEST_FILE`."""
_FILE_SECONDS = 60.0
_CUT = "\n[truncated]"
_READ = """
import base64, os, stat, sys
path = os.path.expanduser({path!r})
status = os.stat(path)
if not stat.S_ISREG(status.st_mode):
    sys.exit(path + " is not a regular file")
with open(path, "rb") as file:
    data = file.read({most} + 1)
if len(data) > {most}:
    print(path + " has more than {most} bytes, the most that an agent can read", file=sys.stderr)
    sys.exit({too_large})
print(base64.b64encode(data).decode())
"""
_WRITE = """
import base64, os
path = os.path.abspath(os.path.expanduser({path!r}))
os.makedirs(os.path.dirname(path), exist_ok=True)
with open(path, "wb") as file:
    file.write(base64.b64decode({data!r}))
"""


def script_result(result: ExecResult) -> dict[str, Any]:
    """`{returncode, output, error}`, each stream cut to `MOST_OUTPUT` characters with a note."""
    return {"returncode": result.returncode, "output": _limit(result.output), "error": _limit(result.error)}


def _limit(text: str) -> str:
    return text if len(text) <= MOST_OUTPUT else text[: MOST_OUTPUT - len(_CUT)] + _CUT


def transfer(action: Action, run_python: RunPython) -> Mapping[str, Any]:
    """Reads or writes a file by code in the guest: see `Desktop.perform` for the result."""
    call = action.guest or GuestCall()
    if action.type is ActionType.READ_FILE:
        done = run_python(_READ.format(path=call.path, most=LARGEST_FILE, too_large=TOO_LARGE), _FILE_SECONDS)
        return script_result(done) if done.returncode else _content(done)
    done = run_python(_WRITE.format(path=call.path, data=call.data), _FILE_SECONDS)
    return script_result(done) if done.returncode else _facts(base64.b64decode(call.data))


def _content(result: ExecResult) -> dict[str, Any]:
    try:
        data = base64.b64decode(result.output.strip(), validate=True)
    except (ValueError, binascii.Error):
        return {"returncode": 1, "output": "", "error": "the desktop's Python did not print the file"}
    return {**_facts(data), CONTENT: base64.b64encode(data).decode()}


def _facts(data: bytes) -> dict[str, Any]:
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
