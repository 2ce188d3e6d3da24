from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.errors import GuestRefused, Invalid, ProgramBroken, TaskSetupFailed
from backend.domain.model.run import ScreenSize
from backend.domain.model.task import Labels
from backend.domain.ports.desktop import ExecResult
from backend.domain.setup import run_step
from tests.error_codes import raises_code
from tests.factories.setup_cases.windows import placed
from tests.factories.starter_tasks import FakeContext, make_task
from tests.fakes.desktop import FakeDesktop, FakeWindow

registry.load()
WIDE = ScreenSize(width=1000, height=800)


def place(*windows: FakeWindow, programs: Sequence[str] = (), **labels: Any) -> FakeContext:
    """A desktop with these windows and installed programs."""
    desktop = FakeDesktop(WIDE)
    desktop.open_windows.extend(windows)
    desktop.commands["which"] = lambda words: ExecResult(returncode=int(words[0] not in programs))
    return placed(FakeContext(desktop, task=make_task(labels=Labels(**labels))))


def rectangle(window: FakeWindow) -> tuple[int, int, int, int]:
    return window.x, window.y, window.width, window.height


def perturb(context: FakeContext, how: str, seed: int = 1) -> None:
    run_step(context, "perturb_windows", {"how": how, "seed": seed})


class TestMoved:
    @pytest.mark.parametrize("seed", range(20))
    def test_lies_elsewhere_on_the_screen_with_its_size(self, seed: int) -> None:
        window = FakeWindow("task", x=100, y=100, width=400, height=300)
        perturb(place(window), "moved", seed)
        assert (window.width, window.height) == (400, 300)
        assert abs(window.x - 100) >= 125 or abs(window.y - 100) >= 100
        assert 0 <= window.x <= 600
        assert 0 <= window.y <= 500

    def test_the_same_seed_gives_the_same_place(self) -> None:
        one, same, other = (FakeWindow("task", x=0, y=0) for _ in range(3))
        for window, seed in ((one, 5), (same, 5), (other, 6)):
            perturb(place(window), "moved", seed)
        assert rectangle(one) == rectangle(same)
        assert rectangle(one) != rectangle(other)

    def test_full_screen_window_is_shrunk_first(self) -> None:
        window = FakeWindow("task", x=0, y=0, width=1000, height=800)
        perturb(place(window), "moved")
        assert (window.width, window.height) == (750, 600)
        assert (window.x, window.y) != (0, 0)

    def test_the_active_one_is_moved(self) -> None:
        below, active = FakeWindow("below"), FakeWindow("active")
        perturb(place(below, active), "moved")
        assert rectangle(below) == rectangle(FakeWindow("below"))
        assert rectangle(active) != rectangle(FakeWindow("active"))

    def test_window_that_does_not_move_fails(self) -> None:
        context = place(FakeWindow("task"))
        stays = {"window": vars(FakeWindow("task"))}
        context.desktop.routes["POST", "/setup/place_window"] = stays
        with raises_code(TaskSetupFailed, "window_not_perturbed"):
            perturb(context, "moved")

    @pytest.mark.parametrize("how", ["moved", "shrunk"])
    def test_a_task_without_a_window_says_so(self, how: str) -> None:
        with raises_code(TaskSetupFailed, "no_window_to_perturb", mentions=str(how)):
            perturb(place(), how)

    @pytest.mark.parametrize("said", [None, "ok", {}, {"window": {"x": "left"}}])
    def test_an_odd_answer_of_the_guest_is_a_failure(self, said: Any) -> None:
        context = place(FakeWindow("task"))
        context.desktop.routes["POST", "/setup/place_window"] = said
        with raises_code(TaskSetupFailed, "window_not_perturbed"):
            perturb(context, "moved")

    def test_a_guest_without_the_route_refuses(self) -> None:
        context = place(FakeWindow("task"))
        del context.desktop.routes["POST", "/setup/place_window"]
        with pytest.raises(GuestRefused):
            perturb(context, "moved")


