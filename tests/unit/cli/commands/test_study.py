import json
from pathlib import Path
from typing import Any

import pytest

from backend.cli.commands.study import factors, read, set_values
from backend.cli.errors import UsageError
from backend.cli.tables.studies import difference, drop, flat, level, show_results
from tests.error_codes import raises_code

RATE = {"base": 0.8, "level": 0.4, "difference": -0.4, "interval": [-0.6, 0.0], "relative_drop": 0.5}
ROW: dict[str, Any] = {
    "factor": "image.scale",
    "base": 1,
    "level": 0.5,
    "pairs": 5,
    "tasks": 5,
    "success_rate": RATE,
    "mean_score": None,
    "only_base": 2,
    "only_level": 0,
    "test": "exact McNemar test",
    "p_value": 0.5,
    "p_adjusted": 1.0,
    "excluded": {"lost (guest)": 1},
    "measures": {},
}
RESULTS: dict[str, Any] = {
    "study": {"id": "s"},
    "conclusion": "It differs.",
    "methods": "By hand.",
    "comparisons": [ROW],
    "sensitivity": [],
    "shapes": [],
    "cells": [],
}


class TestFactors:
    def test_levels_are_json_where_they_can_be(self) -> None:
        words = ["image.scale=1,0.5", "perturbation=none, moved"]
        words += ["screen=1920x1080,1280x800", 'params.a=[{"b": [1]}, "x,y"]']
        assert factors(words) == {
            "image.scale": [1, 0.5],
            "perturbation": [None, "moved"],
            "screen": ["1920x1080", "1280x800"],
            "params.a": [{"b": [1]}, "x,y"],
        }

    @pytest.mark.parametrize("word", ["scale", "=1,2", "scale=", "scale=[1,"])
    def test_anything_else_is_refused(self, word: str) -> None:
        with raises_code(UsageError, "invalid_option"):
            factors([word])

    def test_a_factor_twice_is_refused(self) -> None:
        with raises_code(UsageError, "invalid_option"):
            factors(["a=1,2", "a=3,4"])


class TestRead:
    def test_study_is_read_from_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "study.json").write_text(json.dumps({"name": "n"}))
        assert read(tmp_path / "study.json") == {"name": "n"}

    @pytest.mark.parametrize("text", ["[]", "{", ""])
    def test_study_file_must_be_a_json_object(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "study.json").write_text(text)
        with raises_code(UsageError, "file_not_json", mentions="JSON"):
            read(tmp_path / "study.json")

    def test_missing_study_file_is_an_error(self, tmp_path: Path) -> None:
        with raises_code(UsageError, "file_not_readable"):
            read(tmp_path / "study.json")


class TestGiven:
    def test_omits_unset_values(self) -> None:
        assert set_values({"a": 0, "b": None, "c": ""}) == {"a": 0, "c": ""}


class TestWords:
    def test_formats_rates_and_levels(self) -> None:
        assert difference(RATE) == "-40.0 (-60.0 to +0.0)"
        assert (drop(RATE), drop(None), drop({**RATE, "relative_drop": None})) == ("50.0 %", "-", "-")
        assert (difference(None), level(None), level("a"), level({"b": 1})) == ("-", "none", "a", '{"b": 1}')

    def test_a_row_of_a_csv(self) -> None:
        row = flat(ROW)
        assert row["success_rate_low"] == -0.6
        assert row["mean_score_difference"] is None
        assert row["excluded"] == "lost (guest) 1"

    def test_results_as_tables(self, capsys: pytest.CaptureFixture[str]) -> None:
        show_results(RESULTS)
        said = capsys.readouterr().out
        assert "It differs." in said
        assert "image.scale=0.5" in said
        assert "-40.0 (-60.0 to +0.0)" in said
        assert "unmatched" not in said

    def test_measures_as_tables(self, capsys: pytest.CaptureFixture[str]) -> None:
        compared = {**ROW, "measures": {"CR": {"difference": RATE, "pairs": 4, "undefined": 1}}}
        varied = {"factor": "variant", "levels": 3, "of": "CR", "mean_deviation": 0.125, "tasks": 10}
        shape: dict[str, Any] = {
            "levels": {},
            "of": "LC",
            "difference": None,
            "p_value": None,
            "pairs": 0,
            "unmatched": 7,
        }
        show_results({**RESULTS, "comparisons": [compared], "sensitivity": [varied], "shapes": [shape]})
        said = capsys.readouterr().out
        assert "CR       -40.0 (-60.0 to +0.0)" in said
        assert "12.5" in said
        assert "unmatched" in said
