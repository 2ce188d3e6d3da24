import io
import json
from typing import Any

import pytest

from backend.domain.training.chat import Chat
from backend.domain.training.trajectories import Trajectories
from backend.services.export.rows import JsonLines, Parquet, json_line, plain
from tests.factories.recorded import recorded


class TestJsonLine:
    def test_text_stays_readable(self) -> None:
        assert json_line({"a": "é"}) == '{"a": "é"}\n'.encode()

    def test_a_lone_surrogate_is_escaped(self) -> None:
        assert json.loads(json_line({"a": "\ud800"})) == {"a": "\ud800"}


class TestJsonLines:
    def test_json_lines_are_counted(self) -> None:
        file = io.BytesIO()
        assert JsonLines().write(({"n": n} for n in range(3)), file) == 3
        assert file.getvalue().count(b"\n") == 3


class TestPlain:
    def test_absent_keys_are_none_and_json_is_text(self) -> None:
        column: Any = {"a": "text", "b": ["json"]}
        assert plain({"b": [{"y": 1, "x": 2}]}, column) == {"a": None, "b": ['{"x": 2, "y": 1}']}


class TestParquet:
    @pytest.mark.parametrize("form", [Trajectories(), Chat()])
    def test_is_read_back(self, form: Any) -> None:
        parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: make setup")
        rows = list(form.rows(recorded()))
        file = io.BytesIO()
        assert Parquet(form.columns).write(rows, file) == len(rows)
        found = parquet.read_table(io.BytesIO(file.getvalue())).to_pylist()
        assert found == [{name: plain(row[name], column) for name, column in form.columns.items()} for row in rows]
        assert list(found[0]) == list(form.columns)

    def test_has_the_same_bytes_every_time(self) -> None:
        pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: make setup")
        files = [io.BytesIO(), io.BytesIO()]
        for file in files:
            Parquet(Chat().columns).write(Chat().rows(recorded()), file)
        assert files[0].getvalue() == files[1].getvalue()