class TestShrunk:
    def test_is_asked_to_be_small(self) -> None:
        window = FakeWindow("task", x=30, y=40)
        perturb(place(window), "shrunk")
        assert rectangle(window) == (30, 40, 136, 100)

    def refusing(self, **size: int) -> FakeContext:
        context = place(FakeWindow("task", width=300, height=200))
        answer: Mapping[str, Any] = {"window": {"x": 0, "y": 0, **size}}
        context.desktop.routes["POST", "/setup/place_window"] = answer
        return context

    def test_window_at_its_minimum_passes(self) -> None:
        perturb(self.refusing(width=300, height=200), "shrunk")

    def test_window_that_grows_fails(self) -> None:
        with raises_code(TaskSetupFailed, "window_not_perturbed"):
            perturb(self.refusing(width=301, height=200), "shrunk")

    def test_window_that_still_fills_the_screen_fails(self) -> None:
        context = place(FakeWindow("task", width=1000, height=800))
        context.desktop.routes["POST", "/setup/place_window"] = {"window": vars(context.desktop.open_windows[0])}
        with raises_code(TaskSetupFailed, "window_not_perturbed"):
            perturb(context, "shrunk")


class TestCluttered:
    PROGRAMS = ("mousepad", "thunar", "drawing")

    def test_two_programs_cover_the_window(self) -> None:
        window = FakeWindow("task")
        context = place(window, programs=self.PROGRAMS)
        perturb(context, "cluttered")
        below, *clutter = context.desktop.open_windows
        assert below is window
        assert len(clutter) == 2
        assert {result.title for result in clutter} < set(self.PROGRAMS)
        assert all(rectangle(result) == (0, 0, 1000, 800) for result in clutter)

    def test_the_seed_draws_which(self) -> None:
        drawn = set()
        for seed in range(12):
            context = place(FakeWindow("task"), programs=self.PROGRAMS)
            perturb(context, "cluttered", seed)
            drawn.add(tuple(result.title for result in context.desktop.open_windows[1:]))
        assert len(drawn) > 2

    def test_programs_named_or_opened_by_the_task_are_not_clutter(self) -> None:
        context = place(FakeWindow("a.txt", wm_class="mousepad.Mousepad"), programs=(*self.PROGRAMS, "xterm"))
        context.task = make_task(labels=Labels(requires=("thunar",)))
        perturb(context, "cluttered")
        assert {result.title for result in context.desktop.open_windows[1:]} == {"drawing", "xterm"}

    def test_too_few_programs_is_a_failure_that_names_some(self) -> None:
        with raises_code(TaskSetupFailed, "too_few_programs", mentions="2") as failed:
            perturb(place(FakeWindow("task"), programs=("drawing",)), "cluttered")
        assert "mousepad" in failed.value.hint

    def test_program_without_a_window_is_the_desktops_failure(self) -> None:
        context = place(FakeWindow("task"), programs=self.PROGRAMS)
        context.desktop.launch = lambda *_, **__: None
        with raises_code(ProgramBroken, "program_broken"):
            perturb(context, "cluttered")

    def test_a_screen_that_is_not_covered_is_a_failure(self) -> None:
        context = place(FakeWindow("task"), programs=self.PROGRAMS)
        small = {"window": {"x": 0, "y": 0, "width": 10, "height": 10}}
        context.desktop.routes["POST", "/setup/place_window"] = small
        with raises_code(TaskSetupFailed, "window_not_perturbed"):
            perturb(context, "cluttered")


class TestCheck:
    @pytest.mark.parametrize("wrong", [{}, {"how": "spun"}, {"how": "moved", "seed": -1}])
    def test_anything_else_is_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(Invalid):
            registry.lookup(registry.PluginKind.SETUP, "perturb_windows")().check(wrong)
