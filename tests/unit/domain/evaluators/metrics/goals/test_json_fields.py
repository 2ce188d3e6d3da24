import json
from pathlib import Path
from typing import Any

import pytest

from backend.domain.evaluators.metrics.goals.json_fields import json_fields


class TestJsonFields:
    @pytest.fixture
    def path(self, tmp_path: Path) -> str:
        (tmp_path / "a.json").write_text(json.dumps({"room": {"name": "Oak"}, "projector": True}))
        return str(tmp_path / "a.json")

    def test_dotted_paths_lead_to_nested_fields(self, path: str) -> None:
        assert json_fields(path, {"expected": {"room.name": "Oak", "projector": True}}).value == 1.0

    def test_one_of_several_values_suffices(self, path: str) -> None:
        assert json_fields(path, {"expected": {"room.name": ["Elm", "Oak"]}}).value == 1.0

    @pytest.mark.parametrize(
        ("data", "expected", "value"),
        [
            ({"editor.fontSize": 14}, {"editor.fontSize": 14}, 1.0),
            ({"editor": {"fontSize": 14}}, {"editor.fontSize": 14}, 1.0),
            ({"[python]": {"editor.tab.size": 2}}, {"[python].editor.tab.size": 2}, 1.0),
            ({"a.b": {"c.d": 1}}, {"a.b.c.d": 1}, 1.0),
            ({"a": {"b": 1}, "a.b": 2}, {"a.b": 1}, 0.0),
            ({"a": {"b": 1}, "a.b": 1}, {"a.b": 1}, 1.0),
            ({"editor.fontSize": 14}, {"editor": 14}, 0.0),
            ({"": {"": 1}}, {".": 1}, 1.0),
            ({"a": True}, {"a": 1}, 0.0),
            ({"a": 0}, {"a": False}, 0.0),
            ({"a": 0}, {"a": [False, None]}, 0.0),
            ({"a": [1, {"b": True}]}, {"a": [[1, {"b": 1}]]}, 0.0),
            ({"a": 1.0}, {"a": 1}, 1.0),
        ],
    )
    def test_keys_with_dots_and_types(
        self, data: dict[str, Any], expected: dict[str, Any], value: float, tmp_path: Path
    ) -> None:
        (tmp_path / "b.json").write_text(json.dumps(data))
        assert json_fields(str(tmp_path / "b.json"), {"expected": expected}).value == value

    def test_a_missing_field_is_named(self, path: str) -> None:
        result = json_fields(path, {"expected": {"room.name": "Oak", "projector.on": True}, "partial": True})
        assert result.value == 0.5
        assert "projector.on is missing" in result.reasons[1]

    @pytest.mark.parametrize("text", ["", "{", "[" * 100_000])
    def test_text_that_is_not_json_scores_0(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "b.json").write_text(text)
        assert json_fields(str(tmp_path / "b.json"), {"expected": {"a": 1}}).reasons == ("the file is not JSON",)

    def test_missing_file_scores_0(self) -> None:
        assert json_fields(None, {"expected": {"a": 1}}).value == 0.0
