"""The same rooms on every floor: who looks for runs finds `runs` in services, web, tables and queries."""

import tomllib

import pytest

from tests.architecture.tree import ROOT, imported, parsed, python_files

CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
LAYERS = next(each["layers"] for each in CONTRACTS if each["containers"] == ["backend.services"])
ROOMS = LAYERS[:-1]
"""From top to bottom; what they share lies below them."""
FLOORS = {
    "backend/services": set[str](),
    "backend/db/models": set[str](),
    "backend/db/repositories": set[str](),
    "backend/web": {"charts"},
}
"""Folders that are divided into rooms, and what else lies there."""
OPEN = {
    "backend/services": {"__init__", "lru_cache", "periodic_thread", "read_model"},
    "backend/db/models": {"__init__", "base", "enums"},
    "backend/db/repositories": {"__init__", "common_queries", "pagination"},
    "backend/domain": {"__init__", "errors", "registry"},
    "worker": {"__init__", "app"},
    "vm_images/guest_server": {
        "__init__",
        "a11y_process",
        "app",
        "computer",
        "egress_tunnels",
        "environment",
        "memory",
        "serving",
        "socket_relay",
    },
}
"""Folders whose modules lie in packages, but for these."""


def is_view(name: str) -> bool:
    """Says whether a module makes what pages show."""
    return name.startswith("backend.services.") and "views" in name.split(".")[3:5]


@pytest.mark.parametrize("floor", FLOORS)
def test_a_floor_has_no_room_of_its_own(floor: str) -> None:
    folders = {
        path.parts[len(floor.split("/"))] for path in python_files(floor) if len(path.parts) > floor.count("/") + 2
    }
    assert folders - FLOORS[floor] - set(ROOMS) == set()


def test_the_page_lists_the_rooms_from_bottom_to_top() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    places = [text.index(f"\n| `{room}` |") for room in reversed(ROOMS)]
    assert places == sorted(places)


@pytest.mark.parametrize("folder", OPEN)
def test_modules_lie_in_packages(folder: str) -> None:
    assert {path.stem for path in (ROOT / folder).glob("*.py")} - OPEN[folder] == set()


def test_only_pages_and_views_use_views() -> None:
    users = [
        f"{path}:{line} imports {name}"
        for path in python_files("backend/services", "worker")
        if not is_view(".".join(path.with_suffix("").parts))
        for line, name in imported(parsed(path))
        if is_view(name)
    ]
    assert users == []
