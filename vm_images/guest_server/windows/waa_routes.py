"""WindowsAgentArena's other routes: /execute_windows, /update_computer, /obs_winagent and the like.

An agent's code runs in a separate process. `computer` is the library of `computer.py`. Each process gets the values of
the last `/update_computer`; the clipboard is read from Windows.
"""

import base64
import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import CommandSpec, Machine, WindowInfo
from guest_server.protocol.params import RequestParams, json_params
from guest_server.routes.execute import deadline, run
from guest_server.windows.folders import known_folder

_LONGEST_CODE = 2**20
_MOST_RECTS = 20_000
_CORNERS = 4
_FARTHEST = 1e6
_FOLDER_SETTINGS = "desktop.ini"

# The human of WAA's agents answers nothing here.
_BEFORE = """
import json as _json, sys as _sys
from deskarena_computer import Computer as _Computer
_told = _json.loads({arguments!r})
computer = _Computer({{number: tuple(box) for number, box in enumerate(_told["rects"])}}, _told["area"])
class _Human:
    def __getattr__(self, name):
        raise RuntimeError("there is no human at this desktop")
exec(compile(_told["code"], "<agent>", "exec"), {{"computer": computer, "human": _Human(), "__name__": "__main__"}})
"""


@dataclass
class _LastUpdate:
    """Values of the last `/update_computer`."""

    rects: list[list[int]] = field(default_factory=list)
    area: list[int] | None = None


def routes(machine: Machine) -> list[web.RouteDef]:
    """POST /execute_windows, /update_computer, /setup/clear_task_files and for snapshots; GET /obs_winagent."""
    state = _LastUpdate()

    async def execute(request: web.Request) -> web.Response:
        params = await json_params(request)
        source = program(params.text("command", longest=_LONGEST_CODE), state.rects, state.area)
        spec = CommandSpec([*machine.python, "-"], folder=machine.home, stdin=source)
        result = await run(machine, spec, deadline(params, machine, machine.limits.command_seconds))
        # As in WAA: code that prints `error` has failed.
        if result.returncode or "error" in result.output.lower():
            message = (result.error or result.output).strip() or f"the code ended with {result.returncode}"
            raise GuestError("failed", message, output=result.output, stderr=result.error)
        return web.json_response({"status": "success", "output": result.output})

    async def update(request: web.Request) -> web.Response:
        params = await json_params(request)
        state.rects, state.area = rects_of(params), area_of(params)
        return web.json_response({"success": True})

    async def observe(_: web.Request) -> web.Response:
        return web.json_response(await machine.blocking(_observation, machine))

    async def clear(_: web.Request) -> web.Response:
        return web.Response(text=await machine.blocking(clear_folder, known_folder("Downloads")))

    return [
        web.post("/execute_windows", execute),
        web.post("/update_computer", update),
        web.get("/obs_winagent", observe),
        web.post("/setup/clear_task_files", clear),
        web.post("/save_state", _no_states),
        web.post("/revert_to_snapshot", _no_states),
    ]


async def _no_states(_: web.Request) -> web.Response:
    raise GuestError("not_available", "a machine's states are the worker's: each attempt begins with a fresh one")


def program(code: str, rects: list[list[int]], area: list[int] | None = None) -> bytes:
    """Source for a separate process: the agent's code with `computer` and `human`."""
    arguments = json.dumps({"code": code, "rects": rects, "area": area})
    return _BEFORE.format(arguments=arguments).encode("ascii")


def rects_of(params: RequestParams) -> list[list[int]]:
    """The numbered elements' boxes: left, top, right, bottom in screen pixels, the first is number 0.

    They come in pixels of the agent's picture: `window_rect` is the part of the screen in it, `scale` the screen pixels
    per picture pixel, horizontally and vertically. Other fields (`screenshot`, `clipboard_content`, `swap_ctrl_alt`)
    are ignored.
    """
    boxes = params.values.get("rects") or []
    if not isinstance(boxes, list) or len(boxes) > _MOST_RECTS:
        raise GuestError("bad_request", f"'rects' must be a list of at most {_MOST_RECTS} boxes")
    left, top, *_ = area_of(params) or [0, 0]
    across, down = _scale(params.values.get("scale"))
    return [_box(box, left, top, across, down) for box in boxes]


def area_of(params: RequestParams) -> list[int] | None:
    """The screen area for the fractions of `move_abs`: left, top, right, bottom; None = the whole screen."""
    rect = params.values.get("window_rect")
    if rect is None:
        return None
    if not isinstance(rect, list) or len(rect) != _CORNERS or not all(_is_number(value) for value in rect):
        raise GuestError("bad_request", "'window_rect' must be four numbers")
    return [round(value) for value in rect]


def _box(box: Any, left: float, top: float, across: float, down: float) -> list[int]:
    if not isinstance(box, list) or len(box) != _CORNERS or not all(_is_number(value) for value in box):
        raise GuestError("bad_request", f"a box of 'rects' must be four numbers, not {str(box)[:80]}")
    x1, y1, x2, y2 = box
    return [round(left + x1 * across), round(top + y1 * down), round(left + x2 * across), round(top + y2 * down)]


def _scale(scale: Any) -> tuple[float, float]:
    """One number for both directions, or two."""
    both = scale if isinstance(scale, list) else [scale if scale is not None else 1, scale if scale is not None else 1]
    if len(both) != 2 or not all(_is_number(value) and value > 0 for value in both):  # noqa: PLR2004 - across and down.
        raise GuestError("bad_request", "'scale' must be a positive number, or two")
    return float(both[0]), float(both[1])


def _is_number(value: Any) -> bool:
    # Python's JSON accepts infinity; larger values are off every screen.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _FARTHEST


def _observation(machine: Machine) -> dict[str, Any]:
    from PIL import Image

    windows = machine.windows.all()
    front = next((window for window in windows if window.active and window.title), None)
    shot = machine.screen.grab()
    box = _visible_part(front, shot.width, shot.height)
    picture = Image.frombytes("RGB", (shot.width, shot.height), bytes(shot.pixels), "raw", "BGRX", shot.stride)
    file = io.BytesIO()
    picture.crop(box).save(file, "PNG", compress_level=1)
    return {
        "status": "success",
        "image": base64.b64encode(file.getvalue()).decode("ascii"),
        "window_title": "Desktop" if front is None else front.title,
        "rect": list(box),
        "window_names_str": "\n".join(dict.fromkeys(window.title for window in windows if window.title)),
        "computer_clipboard": machine.clipboard.read(),
        "human_input": None,
    }


def _visible_part(window: WindowInfo | None, width: int, height: int) -> tuple[int, int, int, int]:
    """The visible part of a window: left, top, right, bottom; the screen if there is no window."""
    if window is None:
        return 0, 0, width, height
    left, top = min(max(0, window.x), width - 1), min(max(0, window.y), height - 1)
    right = min(max(left + 1, window.x + window.width), width)
    return left, top, right, min(max(top + 1, window.y + window.height), height)


def clear_folder(folder: Path) -> str:
    """Deletes the files of a folder, as WAA does between tasks; folders and files in use stay."""
    files = [path for path in folder.iterdir() if path.is_file() and path.name.lower() != _FOLDER_SETTINGS]
    in_use = [path.name for path in files if not _removed(path)]
    return f"{len(files) - len(in_use)} files removed" + (f", in use: {', '.join(in_use[:20])}" if in_use else "")


def _removed(path: Path) -> bool:
    try:
        path.unlink(missing_ok=True)
    except PermissionError:
        return False
    return True
