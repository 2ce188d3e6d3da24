"""Getters of rules, commands and what is on the screen."""

from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.ports.desktop import ExecResult
from tests.factories.desktops import linux
from tests.factories.getter_cases import GetterCase
from tests.factories.starter_tasks import FakeContext

NEW_YEARS_EVE = 1_798_714_800.0
"""2026-12-31 11:00 UTC, a Thursday."""


def with_command(output: str = "", error: str = "") -> FakeContext:
    context = linux()
    context.desktop.commands["tool"] = lambda _: ExecResult(returncode=0, output=output, error=error)
    return context


def with_terminal(answer: Any) -> FakeContext:
    return linux(routes={("GET", "/terminal"): answer})


CASES = {
    "rule": GetterCase(parameters={"rules": {"expected": 1}}, found=linux, value={"expected": 1}),
    "rule_relativeTime": GetterCase(
        parameters={
            "rules": {
                "relativeTime": {"from": "tomorrow"},
                "expected": {"end": "ORD", "time": "{DoW}, {Month} {Day0D}, {Year}"},
            }
        },
        found=lambda: linux(python="3600\n", time=NEW_YEARS_EVE),
        value={"relativeTime": {"from": "tomorrow"}, "expected": {"end": "ORD", "time": "Fri, Jan 01, 2027"}},
        absent=linux,
        absent_value=EvaluatorFailed,
    ),
    "time_diff_range": GetterCase(
        parameters={"diff_range_in_minutes": "60"},
        found=lambda: linux(python="3600\n", time=NEW_YEARS_EVE),
        value={"minutes": "60", "now": "12:00"},
        absent=linux,
        absent_value=EvaluatorFailed,
    ),
    "replay": GetterCase(
        parameters={"trajectory": [{"type": "hotkey", "param": ["ctrl", "s"]}, {"type": "press", "param": "enter"}]},
        found=linux,
        value=None,
    ),
    "vm_command_line": GetterCase(
        parameters={"command": ["tool", "--version"]},
        found=lambda: with_command(output="1.0\n"),
        value="1.0\n",
        absent=linux,
    ),
    "vm_command_error": GetterCase(
        parameters={"command": "tool --version"},
        found=lambda: with_command(error="Error: no\n"),
        value="Error: no\n",
        absent=linux,
    ),
    "vm_terminal_output": GetterCase(
        parameters={},
        found=lambda: with_terminal({"output": "$ stty size\n43 132", "status": "success"}),
        value="$ stty size\n43 132",
        absent=lambda: with_terminal({"output": None, "status": "success"}),
    ),
    "accessibility_tree": GetterCase(
        parameters={},
        found=lambda: linux(tree="<desktop-frame/>"),
        value="<desktop-frame/>",
        absent=lambda: linux(tree=""),
        absent_value="",
    ),
}
