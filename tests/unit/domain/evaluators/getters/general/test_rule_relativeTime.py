"""Days as OSWorld's getter counts them; compared with it for each of 800 days and every pair of names."""  # noqa: N999

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.errors import EvaluatorFailed, Invalid
from backend.domain.evaluators.getters._evidence import as_json
from backend.domain.evaluators.getters.general._days import DAYS, day, format_day, second_day
from backend.domain.evaluators.getters.general.rule_relativeTime import RuleRelativeTime
from backend.domain.model.score import Blob
from tests.factories.desktops import linux

NOWHERE = Path("unused")


def at(year: int, month: int, number: int, hour: int = 12, offset: int | None = 0) -> Blob:
    clock = datetime(year, month, number, hour, tzinfo=UTC).timestamp()
    return as_json("clock", {"clock": clock, "offset": offset})


def expected(rules: dict[str, Any], blob: Blob) -> Any:
    RuleRelativeTime().check({"rules": rules})
    return RuleRelativeTime().read([blob], {"rules": rules}, NOWHERE)["expected"]


class TestOneDay:
    @pytest.mark.parametrize(
        ("name", "today", "found"),
        [
            ("tomorrow", (2026, 12, 31), "2027-01-01"),
            ("this month", (2026, 11, 22), "2026-11-22"),
            ("5th next month", (2026, 12, 31), "2027-01-05"),
            ("10th next month", (2026, 1, 31), "2026-02-10"),
            ("11th next month", (2026, 1, 31), "2026-02-11"),
            ("next Monday", (2026, 11, 22), "2026-11-23"),
            ("next Monday", (2026, 11, 23), "2026-11-30"),
            ("next Friday", (2026, 11, 27), "2026-12-04"),
            ("next Friday", (2026, 11, 26), "2026-11-27"),
            ("next Saturday", (2026, 11, 29), "2026-12-05"),
            ("next Sunday", (2026, 11, 29), "2026-12-06"),
            ("this Saturday", (2026, 11, 29), "2026-11-28"),
            ("this Sunday", (2026, 11, 29), "2026-11-29"),
            ("next week Friday", (2026, 11, 23), "2026-12-04"),
            ("next week Saturday", (2026, 11, 29), "2026-12-05"),
            ("next week Sunday", (2026, 11, 29), "2026-12-06"),
            ("first monday four months later", (2026, 11, 22), "2027-03-01"),
            ("first monday eight months later", (2026, 11, 22), "2027-07-05"),
        ],
    )
    def test_one_date_is_stored_as_time(self, name: str, today: tuple[int, int, int], found: str) -> None:
        rules = {"relativeTime": {"from": name}, "expected": {"time": "{Year}-{Month0D}-{Day0D}"}}
        assert expected(rules, at(*today)) == {"time": found}

    @pytest.mark.parametrize(("name", "today"), [("four", (2026, 8, 9)), ("eight", (2026, 4, 9))])
    def test_december_does_not_raise(self, name: str, today: tuple[int, int, int]) -> None:
        """OSWorld asks for month 0 here, and raises."""
        rules = {"relativeTime": {"from": f"first monday {name} months later"}, "expected": {"time": "{Month} {DayD}"}}
        assert expected(rules, at(*today)) == {"time": "Dec 7"}

    def test_every_template_of_a_list_is_filled_in(self) -> None:
        rules = {
            "relativeTime": {"from": "next Monday"},
            "expected": {"fromStation": ["BOM"], "time": ["{Year}", "{DayD}"]},
            "expect_in_result": True,
        }
        assert expected(rules, at(2026, 11, 22)) == {"fromStation": ["BOM"], "time": ["2026", "23"]}

    def test_other_rules_are_kept(self) -> None:
        rules = {"relativeTime": {"from": "tomorrow"}, "expected": {"time": "{DayD}"}, "expect_in_result": True}
        result = RuleRelativeTime().read([at(2026, 11, 22)], {"rules": rules}, NOWHERE)
        assert result == {"relativeTime": {"from": "tomorrow"}, "expected": {"time": "23"}, "expect_in_result": True}
        assert rules["expected"] == {"time": "{DayD}"}


class TestStretch:
    @pytest.mark.parametrize(
        ("first", "second", "found"),
        [
            ("10th next month", "11th next month", ("12-10", "12-11")),
            ("next Monday", "next Friday", ("11-30", "12-04")),
            ("tomorrow", "next Friday", ("11-26", "11-27")),
            ("next Friday", "next Sunday", ("11-27", "11-29")),
            ("next Saturday", "next Sunday", ("11-28", "11-29")),
            ("next week Friday", "next week Sunday", ("12-04", "12-06")),
            ("next week Saturday", "next week Sunday", ("12-05", "12-06")),
            ("this Saturday", "this Sunday", ("11-28", "11-29")),
        ],
    )
    def test_two_dates_are_stored_as_from_and_to(self, first: str, second: str, found: tuple[str, str]) -> None:
        """Counted from a Wednesday."""
        form = "{Month0D}-{Day0D}"
        rules = {"relativeTime": {"from": first, "to": second}, "expected": {"from": form, "to": form, "city": "X"}}
        assert expected(rules, at(2026, 11, 25)) == {"from": found[0], "to": found[1], "city": "X"}

    def test_split_into_day_month_and_year(self) -> None:
        forms = {
            f"{side}{part}": code
            for side in ("pu", "do")
            for part, code in (("Day", "{DayD}"), ("Month", "{MonthD}"), ("Year", "{Year}"))
        }
        rules = {"relativeTime": {"from": "next Monday split", "to": "next Friday split"}, "expected": forms}
        assert expected(rules, at(2026, 12, 26)) == {
            "puDay": "28", "puMonth": "12", "puYear": "2026", "doDay": "1", "doMonth": "1", "doYear": "2027",
        }  # fmt: skip

    @given(
        st.sampled_from(["next Monday", "next Friday", "next Saturday"]), st.dates(date(2020, 1, 1), date(2090, 1, 1))
    )
    @settings(max_examples=50)
    def test_a_stretch_never_ends_before_it_begins(self, first: str, today: date) -> None:
        last = "next Friday" if first == "next Monday" else "next Sunday"
        assert timedelta(0) < second_day(last, first, today) - day(first, today) < timedelta(days=7)


