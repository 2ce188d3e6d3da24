"""The Windows part as a whole: it can be imported anywhere, and its routes are those of WindowsAgentArena's server."""

import asyncio
import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from aiohttp.test_utils import make_mocked_request

import guest_server
from guest_server.app import build_app
from guest_server.protocol.errors import GuestError
from guest_server.protocol.limits import GuestLimits
from guest_server.protocol.machine import Machine
from guest_server.windows import waa_checks, waa_routes
from guest_server.windows.api import Library
from tests.error_codes import raises_fields

MODULES = sorted(path.stem for path in Path(guest_server.__file__).parent.glob("windows/[!_]*.py"))
DOCS = Path(__file__).resolve().parents[4] / "docs" / "internals" / "guest-api.md"
# Reference: what WindowsAgentArena's server has beyond OSWorld's.
OWN = {
    "/execute_windows", "/update_computer", "/obs_winagent", "/setup/clear_task_files", "/is_details_view",
    "/save_state", "/revert_to_snapshot",
    "/are_files_sorted_by_modified_time", "/is_directory_read_only_for_user", "/are_all_images_tagged",
    "/library_folders", "/check_if_timer_started", "/check_if_world_clock_exists",
}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_a_module_can_be_imported_without_windows(name: str) -> None:
    assert importlib.import_module(f"guest_server.windows.{name}").__doc__


def paths(*capabilities: object) -> set[str]:
    machine = SimpleNamespace(limits=GuestLimits(), screen=None, capabilities=capabilities)
    routes = build_app(cast("Machine", machine)).router.routes()
    return {route.resource.canonical for route in routes if route.resource is not None}


def test_every_route_of_waa_is_there_and_documented() -> None:
    assert paths(waa_routes, waa_checks) - paths() == OWN
    text = DOCS.read_text()
    assert [path for path in sorted(OWN) if f"`POST {path}`" not in text and f"`GET {path}`" not in text] == []


def test_snapshots_are_the_workers() -> None:
    routes = waa_routes.routes(cast("Machine", SimpleNamespace()))
    save: Any = next(route.handler for route in routes if route.path == "/save_state")
    with raises_fields(GuestError, kind="not_available") as refused:
        asyncio.run(save(make_mocked_request("POST", "/save_state")))
    assert refused.value.status == 501


def test_a_function_that_is_not_declared_is_never_called() -> None:
    with pytest.raises(AttributeError, match=r"user32\.Nothing is not declared"):
        Library("user32", {}).Nothing  # noqa: B018 - asking is enough.
