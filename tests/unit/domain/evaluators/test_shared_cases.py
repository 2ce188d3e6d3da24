"""The right values of the cases beside the checkout: one line per input (see `cases/README.md` there)."""

from pathlib import Path
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.registry import PluginKind

registry.load()


@pytest.fixture
def cases(shared_dir: Path) -> Path:
    folder = shared_dir / "cases" / "evaluators"
    if not folder.is_dir():
        pytest.skip("needs shared/cases/evaluators, beside the checkout")
    return folder


def value(metric: str, *arguments: Any, dialect: str = "osworld", **options: Any) -> float:
    return float(registry.lookup(PluginKind.METRIC, metric, dialect)(*arguments, **options).value)


def one(key: Any, ref: Any, method: str = "eq") -> dict[str, Any]:
    """Rules of one condition, as `check_json` and `check_thunderbird_prefs` have them."""
    return {"key": [key], "method": method, "ref": ref}


class TestTypes:
    """F6: true is not 1, false is not 0."""

    @pytest.mark.parametrize(
        ("metric", "name", "rules", "right"),
        [
            ("check_json_settings", "vs_0.json", {"expected": {"editor.minimap.enabled": False}}, 0),
            ("check_json_settings", "vs_0.json", {"expected": {"editor.minimap.enabled": 0}}, 1),
            ("check_json_settings", "vs_1.json", {"expected": {"editor.tabSize": 1}}, 0),
            ("check_json_settings", "vs_2.json", {"expected": {"files.exclude": {"**/.git": True}}}, 0),
            (
                "check_json_keybindings",
                "kb_1.json",
                {"expected": {"key": "ctrl+j", "command": "x", "args": {"a": True}}},
                0,
            ),
            ("json_fields", "jf.json", {"expected": {"a": 1}}, 0),
            ("json_fields", "jf.json", {"expected": {"a": True}}, 1),
            ("json_fields", "jf2.json", {"expected": {"a": False}}, 0),
            ("json_fields", "jf3.json", {"expected": {"editor.fontSize": 14}}, 1),
            ("check_json", "cj.json", {"expect": [one("a", 1)]}, 0),
            ("check_json", "cj.json", {"expect": [one("a", 1, "ge")]}, 0),
            ("check_json", "cj.json", {"expect": [one("a", True)]}, 1),
            ("sheet_goals", "x_bool.xlsx", {"cells": {"#0!A1": {"value": 1}}}, 0),
            ("sheet_goals", "x_false.xlsx", {"cells": {"#0!A1": {"value": 0}}}, 0),
            ("sheet_goals", "x_one.xlsx", {"cells": {"#0!A1": {"value": True}}}, 0),
        ],
    )
    def test_shared_files_are_compared_by_type(
        self, cases: Path, metric: str, name: str, rules: dict[str, Any], right: float
    ) -> None:
        assert value(metric, str(cases / name), rules) == right

    @pytest.mark.parametrize(("name", "ref"), [("x_bool.xlsx", 1), ("x_false.xlsx", 0), ("x_one.xlsx", True)])
    def test_boolean_cells_do_not_equal_numbers(self, cases: Path, name: str, ref: Any) -> None:
        rule = {"type": "check_cell", "sheet_idx": 0, "coordinate": "A1", "props": {"value": one("", ref)}}
        del rule["props"]["value"]["key"]  # type: ignore[index]
        assert value("compare_table", str(cases / name), None, rules=[rule]) == 0


PROMO = "mailbox://nobody@Local%20Folders/Promo"
SALE = "AND (subject,contains,discount)"


