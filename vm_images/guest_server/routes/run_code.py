"""Runs source code: /run_python and /run_bash_script, always in a separate process."""

import os
from pathlib import Path

from aiohttp import web

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import CommandSpec, Machine
from guest_server.protocol.params import RequestParams, json_params
from guest_server.routes.execute import deadline, run

# The script's own commands must not read the rest of it from standard input, as `ffmpeg` and `ssh` would.
_READ_SCRIPT = 'exec 3<&0 </dev/null; _script=$(cat <&3); exec 3<&-; eval "$_script"'


def routes(machine: Machine) -> list[web.RouteDef]:
    """POST /run_python, POST /run_bash_script."""

    async def run_python(request: web.Request) -> web.Response:
        params = await json_params(request)
        # Through stdin: no length limit as for an argument, and no file is left in the desktop.
        command, source = [*machine.python, "-"], _source(params, "code")
        if params.flag("isolated"):
            command, source = [*machine.python, "-I", "-"], _libraries(machine) + source
        spec = CommandSpec(command, folder=machine.home, stdin=source)
        result = await run(machine, spec, deadline(params, machine, machine.limits.python_seconds))
        good = result.returncode == 0
        return web.json_response(
            {
                "status": "success" if good else "error",
                "message": result.output + result.error,
                "need_more": False,
                "output": result.output,
                "error": result.error,
                "return_code": result.returncode,
                "truncated": result.truncated,
            }
        )

    async def run_bash(request: web.Request) -> web.Response:
        if not machine.bash:
            raise GuestError("not_available", "this desktop has no bash")
        params = await json_params(request)
        folder = _folder(params, machine.home)
        spec = CommandSpec([*machine.bash, "-c", _READ_SCRIPT], folder=folder, stdin=_source(params, "script"))
        result = await run(machine, spec, deadline(params, machine, machine.limits.script_seconds))
        # OSWorld returns both streams as one, with an empty `error`.
        body = {"output": result.output + result.error, "error": "", "returncode": result.returncode}
        status = "success" if result.returncode == 0 else "error"
        return web.json_response({"status": status, **body, "truncated": result.truncated})

    return [web.post("/run_python", run_python), web.post("/run_bash_script", run_bash)]


def _libraries(machine: Machine) -> bytes:
    """Code that finds the desktop's libraries although Python ignores its user's folders and environment.

    A module in the home (`json.py`), or one that Python loads at each start, must not answer in place of the worker's
    questions about the desktop.
    """
    folders = [folder for folder in machine.environment.get("PYTHONPATH", "").split(os.pathsep) if folder]
    return f"import sys; sys.path.extend({folders!r})\n".encode()


def _source(params: RequestParams, name: str) -> bytes:
    # A line end after it, so that empty code is a program, too.
    try:
        return params.text(name).encode() + b"\n"
    except UnicodeEncodeError:
        raise GuestError("bad_request", f"'{name}' holds half of a surrogate pair") from None


def _folder(params: RequestParams, home: Path) -> Path:
    folder = Path(params.path("working_dir")) if params.values.get("working_dir") else home
    if not folder.is_dir():
        raise GuestError("not_found", f"the folder '{folder}' does not exist")
    return folder
