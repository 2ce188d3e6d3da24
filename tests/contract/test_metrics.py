"""Every registered metric: whatever an agent left behind, the answer is a verdict with reasons."""

import os
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from backend.domain import registry
from backend.domain.registry import Kind
from backend.domain.score import MetricValue

registry.load()
FILE_RULES: dict[str, dict[str, Any]] = {
    "bookmark_saved": {"url": "/x"},
    "document_goals": {"paragraphs": ["x"]},
    "json_fields": {"expected": {"a": 1}},
    "picture_goals": {"size": [1, 1]},
    "sheet_goals": {"cells": {"A!A1": {"value": 1}}},
    "text_goals": {"lines": ["x"]},
}
"""Metrics of a file with rules that hardly any file meets."""
COMPARING = ("compare_text_file", "diff_text_file", "same_picture")
VALUE_RULES: dict[str, tuple[Any, dict[str, Any]]] = {
    "check_include_exclude": (None, {"include": ["x"]}),
    "exact_match": (None, {"expected": "x"}),
    "folder_goals": (None, {"goals": [{"present": "x"}]}),
    "number_in_text": (None, {"expected": 1}),
    "settings_match": (None, {"expected": {"a": "1"}}),
    "widget_value": ("<desktop-frame/>", {"app": "a", "role": "text", "text": "x"}),
}
"""Metrics of a value, with the value of an absent thing and rules."""


def metric(name: str) -> Any:
    return registry.lookup(Kind.METRIC, name)


@pytest.fixture(params=["absent", "empty", "noise", "zip", "text", "folder"])
def odd_file(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    """Things that may lie where a file is expected."""
    path = tmp_path / "odd"
    contents = {"empty": b"", "noise": os.urandom(5000), "zip": b"PK\x05\x06" + bytes(18), "text": b"hello\n" * 9}
    if request.param == "absent":
        return None
    if request.param == "folder":
        path.mkdir()
    else:
        path.write_bytes(contents[request.param])
    return str(path)


def check(found: object) -> MetricValue:
    assert isinstance(found, MetricValue)
    assert 0.0 <= found.value < 1.0
    assert found.reasons
    assert all(isinstance(reason, str) and reason for reason in found.reasons)
    return found


class TestMetrics:
    @pytest.mark.parametrize("name", FILE_RULES)
    def test_any_file_gets_a_verdict(self, name: str, odd_file: str | None) -> None:
        check(metric(name)(odd_file, FILE_RULES[name]))

    @pytest.mark.parametrize("name", COMPARING)
    def test_any_file_is_compared(self, name: str, odd_file: str | None, tmp_path: Path) -> None:
        expected = tmp_path / ("wanted.png" if name == "same_picture" else "wanted.txt")
        if name == "same_picture":
            Image.new("RGB", (8, 8), "red").save(expected)
        else:
            expected.write_text("something else\n")
        check(metric(name)(odd_file, str(expected)))

    @pytest.mark.parametrize("name", VALUE_RULES)
    def test_an_absent_value_gets_a_verdict(self, name: str) -> None:
        value, rules = VALUE_RULES[name]
        assert check(metric(name)(value, rules)).value == 0.0