class TestCodes:
    def test_every_placeholder_is_formatted(self) -> None:
        codes = ("DoW", "Month", "MonthFull", "month", "MonthD", "Month0D", "DayD", "Day0D", "Year")
        result = "Sun Feb February february 2 02 1 01 2026"
        assert format_day(" ".join("{" + code + "}" for code in codes), date(2026, 2, 1)) == result

    def test_repeated_placeholder_is_replaced_everywhere(self) -> None:
        """OSWorld replaces the first only."""
        assert format_day("{DayD}/{DayD} {Nonsense}", date(2026, 2, 1)) == "1/1 {Nonsense}"


class TestZones:
    RULES = {"relativeTime": {"from": "this month"}, "expected": {"time": "{DayD}"}}  # noqa: RUF012

    def test_time_zone_of_the_rules_counts_first(self) -> None:
        rules = {**self.RULES, "timezone": "America/New_York"}
        assert expected(rules, at(2026, 11, 22, hour=2)) == {"time": "21"}

    def test_time_zone_of_the_desktop_is_the_default(self) -> None:
        assert expected(self.RULES, at(2026, 11, 22, hour=23, offset=2 * 3600)) == {"time": "23"}

    def test_desktop_is_queried_only_if_the_rules_have_no_zone(self) -> None:
        context = linux(time=1.0, python="3600")
        rules = {**self.RULES, "timezone": "Europe/Zurich"}
        assert RuleRelativeTime().collect(context, {"rules": rules})[0].data == b'{"clock": 1.0}'
        assert RuleRelativeTime().collect(context, {"rules": self.RULES})[0].data == b'{"clock": 1.0, "offset": 3600}'

    @pytest.mark.parametrize("python", ["nonsense", "", "9" * 5000])
    def test_invalid_answer_of_the_desktop_gives_no_verdict(self, python: str) -> None:
        blobs = RuleRelativeTime().collect(linux(time=1.0, python=python), {"rules": self.RULES})
        with pytest.raises(EvaluatorFailed):
            RuleRelativeTime().read(blobs, {"rules": self.RULES}, NOWHERE)

    @pytest.mark.parametrize("blob", [Blob(name="clock"), as_json("clock", []), as_json("clock", {"clock": "x"})])
    def test_evidence_without_a_time_gives_no_verdict(self, blob: Blob) -> None:
        with pytest.raises(EvaluatorFailed):
            RuleRelativeTime().read([blob], {"rules": self.RULES}, NOWHERE)

    def test_reevaluation_uses_the_recorded_day(self) -> None:
        blob = at(2026, 11, 22)
        assert expected(self.RULES, blob) == expected(self.RULES, Blob.model_validate(blob.model_dump()))


class TestCheck:
    @pytest.mark.parametrize(
        "rules",
        [
            {"relativeTime": {"from": "some day"}, "expected": {"time": "x"}},
            {"relativeTime": {"to": "tomorrow"}, "expected": {"to": "x"}},
            {"relativeTime": {"from": "tomorrow", "to": "some day"}, "expected": {"from": "x", "to": "x"}},
            {"relativeTime": {"from": "tomorrow"}, "expected": {"from": "x"}},
            {"relativeTime": {"from": "tomorrow", "to": "next Sunday"}, "expected": {"from": "x"}},
            {"relativeTime": {"from": "tomorrow"}, "expected": {"time": 7}},
            {"relativeTime": {"from": "tomorrow"}, "expected": {"time": "x"}, "timezone": "Mars/Olympus"},
            {"relativeTime": {"from": "tomorrow"}, "expected": {"time": "x"}, "timezone": "../../etc/passwd"},
            {"relativeTime": "tomorrow", "expected": {"time": "x"}},
            {"expected": {"time": "x"}},
            {},
        ],
    )
    def test_a_rule_without_meaning_is_refused(self, rules: dict[str, Any]) -> None:
        with pytest.raises(Invalid):
            RuleRelativeTime().check({"rules": rules})

    def test_every_name_is_known(self) -> None:
        for name in DAYS:
            RuleRelativeTime().check({"rules": {"relativeTime": {"from": name}, "expected": {"time": "x"}}})
