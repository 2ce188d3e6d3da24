"""The table of routes; what they do is tested against a real desktop in tests/integration/guest_server."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from aiohttp import web

from guest_server.app import build_app
from guest_server.protocol.limits import GuestLimits
from guest_server.protocol.machine import Machine

DOCS = Path(__file__).resolve().parents[3] / "docs" / "internals" / "guest-api.md"

# Reference: the routes of OSWorld's and WAA's servers that make sense on Linux.
WANTED = """
GET /probe, POST /shutdown, POST /execute, POST /setup/execute, POST /execute_with_verification,
POST /setup/execute_with_verification, POST /run_python, POST /run_bash_script, POST /setup/launch, GET /screenshot,
GET /terminal, GET /accessibility, POST /screen_size, POST /window_size, POST /desktop_path, POST /documents_path,
POST /wallpaper, POST /list_directory, POST /file, POST /setup/upload, GET /platform, GET /cursor_position,
POST /setup/change_wallpaper, POST /setup/download_file, POST /setup/open_file, POST /setup/activate_window,
POST /setup/close_window, POST /setup/close_all, POST /setup/create_folder, POST /setup/create_file,
POST /setup/recycle, POST /folder_exists, POST /file_exists, POST /start_recording, POST /end_recording,
GET /frame, POST /input, GET /clipboard, POST /clipboard, GET /windows, GET /stable, GET /stream, GET /tunnel/{port},
POST /secret, POST /setup/place_window, GET /interactions, GET /text_cursor, GET /health, GET /limits, POST /settled,
GET /egress, POST /restored, POST /trust
"""


def table() -> list[str]:
    machine = cast("Machine", SimpleNamespace(limits=GuestLimits(), screen=None, capabilities=()))
    app: web.Application = build_app(machine)
    routes = [(route.method, route.resource) for route in app.router.routes() if route.method != "HEAD"]
    return sorted(f"{method} {resource.canonical}" for method, resource in routes if resource is not None)


class TestBuildApp:
    def test_every_route_is_there_and_no_other(self) -> None:
        assert table() == sorted(part.strip() for part in WANTED.replace("\n", " ").split(","))

    @pytest.mark.parametrize("route", table())
    def test_the_documentation_names_it(self, route: str) -> None:
        assert f"`{route}`" in DOCS.read_text()
