"""Every registered set-up step checks its parameters without a desktop and fails in typed errors only."""

from contextlib import suppress
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.errors import GuestLost, GuestRefused, Invalid, TaskSetupFailed
from backend.domain.registry import Kind
from backend.domain.setup._steps import find_step
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeDesktop

registry.load()
GOOD: dict[str, dict[str, Any]] = {
    "activate_window": {"window_name": "editor"},
    "close_window": {"window_name": "editor"},
    "command": {"command": ["true"]},
    "create_file": {"path": "/home/user/a.txt", "content": "a"},
    "create_folder": {"path": "/home/user/a"},
    "download": {"files": [{"url": "asset:a", "path": "/home/user/a"}]},
    "execute": {"command": "true", "shell": False},
    "launch": {"command": ["editor"]},
    "open": {"path": "/home/user/old.txt"},
    "sleep": {"seconds": 0.01},
    "upload_file": {"files": [{"local_path": "a", "path": "/home/user/a"}]},
}
STEPS = registry.names(Kind.SETUP)


def context() -> FakeContext:
    desktop = FakeDesktop()
    desktop.launch("editor")
    desktop.files["/home/user/old.txt"] = b"old"
    return FakeContext(desktop, assets={"a": b"A"})


def test_every_step_has_an_example_here() -> None:
    assert sorted(GOOD) == STEPS


@pytest.mark.parametrize("name", STEPS)
class TestSteps:
    def test_good_parameters_pass_and_run(self, name: str) -> None:
        step = find_step(name, "starter")
        step.check(GOOD[name])
        step.run(context(), GOOD[name])

    def test_an_unknown_parameter_is_named(self, name: str) -> None:
        with pytest.raises(Invalid) as wrong:
            find_step(name, "starter").check({**GOOD[name], "nonsense": 1})
        assert "nonsense" in wrong.value.path

    def test_a_parameter_of_another_type_is_named(self, name: str) -> None:
        with pytest.raises(Invalid) as wrong:
            find_step(name, "starter").check({next(iter(GOOD[name])): {"odd": None}})
        assert wrong.value.path

    def test_running_twice_harms_nothing(self, name: str) -> None:
        place = context()
        step = find_step(name, "starter")
        step.run(place, GOOD[name])
        if name == "close_window":
            place.desktop.launch("editor")
        step.run(place, GOOD[name])

    def test_a_dead_desktop_is_told_as_such(self, name: str) -> None:
        place = context()
        assert isinstance(place.desktop, FakeDesktop)
        place.desktop.die()
        with pytest.raises(GuestLost):
            find_step(name, "starter").run(place, GOOD[name])

    def test_a_refusal_is_a_typed_error_or_harmless(self, name: str) -> None:
        place = FakeContext(FakeDesktop(), assets={"a": b"A"})
        assert isinstance(place.desktop, FakeDesktop)
        place.desktop.commands.clear()
        with suppress(GuestRefused, TaskSetupFailed):  # Anything else passes through and fails the test.
            find_step(name, "starter").run(place, GOOD[name])
        assert place.desktop.dead == ""
