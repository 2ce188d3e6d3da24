"""WindowsAgentArena's checks of a Windows desktop: 200 for yes, 400 for no, with WAA's status texts."""

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring

from aiohttp import web

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import Machine, TreeRequest
from guest_server.protocol.params import RequestParams, json_params
from guest_server.windows import clock_app, explorer, libraries
from guest_server.windows.folders import FOLDER_IDENTITIES, known_folder

_PICTURES = (".jpg", ".jpeg", ".tif", ".tiff")
_ENDING = ".library-ms"
_LONGEST_NAME = 255
_ASK_SECONDS = 60.0


def routes(machine: Machine) -> list[web.RouteDef]:
    """POST of each check."""

    async def details(request: web.Request) -> web.Response:
        path = (await json_params(request)).path("path")
        answer = await _explorer(machine, explorer.FOLDER_VIEWS, {})
        has_details = explorer.shows_details(answer.get("found") or [], path)
        return verdict(has_details, f"Explorer shows '{path}' with details", is_details_view=has_details)

    async def sorted_by_time(request: web.Request) -> web.Response:
        path = (await json_params(request)).path("directory")
        answer = await _explorer(machine, explorer.FOLDER_VIEWS, {})
        return verdict(
            explorer.sorted_by_time(answer.get("found") or [], path),
            f"Explorer sorts '{path}' by the time of change",
        )

    async def read_only(request: web.Request) -> web.Response:
        params = await json_params(request)
        path, user = _folder(params), params.text("user", longest=_LONGEST_NAME)
        answer = await _explorer(machine, explorer.RIGHTS, {"directory": path, "user": user})
        return verdict(explorer.is_read_only(answer), f"'{path}' is read-only for '{user}'")

    async def tagged(request: web.Request) -> web.Response:
        params = await json_params(request)
        path, tag = _folder(params), params.text("tag", longest=_LONGEST_NAME)
        answer = await _explorer(machine, explorer.TAGS, {"directory": path})
        untagged = explorer.untagged_pictures(answer.get("found") or [], tag, _PICTURES)
        return verdict(not untagged, f"all pictures in '{path}' bear the tag '{tag}'", untagged=untagged[:100])

    async def library(request: web.Request) -> web.Response:
        name = (await json_params(request)).text("library_name", longest=_LONGEST_NAME)
        return web.json_response({"status": "success", "output": await machine.blocking(_library, machine, name)})

    async def timer(request: web.Request) -> web.Response:
        params = await json_params(request)
        parts = [params.integer(name, low=0, high=1000) for name in ("hours", "minutes", "seconds")]
        seconds = parts[0] * 3600 + parts[1] * 60 + parts[2]
        return verdict(clock_app.timer_runs(await _tree(machine), seconds), f"a timer of {seconds} s is running")

    async def city(request: web.Request) -> web.Response:
        params = await json_params(request)
        names = params.text("city", longest=_LONGEST_NAME), params.text("country", longest=_LONGEST_NAME)
        return verdict(clock_app.shows_city(await _tree(machine), *names), f"the clock shows {', '.join(names)}")

    return [
        web.post("/is_details_view", details),
        web.post("/are_files_sorted_by_modified_time", sorted_by_time),
        web.post("/is_directory_read_only_for_user", read_only),
        web.post("/are_all_images_tagged", tagged),
        web.post("/library_folders", library),
        web.post("/check_if_timer_started", timer),
        web.post("/check_if_world_clock_exists", city),
    ]


def verdict(holds: bool, claim: str, **more: Any) -> web.Response:  # noqa: FBT001 - the one thing it says.
    """The answer of a check: a claim, and whether it holds."""
    if holds:
        return web.json_response({"status": "success", "message": claim, **more})
    message = f"it is not so that {claim}"
    raise GuestError("no", message, **more)


async def _explorer(machine: Machine, script: str, values: dict[str, str]) -> dict[str, Any]:
    return await machine.within(_ASK_SECONDS, explorer.ask, machine, script, values)


def _folder(params: RequestParams) -> str:
    path = params.path("directory")
    if not Path(path).is_dir():
        raise GuestError("not_found", f"the folder '{path}' does not exist")
    return path


async def _tree(machine: Machine) -> Element:
    """From UI Automation: Win32 does not see the content of the Clock app."""
    limits = machine.limits
    options = TreeRequest(
        limits.a11y_nodes, limits.a11y_depth, limits.a11y_children, limits.a11y_seconds, backend="uia"
    )
    return fromstring((await machine.accessibility.tree(options)).xml)  # noqa: S314 - our own helper's.


def _library(machine: Machine, name: str) -> list[str]:
    if Path(name).name != name:
        raise GuestError("bad_request", f"'library_name' must be a name, not {name[:100]!r}")
    roaming = Path(machine.environment.get("APPDATA", machine.home / "AppData" / "Roaming"))
    file = roaming / "Microsoft" / "Windows" / "Libraries" / f"{name}{_ENDING}"
    if not file.is_file():
        raise GuestError("not_found", f"there is no library '{name}'")
    known = {identity: str(known_folder(folder)) for folder, identity in FOLDER_IDENTITIES.items()}
    return libraries.folders_of(file.read_bytes(), known)
