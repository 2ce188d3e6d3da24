"""Forms of a draft: what nobody edited is the same after a save."""

from typing import Any

import pytest

from backend.domain.drafts.content import DraftContent
from backend.domain.model.task import MetricCall, SetupStep
from backend.services.authoring.draft_forms import Plugin, check_rows, parse_checks, parse_steps, step_rows
from tests.factories.drafts import LIST, make_content


def sent(*shown: Plugin | None) -> dict[str, str]:
    """A browser's fields of these plug-ins."""
    found: dict[str, str] = {}
    for one in shown:
        if one is not None:
            found |= {f"{one.prefix}.name": one.name}
            found |= {f"{one.prefix}.p.{field.name}": text for field, text in one.fields}
    return {name: text.replace("\r\n", "\n") for name, text in found.items()}


class TestSaved:
    @pytest.mark.parametrize(
        ("step", "parameters"),
        [
            ("launch", {"command": "[1]"}),
            ("launch", {"command": ["mousepad", "12"]}),
            ("launch", {"command": 5}),
            ("create_file", {"path": LIST, "content": ""}),
            ("create_file", {"path": LIST, "content": "\nbread\r\n"}),
            ("create_file", {"path": 5, "colour": "red"}),
            ("nothing_of_that_name", {"a": 1}),
        ],
    )
    def test_saved_step_is_parsed_unchanged(self, step: str, parameters: dict[str, Any]) -> None:
        content = make_content(setup=(SetupStep(type=step, parameters=parameters),))
        typed = sent(*step_rows(content))
        assert parse_steps(content.dialect, typed, whole=True) == [{"type": step, "parameters": parameters}]

    @pytest.mark.parametrize("rules", [{"expected": "12"}, "strict", "5", 5, ["[1]"], "", None])
    def test_saved_check_is_parsed_unchanged(self, rules: object) -> None:
        expected = {"type": "rule", "rules": rules}
        content = make_content(checks=(MetricCall(func="exact_match", expected=expected, options={"own": "[1]"}),))
        (row,) = check_rows(content)
        typed = sent(row.metric, row.result, row.expected)
        (found,) = parse_checks(content.dialect, typed, whole=False)
        assert DraftContent(domain="a", name="b", checks=(MetricCall(**found),)).checks == content.checks