class TestThunderbird:
    """F4 and F7."""

    @pytest.mark.parametrize(
        ("name", "method", "ref", "right"),
        [
            ("prefs1.js", "eq", True, 0),
            ("prefs1.js", "eq", 1, 1),
            ("prefs2.js", "ge", 1, 0),
            ("prefs3.js", "eq", 5, 1),
            ("prefs4.js", "eq", 5, 1),
            ("prefs5.js", "eq", "aAb", 1),
            ("prefs6.js", "eq", 5, 1),
            ("prefs7.js", "eq", 5, 0),
            ("prefs8.js", "eq", 5, 0),
            ("prefsX.js", "eq", "a'b", 1),
            ("prefs_True.js", "eq", True, 0),
        ],
    )
    def test_shared_thunderbird_prefs_are_judged_right(
        self, cases: Path, name: str, method: str, ref: Any, right: float
    ) -> None:
        rules = {"expect": {"mail.x": {"method": method, "ref": ref}}}
        assert value("check_thunderbird_prefs", str(cases / name), rules) == right

    @pytest.mark.parametrize(
        ("name", "target", "condition", "right"),
        [
            ("filter_custom_header.dat", "mailbox://x", [SALE], 0),
            ("filter_custom_header.dat", "mailbox://x", [SALE, 'AND ("x-spam",contains,yes)'], 1),
            ("flt1.dat", PROMO, [SALE], 1),
            ("flt3.dat", PROMO, [SALE], 1),
            ("flt4.dat", PROMO, [SALE], 0),
            ("flt5.dat", PROMO, [SALE, "AND (from,is,a@b.c)"], 1),
            ("flt6.dat", PROMO, ["AND (subject,contains,sale (50%))"], 1),
            ("flt7.dat", PROMO, ['AND ("x-spam",contains,yes)'], 1),
            ("flt10.dat", PROMO, [SALE], 0),
            ("flt12.dat", PROMO, [SALE, "AND (all addresses,contains,bob)"], 0),
            ("flt14.dat", "mailbox://x", [SALE], 0),
            ("flt15.dat", "mailbox://x", [SALE], 0),
        ],
    )
    def test_shared_thunderbird_filters_are_judged_right(
        self, cases: Path, name: str, target: str, condition: list[str], right: float
    ) -> None:
        rule = {"enabled": "yes", "action": "Move to folder", "actionValue": target, "condition": condition}
        assert value("check_thunderbird_filter", str(cases / name), {"expect": [rule]}) == right

    @pytest.mark.parametrize(
        ("mine", "gold", "right"),
        [
            ("mb_r2", "mb_g2", 0),
            ("mb_esc", "mb_gold", 1),
            ("mb_crlf", "mb_gold", 1),
            ("mb_fold", "mb_nf", 1),
            ("mb_case", "mb_empty", 1),
            ("mb_del", "mb_empty", 1),
            ("mb_swap", "mb_gold", 0),
        ],
    )
    def test_shared_thunderbird_folders_are_judged_right(self, cases: Path, mine: str, gold: str, right: float) -> None:
        assert value("check_thunderbird_folder", str(cases / mine), str(cases / gold)) == right


class TestNumbers:
    """F9."""

    @pytest.mark.parametrize(
        ("text", "expected", "right"),
        [
            (".5", 5, 0),
            (".5", 0.5, 1),
            ("-.5", -0.5, 1),
            ("\N{MINUS SIGN}5", 5, 0),
            ("\N{MINUS SIGN}5", -5, 1),
        ],
    )
    def test_shared_number_texts_are_judged_right(self, text: str, expected: float, right: float) -> None:
        assert value("number_in_text", text, {"expected": expected}) == right

    @pytest.mark.parametrize("text", ["\N{MINUS SIGN}42", "42,5", "10^42", "42/2"])
    def test_shared_result_files_are_judged_right(self, tmp_path: Path, cases: Path, text: str) -> None:
        (tmp_path / "result.txt").write_text(text)
        assert value("compare_result_files", str(tmp_path / "result.txt"), str(cases / "cr_b.txt")) == 0
        assert value("compare_result_files", str(cases / "cr_a.txt"), str(cases / "cr_b.txt")) == 1


class TestBookmarks:
    """F10."""

    @pytest.mark.parametrize(
        ("name", "rules", "right"),
        [
            ("bm1", {"url": "https://good.org/"}, 0),
            ("bm2", {"url": "good.org/"}, 0),
            ("bm3", {"url": "https://good.org/", "name": "Right", "folder": "F"}, 0),
            ("bm3", {"url": "https://good.org/", "name": "wrong", "folder": "F"}, 1),
            ("bm4", {"url": "good.org/", "name": "n", "folder": "Bookmarks bar"}, 1),
            ("bm5", {"url": "good.org", "folder": "G"}, 1),
        ],
    )
    def test_shared_bookmarks_are_judged_right(
        self, cases: Path, name: str, rules: dict[str, Any], right: float
    ) -> None:
        assert value("bookmark_saved", str(cases / name), rules) == right
