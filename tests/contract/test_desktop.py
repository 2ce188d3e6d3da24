"""The contract of every Desktop. Runs against the fake and against real desktops of this machine, Wine's among them."""

import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from defusedxml.ElementTree import fromstring
from PIL import Image

from backend.domain.errors import GuestLost, GuestRefused
from backend.domain.machines.health import HealthLimits
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.desktop import Desktop, OpenDesktop, Provider
from tests.contract.conftest import SPEC, WITH_WINE, opened_provider
from tests.contract.kinds import SystemNames
from tests.waiting import until
from worker.base.health import check_health

SIZE = (SPEC.screen.width, SPEC.screen.height)


@pytest.fixture(scope="module", params=WITH_WINE)
def provider(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    """Every provider that can work here, and Wine's desktops: their guest server is another one."""
    with opened_provider(request.param, tmp_path_factory) as made:
        yield made


class TestSight:
    def test_the_screen_has_the_size_that_was_asked_for(self, desktop: Desktop) -> None:
        assert desktop.screen == SPEC.screen
        assert desktop.probe().screen == SPEC.screen

    def test_the_guest_says_who_it_is(self, desktop: Desktop) -> None:
        assert desktop.probe().platform in {"Linux", "Windows"}

    def test_a_fresh_desktop_passes_the_health_gate(self, desktop: Desktop) -> None:
        check_health(desktop, SPEC.screen, desktop.frame(), HealthLimits(), pause=lambda _: None)

    def test_disks_are_those_of_its_health(self, desktop: Desktop) -> None:
        assert [(disk.path, disk.size) for disk in desktop.disks()] == [
            (disk.path, disk.size) for disk in desktop.health().disks
        ]

    def test_a_frame_is_a_jpeg_of_the_whole_screen(self, desktop: Desktop) -> None:
        frame = desktop.frame()
        assert frame.media_type == "image/jpeg"
        assert Image.open(io.BytesIO(frame.data)).size == (frame.width, frame.height) == SIZE

    def test_a_screenshot_is_a_png_of_the_whole_screen(self, desktop: Desktop) -> None:
        frame = desktop.screenshot()
        assert frame.media_type == "image/png"
        assert Image.open(io.BytesIO(frame.data)).size == (frame.width, frame.height) == SIZE

    def test_the_tree_is_xml(self, desktop: Desktop, kind: SystemNames) -> None:
        assert fromstring(desktop.accessibility_tree()).tag.rpartition("}")[2] == kind.tree

    def test_the_clipboard_is_text(self, desktop: Desktop) -> None:
        assert isinstance(desktop.clipboard(), str)


class TestInput:
    @pytest.mark.parametrize(
        "action",
        [
            Action(type=ActionType.MOVE_TO, x=5, y=5),
            Action(type=ActionType.CLICK, x=700, y=500),
            Action(type=ActionType.CLICK, button="right", x=700, y=500, clicks=2),
            Action(type=ActionType.SCROLL, dy=-2),
            Action(type=ActionType.PRESS, keys=("esc",)),
            Action(type=ActionType.HOTKEY, keys=("ctrl", "a")),
            Action(type=ActionType.TYPING, text="a < b, ü"),
        ],
        ids=lambda action: action.type.value,
    )
    def test_input_is_delivered(self, desktop: Desktop, action: Action) -> None:
        assert desktop.perform(action) == {}

    def test_an_unknown_key_is_refused_and_the_guest_is_well(self, desktop: Desktop) -> None:
        with pytest.raises(GuestRefused):
            desktop.perform(Action(type=ActionType.PRESS, keys=("hyperdrive",)))
        assert desktop.frame()

    def test_python_runs_in_the_guest(self, desktop: Desktop) -> None:
        result = desktop.perform(Action(type=ActionType.PYTHON, text="x = 1"))
        assert result["returncode"] == 0

    def test_a_still_screen_is_told(self, desktop: Desktop) -> None:
        assert desktop.wait_stable(quiet=0.2, timeout=20.0) <= 20.5


class TestInteractions:
    def test_interactions_are_logged_in_order_and_returned_once(self, desktop: Desktop) -> None:
        before = desktop.interactions()
        since = before[-1].number if before else 0
        desktop.perform(Action(type=ActionType.CLICK, x=10, y=20))
        desktop.perform(Action(type=ActionType.TYPING, text="word"))
        desktop.perform(Action(type=ActionType.PRESS, keys=("enter",)))
        told = desktop.interactions(since)
        assert [(one.kind, one.text) for one in told] == [
            ("click", ""),
            ("type", "word"),
            ("type", "{enter}"),
        ]
        assert (told[0].x, told[0].y, told[0].button) == (10, 20, "left")
        assert [one.number for one in told] == sorted(one.number for one in told)
        assert list(desktop.interactions(told[-1].number)) == []


class TestWindows:
    def test_a_program_that_is_launched_gets_a_window_that_can_be_raised_and_closed(
        self, desktop: Desktop, kind: SystemNames
    ) -> None:
        desktop.launch(kind.program)
        until(lambda: self.shown(desktop, kind) == 1, 20.0)
        desktop.activate_window(kind.window_class, by_class=True)
        until(lambda: any(window.active for window in desktop.windows()), 20.0)
        desktop.close_window(kind.window_class, by_class=True)
        until(lambda: self.shown(desktop, kind) == 0, 20.0)

    @staticmethod
    def shown(desktop: Desktop, kind: SystemNames) -> int:
        return sum(kind.window_class in window.wm_class.lower() for window in desktop.windows())

    def test_a_window_that_is_not_there_is_refused(self, desktop: Desktop) -> None:
        for call in (desktop.activate_window, desktop.close_window):
            with pytest.raises(GuestRefused) as refused:
                call("no such window")
            assert refused.value.kind == "not_found"


class TestFiles:
    def test_a_written_file_can_be_read(self, desktop: Desktop, kind: SystemNames) -> None:
        data = bytes(range(256)) * 100
        desktop.write_file(f"{kind.home}new/folder/data.bin", data)
        assert desktop.read_file(f"{kind.home}new/folder/data.bin") == data

    def test_a_file_that_is_not_there_is_refused(self, desktop: Desktop, kind: SystemNames) -> None:
        with pytest.raises(GuestRefused) as refused:
            desktop.read_file(f"{kind.home}nothing")
        assert refused.value.kind == "not_found"

    def test_oversized_file_is_refused(self, desktop: Desktop, kind: SystemNames) -> None:
        desktop.write_file(f"{kind.home}large", b"x" * 5000)
        with pytest.raises(GuestRefused) as refused:
            desktop.read_file(f"{kind.home}large", max_bytes=1000)
        assert refused.value.kind == "too_large"


class TestCommands:
    def test_output_and_exit_code_come_back(self, desktop: Desktop, kind: SystemNames) -> None:
        done = desktop.execute(kind.says)
        assert (done.returncode, done.output.replace("\r\n", "\n")) == (0, "hello there\n")
        assert desktop.execute(kind.fails).returncode == 1

    def test_a_program_that_is_not_there_is_refused(self, desktop: Desktop) -> None:
        with pytest.raises(GuestRefused):
            desktop.execute(["no-such-program"])

    def test_an_unknown_route_is_refused(self, desktop: Desktop) -> None:
        with pytest.raises(GuestRefused):
            desktop.call("GET", "/no/such/route")


class TestWallpaper:
    def test_a_plain_colour_is_not_a_picture(self, desktop: Desktop) -> None:
        with pytest.raises(GuestRefused) as refused:
            desktop.wallpaper()
        assert refused.value.kind == "not_found"


ASKED: Mapping[str, Callable[[Desktop], Any]] = {
    "frame": lambda desktop: desktop.frame(),
    "probe": lambda desktop: desktop.probe(),
    "perform": lambda desktop: desktop.perform(Action(type=ActionType.CLICK)),
    "wait_stable": lambda desktop: desktop.wait_stable(quiet=0.1, timeout=1.0),
    "read_file": lambda desktop: desktop.read_file("/etc/hostname"),
}


class TestDead:
    def test_a_desktop_that_is_gone_is_lost_whatever_is_asked(self, opened: OpenDesktop) -> None:
        opened.close()
        for name, ask in ASKED.items():
            with pytest.raises(GuestLost):
                pytest.fail(f"{name} gave {ask(opened.desktop)!r}")
