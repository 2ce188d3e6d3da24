"""Findings of the lint on metric calls, unknown names and broken checks."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.benchmarks import findings
from backend.domain.benchmarks._options import call_problems
from backend.domain.errors import Invalid
from backend.domain.model.score import MetricValue
from backend.domain.model.task import MetricCall, SetupStep, Task
from backend.domain.registry import PluginKind
from tests.factories.starter_tasks import make_task

registry.load()
SPEC = {"type": "vm_command_line", "command": ["ls"]}
RULE = {"type": "rule", "rules": {"expected": "1"}}


def compare(result: str, expected: str, *, ratio: float = 0.5, lenient: bool = False) -> MetricValue:
    """A metric with options."""
    return MetricValue(value=float(result == expected and lenient and ratio > 0))


def look(result: str, **options: Any) -> MetricValue:
    """A metric of one argument that takes any option."""
    return MetricValue(value=1.0)


def check_options(options: Mapping[str, Any], expected: Mapping[str, Any] | None) -> None:
    """Rules of this module's metrics for their options, beyond their signatures."""
    if options.get("ratio") == 9:
        raise Invalid("expected at most 1", path="ratio")


def problems(metric: Any, *, expected: bool = True, **options: Any) -> list[tuple[str, str]]:
    call = MetricCall(func="x", result=SPEC, expected=RULE if expected else None, options=options)
    return list(call_problems(metric, call))


class TestCallProblems:
    def test_valid_call_has_no_problems(self) -> None:
        assert problems(compare, ratio=1, lenient=True) == []
        assert problems(look, expected=False, anything=[1]) == []

    def test_an_unknown_option_is_named(self) -> None:
        assert problems(compare, rato=1) == [("it has no option 'rato'", "rato")]

    def test_an_option_cannot_stand_for_an_argument(self) -> None:
        assert [option for _, option in problems(compare, result=1)] == ["result"]

    @pytest.mark.parametrize(("name", "value"), [("ratio", "much"), ("lenient", "perhaps"), ("ratio", None)])
    def test_option_of_a_wrong_type_is_reported(self, name: str, value: Any) -> None:
        ((words, option),) = problems(compare, **{name: value})
        assert words.startswith(f"option {name}: ")
        assert not option

    def test_an_expectation_that_is_missing_or_too_much(self) -> None:
        assert problems(compare, expected=False)[0][0] == "it compares with an expectation, and the task gives none"
        assert problems(look)[0][0] == "it takes no expectation, and the task gives one"

    def test_the_modules_own_check(self) -> None:
        assert problems(compare, ratio=9) == [("ratio: expected at most 1", "")]


@pytest.fixture
def broken_step() -> Iterator[str]:
    """A set-up step whose check breaks."""

    class BreakingStep:
        def check(self, parameters: Mapping[str, Any]) -> None:
            parameters["nothing"]

    registry.register(PluginKind.SETUP, "breaks-in-a-test")(BreakingStep)
    yield "breaks-in-a-test"
    registry.unregister(PluginKind.SETUP, "breaks-in-a-test")


class TestFindings:
    def unknown(self, task: Task) -> list[str]:
        return [result.unknown for result in findings(task) if result.unknown]

    def test_unknown_names_are_reported(self) -> None:
        call = MetricCall(func="exakt_match", result={"type": "vm_fil"}, expected=RULE)
        step = SetupStep(type="lunch")
        result = self.unknown(make_task(call, setup=(step,), postconfig=[{"type": "slep", "parameters": {}}]))
        assert result == ["set-up step 'lunch'", "set-up step 'slep'", "getter 'vm_fil'", "metric 'exakt_match'"]

    def test_unknown_parameters_and_options_are_reported(self) -> None:
        call = MetricCall(func="exact_match", result={**SPEC, "comand": 1}, expected=RULE, options={"slack": 1})
        step = SetupStep(type="sleep", parameters={"seconds": 1, "minutes": 1})
        assert self.unknown(make_task(call, setup=(step,))) == [
            "parameter 'minutes' of set-up step 'sleep'",
            "parameter 'comand' of getter 'vm_command_line'",
            "option 'slack' of metric 'exact_match'",
        ]

    def test_a_wrong_value_is_an_error_but_not_unknown(self) -> None:
        task = make_task(setup=(SetupStep(type="sleep", parameters={"seconds": "long"}),))
        (finding,) = findings(task)
        assert (finding.path, finding.severity, finding.unknown) == ("config.0", "error", "")

    def test_a_check_that_breaks_is_reported_and_breaks_nothing(self, broken_step: str) -> None:
        (finding,) = findings(make_task(setup=(SetupStep(type=broken_step),)))
        assert finding.message == "the check of set-up step 'breaks-in-a-test' broke: KeyError: 'nothing'"

    @pytest.mark.parametrize(
        ("command", "odd"),
        [
            ("echo {CLIENT_PASSWORD}", False),
            ("echo {CLIENT_PASWORD}", True),
            ("echo ${HOME} {lower} {{DOUBLE}}", False),
            (["python", "-c", "print('{SCREEN_WIDHT}')"], True),
        ],
    )
    def test_templates_that_there_are_not(self, command: Any, odd: bool) -> None:  # noqa: FBT001 - a column of the table
        task = make_task(setup=(SetupStep(type="execute", parameters={"command": command}),))
        result = [finding.severity for finding in findings(task.model_copy(update={"dialect": "osworld"}))]
        assert result == (["warning"] if odd else [])
