"""`check_python_file_by_test_suite`: a program passes the task's tests."""

import math
from collections.abc import Sequence

from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.vscode._suite import run_suite
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

RESTS_ON = "this verdict rests on running the agent's program"


@register(PluginKind.METRIC, "check_python_file_by_test_suite")
def check_python_file_by_test_suite(
    result: str | Sequence[str | None] | None, expected: str | None, *, test_function_name: str = "test"
) -> MetricValue:
    """The function's result as a number from 0 to 1; other true values count as 1. An exception is 0.

    Args:
        result: path of one of the program's files, or of all; siblings are copied as well.
        expected: path of the test file.
        test_function_name: the function of the test file that is called.
    """
    answer, reason = run_suite(result, expected, test_function_name)
    if answer is None:
        return verdict(met=False, reason=reason)
    number = answer["number"]
    value = float(bool(answer["true"])) if not isinstance(number, int | float) or math.isnan(number) else number
    return MetricValue(value=min(1.0, max(0.0, value)), reasons=(f"the tests returned {value:g}", RESTS_ON))


@register(PluginKind.METRIC, "check_python_file_by_test_suite", dialect="waa")
def check_python_file_by_test_suite_waa(
    result: str | Sequence[str | None] | None, expected: str | None, *, test_function_name: str = "test"
) -> MetricValue:
    """`check_python_file_by_test_suite` of WindowsAgentArena: a program passes the task's tests.

    1 if the function returns a true value.

    Args:
        result: path of one of the program's files, or of all; siblings are copied as well.
        expected: path of the test file.
        test_function_name: the function of the test file that is called.
    """
    answer, reason = run_suite(result, expected, test_function_name)
    if answer is None:
        return verdict(met=False, reason=reason)
    value = float(bool(answer["true"]))
    return MetricValue(value=value, reasons=(f"the tests returned {bool(answer['true'])}", RESTS_ON))
