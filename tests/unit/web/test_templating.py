from datetime import UTC, datetime

import pytest

from backend.web.templating import duration, environment, interval, iso, moment, percent, size, with_query

NB = "\u00a0"


class TestPercent:
    @pytest.mark.parametrize(("value", "text"), [(0.7271, f"72.7{NB}%"), (0.0, f"0.0{NB}%"), (None, "\u2013")])
    def test_one_digit(self, value: float | None, text: str) -> None:
        assert percent(value) == text


class TestInterval:
    def test_both_ends(self) -> None:
        assert interval((0.55, 0.88)) == f"55.0{NB}\u2013{NB}88.0{NB}%"


class TestDuration:
    @pytest.mark.parametrize(
        ("seconds", "text"),
        [
            (0.844, f"0.84{NB}s"),
            (4.21, f"4.2{NB}s"),
            (42.4, f"42{NB}s"),
            (185, f"3{NB}min 05{NB}s"),
            (7800, f"2{NB}h 10{NB}min"),
            (None, "\u2013"),
        ],
    )
    def test_the_unit_that_reads_well(self, seconds: float | None, text: str) -> None:
        assert duration(seconds) == text


class TestSize:
    @pytest.mark.parametrize(("count", "text"), [(12, f"12{NB}B"), (12_300, f"12.3{NB}kB"), (5 * 10**9, f"5.0{NB}GB")])
    def test_decimal_units(self, count: int, text: str) -> None:
        assert size(count) == text


class TestMoment:
    def test_utc(self) -> None:
        at = datetime(2026, 11, 21, 22, 14, tzinfo=UTC)
        assert moment(at) == f"21{NB}Nov{NB}2026, 22:14"
        assert iso(at) == "2026-11-21T22:14:00.000+00:00"


class TestWithQuery:
    def test_changes_and_removes(self) -> None:
        assert with_query("/runs", {"agent": "a b", "q": ""}, after=3, agent=None) == "/runs?after=3"

    def test_escapes(self) -> None:
        assert with_query("/runs", {}, q="<&>") == "/runs?q=%3C%26%3E"


class TestEnvironment:
    def test_everything_is_escaped(self) -> None:
        text = environment().from_string("{{ x }}").render(x="<script>")
        assert text == "&lt;script&gt;"

    @pytest.mark.parametrize("name", sorted(environment().list_templates()))
    def test_no_template_has_an_inline_script_style_or_handler(self, name: str) -> None:
        source, _, _ = environment().loader.get_source(environment(), name)  # type: ignore[union-attr]
        assert "style=" not in source
        assert "<style" not in source
        assert " onclick" not in source
        assert "|safe" not in source
        assert source.count("<script") == source.count('<script type="module" src=')
