"""Settings with errors: VS Code reads the rest."""

from pathlib import Path
from typing import Any

import pytest

from backend.domain.evaluators.metrics.vscode.check_json_settings import check_json_settings
from backend.domain.evaluators.metrics.vscode.compare_config import compare_config


@pytest.mark.parametrize(
    ("text", "expected", "value"),
    [
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}, 1.0),
        ('{"a": 1,, "b": 2}', {"a": 1, "b": 2}, 1.0),
        ('{, "a": 1}', {"a": 1}, 1.0),
        ('{"a": 1, "b": 2', {"a": 1, "b": 2}, 1.0),
        ('{"a": {"b": [1, 2', {"a": {"b": [1, 2]}}, 1.0),
        ('{"a": [1 2]}', {"a": [1, 2]}, 1.0),
        ('{"a": [1,,2,]}', {"a": [1, 2]}, 1.0),
        ('{"a": 1} }', {"a": 1}, 1.0),
        ('{"a" 1, "b": 2}', {"b": 2}, 1.0),
        ('{"a" 1, "b": 2}', {"a": 1}, 0.0),
        ('{"a": , "b": 2}', {"b": 2}, 1.0),
        ('{"a": , "b": 2}', {"a": None}, 0.0),
        ("{'a': 1, \"b\": 2}", {"b": 2}, 1.0),
        ("{'a': 1}", {"a": 1}, 0.0),
        ('{"a": 1 // no comma\n"b": 2}', {"b": 2}, 1.0),
        ('{"a": "x // y" "b": "/* */"}', {"a": "x // y", "b": "/* */"}, 1.0),
        ('{"a": True, "b": 2}', {"b": 2}, 1.0),
        ('{"a": True, "b": 2}', {"a": True}, 0.0),
        ('{"a": 01, "b": 2}', {"a": 1}, 0.0),
        ('{"a": 1 "a": 2}', {"a": 2}, 1.0),
        ("a = 1", {"a": 1}, 0.0),
        ("", {"a": 1}, 0.0),
        ("{" * 100_000, {"a": 1}, 0.0),
        ('{"a":' * 100_000, {"a": 1}, 0.0),
    ],
)
def test_what_vs_code_reads(tmp_path: Path, text: str, expected: dict[str, Any], value: float) -> None:
    (tmp_path / "settings.json").write_text(text)
    path = str(tmp_path / "settings.json")
    assert check_json_settings(path, {"expected": expected}).value == value
    assert check_json_settings(path, {"expected": expected}, strict_upstream=True).value == 0.0


def test_a_text_is_no_broken_json(tmp_path: Path) -> None:
    (tmp_path / "a.ini").write_text("[section]\nkey = 1\n")
    path = str(tmp_path / "a.ini")
    expected = ["[section]\r\nkey = 1", "key = 1", "[section] key"]
    assert [compare_config(path, {"expected": text}).value for text in expected] == [1.0, 1.0, 0.0]
