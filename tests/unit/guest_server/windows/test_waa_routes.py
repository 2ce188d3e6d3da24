"""WindowsAgentArena's routes: what an agent's code and its boxes become."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from guest_server.protocol.errors import GuestError
from guest_server.protocol.limits import GuestLimits
from guest_server.protocol.machine import Placement
from guest_server.protocol.params import RequestParams
from guest_server.windows.environment import WindowsConfig, children_environment, own_environment, read_config
from guest_server.windows.waa_routes import area_of, clear_folder, program, rects_of
from guest_server.windows.window_control import is_application, placed_box

FAKE = "class Computer:\n    def __init__(self, boxes, area):\n        self.boxes, self.area = boxes, area\n"


class TestProgram:
    def ran(self, folder: Path, code: str) -> "subprocess.CompletedProcess[str]":
        (folder / "deskarena_computer.py").write_text(FAKE)
        source = program(code, [[1, 2, 3, 4]], [5, 6, 7, 8]).decode()
        return subprocess.run(
            [sys.executable, "-"], input=source, cwd=folder, capture_output=True, text=True, check=False, timeout=30
        )

    def test_the_code_has_the_computer_with_the_boxes(self, tmp_path: Path) -> None:
        assert self.ran(tmp_path, "print(computer.boxes[0], 'ü {x} \\'\"')").stdout == "(1, 2, 3, 4) ü {x} '\"\n"

    def test_program_has_the_agents_screen_area(self, tmp_path: Path) -> None:
        assert self.ran(tmp_path, "print(computer.area)").stdout == "[5, 6, 7, 8]\n"

    def test_human_is_not_available(self, tmp_path: Path) -> None:
        assert "no human" in self.ran(tmp_path, "human.get_past_input()").stderr

    def test_a_fault_names_the_agents_line(self, tmp_path: Path) -> None:
        done = self.ran(tmp_path, "x = 1\nraise ValueError('no')")
        assert done.returncode == 1
        assert '"<agent>", line 2' in done.stderr


class TestRectsOf:
    def test_places_of_a_picture_come_back_to_the_screen(self) -> None:
        """Sizes as WAA's agents send them: of the picture before and after scaling."""
        original, shrunk = (1440, 900), (960, 450)
        scale = [whole / part for whole, part in zip(original, shrunk, strict=True)]
        given = {"rects": [[10, 20, 30, 40]], "window_rect": [100, 200, 500, 600], "scale": scale}
        assert rects_of(RequestParams(given)) == [[115, 240, 145, 280]]
        assert rects_of(RequestParams({"rects": [[1.4, 2, 3, 4]]})) == [[1, 2, 3, 4]]
        assert rects_of(RequestParams({})) == []

    @pytest.mark.parametrize(
        "given",
        [
            {"rects": 1},
            {"rects": [[1, 2, 3]]},
            {"rects": [["a", 1, 1, 1]]},
            {"rects": [], "scale": 0},
            {"rects": [[1, 2, 3, 1e999]]},
        ],
    )
    def test_anything_else_is_refused(self, given: dict[str, Any]) -> None:
        with pytest.raises(GuestError):
            rects_of(RequestParams(given))

    def test_rects_are_json(self) -> None:
        json.dumps(rects_of(RequestParams({"rects": [[1, 2, 3, 4]]})))


class TestAreaOf:
    def test_default_area_is_the_whole_screen(self) -> None:
        assert area_of(RequestParams({})) is None
        assert area_of(RequestParams({"window_rect": [0, 0, 640.0, 480.0]})) == [0, 0, 640, 480]

    def test_anything_else_is_refused(self) -> None:
        with pytest.raises(GuestError):
            area_of(RequestParams({"window_rect": [1, 2]}))


class TestClear:
    def test_files_go_and_folders_stay(self, tmp_path: Path) -> None:
        (tmp_path / "folder").mkdir()
        for name in ("a", "b", "Desktop.ini"):
            (tmp_path / name).touch()
        assert clear_folder(tmp_path) == "2 files removed"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["Desktop.ini", "folder"]

    def test_locked_files_are_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refused(*_: Any, **__: Any) -> None:
            raise PermissionError(13, "used by another process")

        (tmp_path / "a").touch()
        monkeypatch.setattr(Path, "unlink", refused)
        assert clear_folder(tmp_path) == "0 files removed, in use: a"


class TestIsApplication:
    CAPTION, TOOL, APP = 0x00C00000, 0x80, 0x40000

    def test_windows_that_count_as_applications(self) -> None:
        assert is_application("Notepad", "Untitled", self.CAPTION, 0)
        assert is_application("#32770", "", self.CAPTION, 0)
        assert is_application("X", "Tool that wants to be seen", 0, self.TOOL | self.APP)

    def test_windows_of_the_shell_do_not_count(self) -> None:
        assert not is_application("Progman", "Program Manager", self.CAPTION, 0)
        assert not is_application("Shell_TrayWnd", "", 0, 0)
        assert not is_application("X", "Tool", 0, self.TOOL)
        assert not is_application("X", "", 0, 0)


class TestPlacedBox:
    def test_the_invisible_border_is_added(self) -> None:
        visible, whole = (107, 100, 786, 593), (100, 100, 800, 600)
        assert placed_box(Placement(x=0, y=0, width=400, height=300), visible, whole) == (-7, 0, 414, 307)

    def test_unset_coordinates_stay(self) -> None:
        assert placed_box(Placement(width=400), (7, 7, 10, 10), (0, 0, 24, 17)) == (0, 0, 414, 17)


class TestEnvironment:
    def config(self, home: Path, *, virtual_machine: bool = False, **more: str) -> WindowsConfig:
        given = {"USERPROFILE": str(home), "Path": r"C:\Windows", "APPDATA": "x", "DESKARENA_PYTHON": "py", **more}
        return read_config(given, virtual_machine=virtual_machine)

    def test_a_program_gets_what_windows_gives_and_nothing_of_ours(self, tmp_path: Path) -> None:
        environment = children_environment(self.config(tmp_path, DESKARENA_EGRESS_PROXY="http://127.0.0.1:3128"))
        assert environment["APPDATA"] == "x"
        assert environment["PATH"].startswith(r"C:\Windows")
        assert not [name for name in environment if name.startswith("DESKARENA")]
        assert "guest_server" not in environment["PYTHONPATH"].replace("guest_server/data/python", "")

    def test_our_helpers_find_the_package(self, tmp_path: Path) -> None:
        assert "vm_images" in own_environment(self.config(tmp_path))["PYTHONPATH"]

    def test_variables_that_are_set_are_used(self, tmp_path: Path) -> None:
        config = self.config(tmp_path, DESKARENA_LIMIT_OUTPUT="10")
        assert config.egress_proxy == ""
        assert config.limits == GuestLimits(output=10)
        assert config.python == "py"

    def test_a_machine_of_its_own_has_a_way_out(self, tmp_path: Path) -> None:
        assert self.config(tmp_path, virtual_machine=True).egress_proxy == "http://127.0.0.1:3128"

    def test_screen_comes_from_the_environment(self, tmp_path: Path) -> None:
        assert self.config(tmp_path).screen is None
        assert self.config(tmp_path, DESKARENA_SCREEN="1440x900").screen == (1440, 900)
        with pytest.raises(ValueError, match="DESKARENA_SCREEN"):
            self.config(tmp_path, DESKARENA_SCREEN="wide")

    def test_missing_userprofile_is_refused(self) -> None:
        with pytest.raises(ValueError, match="USERPROFILE"):
            read_config({})
