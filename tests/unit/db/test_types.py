import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import postgresql

from backend.db.types import Timestamp, clean_json, clean_text, dump_json, one_of
from backend.domain.model.episode import RunState

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
)


class TestCleanText:
    @pytest.mark.parametrize(
        ("given_", "expected"),
        [("plain", "plain"), ("häßlich 😀", "häßlich 😀"), ("a\x00b", "a\ufffdb"), ("a\ud800", "a?"), ("", "")],
    )
    def test_replaces_only_invalid_characters(self, given_: str, expected: str) -> None:
        assert clean_text(given_) == expected

    @given(st.text(st.characters()))
    def test_the_result_can_be_written(self, value: str) -> None:
        assert "\x00" not in clean_text(value)
        clean_text(value).encode()


class TestDumpJson:
    @given(VALUES)
    def test_is_always_json_that_postgresql_takes(self, value: Any) -> None:
        text = dump_json(value)
        text.encode()
        assert "\\u0000" not in text
        assert json.loads(text) == clean_json(value)

    def test_nan_and_infinity_become_null(self) -> None:
        assert dump_json({"a": [float("nan"), float("inf"), 1.5]}) == '{"a":[null,null,1.5]}'

    def test_tuples_are_lists(self) -> None:
        assert dump_json((1, (2,))) == "[1,[2]]"


class TestTimestamp:
    def test_a_time_without_a_zone_is_refused(self) -> None:
        dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
        naive = datetime(2026, 1, 1)  # noqa: DTZ001 - this is what is refused
        with pytest.raises(ValueError, match="no time zone"):
            Timestamp().process_bind_param(naive, dialect)
        assert Timestamp().process_bind_param(naive.replace(tzinfo=UTC), dialect) is not None


class TestOneOf:
    def test_lists_an_enums_words(self) -> None:
        assert str(one_of("state", RunState).sqltext).startswith("state IN ('queued', 'running',")
        assert str(one_of("state", ("a",), optional=True).sqltext) == "state IS NULL OR state IN ('a')"
