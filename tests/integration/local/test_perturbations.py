"""A study's changes of windows, on a real desktop, after a task's own set-up."""

from collections.abc import Iterator

import pytest

from backend.config import Settings
from backend.domain import registry
from backend.domain.errors import TaskSetupFailed
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Window
from backend.domain.ports.desktop import Desktop, DesktopSpec
from backend.domain.setup import run_step
from tests.error_codes import raises_code
from tests.factories.starter_tasks import FakeContext
from worker.providers.local import LocalProvider

pytestmark = pytest.mark.desktop
SCREEN = ScreenSize(width=1280, height=800)
NOTES = "/home/user/notes.txt"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desktop]:
    """One desktop for all tests here."""
    registry.load()
    provider = LocalProvider(Settings(data_dir=tmp_path_factory.mktemp("perturbations")))
    offer = provider.availability()
    if not offer.ok:
        pytest.skip(f"needs local desktops: {offer.reason}")
    if "mousepad" not in offer.programs:
        pytest.skip("needs mousepad: `make setup` installs it")
    yield provider.open(SlotRef(0), DesktopSpec(screen=SCREEN)).desktop
    provider.close()


@pytest.fixture
def desktop(shared: Desktop) -> Desktop:
    """With an editor as the only window."""
    shared.call("POST", "/setup/close_all", {})
    shared.write_file(NOTES, b"notes\n")
    shared.open_file(NOTES)
    shared.activate_window("notes.txt")
    return shared


def perturb(desktop: Desktop, how: str, seed: int = 1) -> None:
    run_step(FakeContext(desktop), "perturb_windows", {"how": how, "seed": seed})


def notes(desktop: Desktop) -> Window:
    return next(window for window in desktop.windows() if "notes.txt" in window.title)


def rectangle(window: Window) -> tuple[int, int, int, int]:
    return window.x, window.y, window.width, window.height


class TestMoved:
    def test_window_moves_to_a_seeded_position(self, desktop: Desktop) -> None:
        before = notes(desktop)
        perturb(desktop, "moved", 5)
        after = notes(desktop)
        assert (after.width, after.height) == (before.width, before.height)
        assert abs(after.x - before.x) >= 160 or abs(after.y - before.y) >= 100
        assert 0 <= after.x <= SCREEN.width - after.width
        assert 0 <= after.y <= SCREEN.height - after.height
        assert after.active
        desktop.call("POST", "/setup/place_window", {"window_name": "notes.txt", "x": before.x, "y": before.y})
        perturb(desktop, "moved", 5)
        assert rectangle(notes(desktop)) == rectangle(after)

    def test_full_screen_window_is_shrunk_first(self, desktop: Desktop) -> None:
        desktop.call("POST", "/setup/place_window", {"window_name": "notes.txt", "maximized": True})
        perturb(desktop, "moved")
        after = notes(desktop)
        assert (after.width, after.height) == (960, 600)
        assert after.x >= 160 or after.y >= 100


class TestShrunk:
    @pytest.mark.parametrize("maximized", [False, True])
    def test_window_shrinks_to_its_minimum(self, desktop: Desktop, *, maximized: bool) -> None:
        wanted = {"maximized": True} if maximized else {"width": 900, "height": 600}
        desktop.call("POST", "/setup/place_window", {"window_name": "notes.txt", **wanted})
        perturb(desktop, "shrunk")
        after = notes(desktop)
        assert after.width < 500
        assert after.height < 300
        desktop.call("POST", "/setup/place_window", {"window_name": "notes.txt", "width": 136, "height": 100})
        assert rectangle(notes(desktop)) == rectangle(after)


class TestCluttered:
    def test_two_programs_cover_it_and_it_is_not_active(self, desktop: Desktop) -> None:
        perturb(desktop, "cluttered", 3)
        below, *clutter = desktop.windows()
        assert "notes.txt" in below.title
        assert not below.active
        assert len(clutter) == 2
        assert clutter[-1].active
        assert all(window.width >= SCREEN.width * 3 / 4 for window in clutter)
        assert len({window.wm_class for window in clutter} | {below.wm_class}) == 3


class TestNoWindow:
    def test_the_failure_says_what_is_missing(self, shared: Desktop) -> None:
        shared.call("POST", "/setup/close_all", {})
        with raises_code(TaskSetupFailed, "no_window_to_perturb"):
            perturb(shared, "moved")
