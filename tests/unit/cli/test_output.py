import json

import pytest

from backend.cli.output import Columns, Output, plain, print_object, print_rows, rate

ROWS: list[dict[str, object]] = [{"a": "[bold]x[/bold]", "b": 1}, {"a": "y", "b": None}]
COLUMNS: Columns = {"first": lambda row: row["a"], "second": lambda row: row["b"]}


class TestPrintRows:
    def test_json_is_one_array(self, capsys: pytest.CaptureFixture[str]) -> None:
        print_rows(iter(ROWS), Output.JSON, COLUMNS)
        assert json.loads(capsys.readouterr().out) == ROWS

    def test_jsonl_is_one_object_a_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        print_rows(iter(ROWS), Output.JSONL, COLUMNS)
        assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == ROWS

    def test_a_table_shows_markup_as_text(self, capsys: pytest.CaptureFixture[str]) -> None:
        print_rows(iter(ROWS), Output.TABLE, COLUMNS)
        lines = capsys.readouterr().out.splitlines()
        assert [line.split() for line in lines] == [["first", "second"], ["[bold]x[/bold]", "1"], ["y", "-"]]

    def test_an_empty_table_says_so_on_stderr(self, capsys: pytest.CaptureFixture[str]) -> None:
        print_rows([], Output.TABLE, COLUMNS, empty="no runs yet")
        assert capsys.readouterr() == ("", "no runs yet\n")

    def test_an_empty_list_is_an_empty_array(self, capsys: pytest.CaptureFixture[str]) -> None:
        print_rows([], Output.JSON, COLUMNS)
        assert json.loads(capsys.readouterr().out) == []


class TestPrintObject:
    def test_jsonl_is_one_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        print_object({"a": [1, {"b": 2}]}, Output.JSONL, lambda _: None)
        assert capsys.readouterr().out == '{"a": [1, {"b": 2}]}\n'


class TestPlain:
    @pytest.mark.parametrize(
        ("value", "text"),
        [(None, "-"), (0.123456, "0.123"), (12345.6, "12346"), (True, "yes"), (False, "no"), (7, "7")],
    )
    def test_values_are_formatted_for_people(self, value: object, text: str) -> None:
        assert plain(value) == text


class TestRate:
    def test_rate_has_its_interval(self) -> None:
        assert rate(0.75, [0.551, 0.88]) == "75.0 % (55.1-88.0)"

    def test_without_a_denominator(self) -> None:
        assert rate(None, None) == "-"
