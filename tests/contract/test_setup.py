"""Every registered set-up step checks its parameters without a desktop and fails in typed errors only."""

from contextlib import suppress
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.errors import GuestLost, GuestRefused, Invalid, TaskSetupFailed
from backend.domain.registry import PluginKind
from tests.error_codes import raises_code
from tests.factories.setup_cases import all_cases
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeDesktop

registry.load()
CASES = all_cases()
RUNS = sorted(key for key, case in CASES.items() if not case.refused)
REFUSED = sorted(key for key, case in CASES.items() if case.refused)
EACH = pytest.mark.parametrize(("dialect", "name"), RUNS)


def made(dialect: str, name: str) -> Any:
    plugin = registry.entries(PluginKind.SETUP)[dialect, name]
    return plugin() if isinstance(plugin, type) else plugin


def test_every_step_is_tried() -> None:
    assert sorted(CASES) == sorted(registry.entries(PluginKind.SETUP))


@pytest.mark.parametrize(("dialect", "name"), REFUSED)
def test_unsupported_steps_are_refused_with_a_reason(dialect: str, name: str) -> None:
    with raises_code(Invalid, "invalid_step"):
        made(dialect, name).check(CASES[dialect, name].parameters)


@EACH
class TestSteps:
    def test_good_parameters_pass_and_run(self, dialect: str, name: str) -> None:
        case, step = CASES[dialect, name], made(dialect, name)
        place = case.place()
        step.check(case.parameters)
        step.run(place, case.parameters)
        assert case.done(place)

    def test_an_unknown_parameter_is_named(self, dialect: str, name: str) -> None:
        with pytest.raises(Invalid) as wrong:
            made(dialect, name).check({**CASES[dialect, name].parameters, "nonsense": 1})
        assert "nonsense" in wrong.value.path

    def test_a_parameter_of_another_type_is_named(self, dialect: str, name: str) -> None:
        for parameter in CASES[dialect, name].parameters:
            with pytest.raises(Invalid) as wrong:
                made(dialect, name).check({**CASES[dialect, name].parameters, parameter: {"odd": None}})
            assert wrong.value.path.startswith(parameter)

    def test_running_twice_harms_nothing(self, dialect: str, name: str) -> None:
        case, step = CASES[dialect, name], made(dialect, name)
        place = case.place()
        step.run(place, case.parameters)
        case.again(place)
        step.run(place, case.parameters)
        assert case.done(place)

    def test_a_dead_desktop_is_reported_as_such(self, dialect: str, name: str) -> None:
        case = CASES[dialect, name]
        if not case.asks_desktop:
            return
        place = case.place()
        place.desktop.die()
        with pytest.raises(GuestLost):
            made(dialect, name).run(place, case.parameters)

    def test_a_refusal_is_a_typed_error_or_harmless(self, dialect: str, name: str) -> None:
        case = CASES[dialect, name]
        place = (case.bare or _bare)()
        place.desktop.commands.clear()
        with suppress(GuestRefused, TaskSetupFailed):  # Anything else passes through and fails the test.
            made(dialect, name).run(place, case.parameters)
        assert place.desktop.dead == ""


def _bare() -> FakeContext:
    return FakeContext(FakeDesktop(), assets={"a": b"A"})
