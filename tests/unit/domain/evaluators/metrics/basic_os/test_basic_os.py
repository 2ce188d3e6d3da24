from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.basic_os.check_gnome_favorite_apps import check_gnome_favorite_apps
from backend.domain.evaluators.metrics.basic_os.check_moved_jpgs import check_moved_jpgs
from backend.domain.evaluators.metrics.basic_os.check_text_enlarged import check_text_enlarged
from backend.domain.evaluators.metrics.basic_os.is_in_vm_clickboard import is_in_vm_clickboard
from backend.domain.evaluators.metrics.basic_os.is_utc_0 import is_utc_0

STATUS = """               Local time: Thu 2024-01-25 12:56:06 WET
           Universal time: Thu 2024-01-25 12:56:06 UTC
                 RTC time: Thu 2024-01-25 12:56:05
                Time zone: {}
System clock synchronized: yes
"""


class TestCheckGnomeFavoriteApps:
    RULES = {"expected": ["a.desktop", "b.desktop"]}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("['b.desktop', 'a.desktop']\n", 1),
            ("['a.desktop','b.desktop']", 1),
            ("['a.desktop', \"b.desktop\"]", 1),
            ("['a.desktop']", 0),
            ("['a.desktop', 'a.desktop']", 0),
            ("['a.desktop', 'b.desktop', 'b.desktop']", 0),
            ("@as []", 0),
            ("", 0),
            (None, 0),
            ("No such schema", 0),
        ],
    )
    def test_favourites_must_be_the_same_names_in_any_order(self, text: str | None, value: int) -> None:
        assert check_gnome_favorite_apps(text, self.RULES).value == value

    def test_empty_list_of_favourites_may_be_expected(self) -> None:
        assert check_gnome_favorite_apps("@as []\n", {"expected": []}).value == 1

    @pytest.mark.parametrize(
        "text",
        [
            "__import__('os').abort()",
            "['a.desktop', 'b.desktop'] and __import__('os').abort()",
            "[__import__('os').abort()]",
            "['a.desktop'" * 9000,
            "[" * 90_000,
        ],
    )
    def test_text_of_the_desktop_is_never_executed(self, text: str) -> None:
        assert check_gnome_favorite_apps(text, self.RULES).value == 0

    @pytest.mark.parametrize("rules", [{}, {"expected": "a.desktop"}, {"expected": None}, None])
    def test_invalid_rules_give_no_verdict(self, rules: Any) -> None:
        with pytest.raises(EvaluatorFailed):
            check_gnome_favorite_apps("[]", rules)


class TestIsUtc0:
    @pytest.mark.parametrize(
        ("zone", "value"),
        [
            ("Atlantic/Faroe (WET, +0000)", 1),
            ("Etc/UTC (UTC, +0000)", 1),
            ("Europe/Zurich (CET, +0100)", 0),
            ("n/a", 0),
        ],
    )
    def test_only_zones_of_offset_zero_pass(self, zone: str, value: int) -> None:
        assert is_utc_0(STATUS.format(zone)).value == value

    @pytest.mark.parametrize("text", [None, "", "System has not been booted with systemd\n", "a\nb\nc\nx +0000)"])
    def test_output_without_time_zone_scores_0(self, text: str | None) -> None:
        assert is_utc_0(text).value == 0


class TestCheckTextEnlarged:
    @pytest.mark.parametrize(
        ("text", "value"),
        [("1.25\n", 1), ("1.0", 0), ("0.9", 0), ("nan", 0), ("inf", 0), ("", 0), (None, 0), ("x", 0), ("1_5", 0)],
    )
    def test_only_factors_above_1_pass(self, text: str | None, value: int) -> None:
        assert check_text_enlarged(text).value == value


class TestCheckMovedJpgs:
    RULES = {"expected": ["a.jpg", "b.jpg"]}  # noqa: RUF012

    def tree(self, *names: str) -> dict[str, Any]:
        return {"children": [{"type": "file", "name": name} for name in names]}

    @pytest.mark.parametrize(
        ("names", "value"),
        [(("b.jpg", "a.jpg"), 1), (("a.jpg",), 0), (("a.jpg", "b.jpg", "c.jpg"), 0), (("a.jpg", "B.jpg"), 0), ((), 0)],
    )
    def test_folder_must_have_exactly_these_names(self, names: tuple[str, ...], value: int) -> None:
        assert check_moved_jpgs(self.tree(*names), self.RULES).value == value

    def test_missing_parts_are_reported(self) -> None:
        reason = check_moved_jpgs(self.tree("a.jpg", "x.png"), self.RULES).reasons[0]
        assert "missing 'b.jpg', not expected 'x.png'" in reason

    @pytest.mark.parametrize("tree", [None, {}, [], {"children": None}, {"children": ["a.jpg"]}])
    def test_missing_or_malformed_folder_scores_0(self, tree: Any) -> None:
        assert check_moved_jpgs(tree, self.RULES).value == 0

    def test_empty_expectation_gives_no_verdict(self) -> None:
        with pytest.raises(EvaluatorFailed):
            check_moved_jpgs(self.tree(), {"expected": []})


class TestIsInVmClickboard:
    @pytest.mark.parametrize(
        ("expected", "clipboard", "value"),
        [
            ("/a/b.docx", "/a/b.docx\n", 1),
            (["x", "y"], "y and x", 1),
            (["x", "y"], "x", 0),
            ("/a/b.docx", "", 0),
        ],
    )
    def test_every_expected_text_must_be_in_the_clipboard(self, expected: Any, clipboard: str, value: int) -> None:
        assert is_in_vm_clickboard({"expected": expected}, clipboard).value == value

    @pytest.mark.parametrize("rules", [{}, {"expected": ""}, {"expected": []}, {"expected": [1]}, {"expected": 7}])
    def test_invalid_rules_give_no_verdict(self, rules: Any) -> None:
        with pytest.raises(EvaluatorFailed):
            is_in_vm_clickboard(rules, "x")

    def test_unreadable_clipboard_scores_0(self) -> None:
        assert is_in_vm_clickboard({"expected": "x"}, None).value == 0.0
