from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.general.check_accessibility_tree import check_accessibility_tree
from tests.factories.accessibility import DESKAT, UBUNTU, WINDOWS, mail_window

PILL = 'tool-bar[attr|id=MsgHeadersToolbar] label[name=To]~[attr|class="address-pill"]>label[attr|class="pill-label"]'


class TestCheckAccessibilityTree:
    @pytest.mark.parametrize("names", [UBUNTU, WINDOWS, DESKAT])
    def test_any_projects_namespaces(self, names: dict[str, str]) -> None:
        rules: list[dict[str, Any]] = [
            {"selectors": [f'{PILL}[name*="fox@"]']},
            {"xpath": "//entry[@st:focused='true']"},
        ]
        assert check_accessibility_tree(mail_window(names), rules).value == 1.0

    def test_strict_upstream_reads_only_the_namespaces_of_osname(self) -> None:
        rules = [{"selectors": [f'{PILL}[name*="fox@"]']}]
        tree = mail_window(WINDOWS)
        assert check_accessibility_tree(tree, rules, strict_upstream=True).value == 0.0
        assert check_accessibility_tree(tree, rules, osname="windows", strict_upstream=True).value == 1.0

    def test_every_rule_must_find_something(self) -> None:
        rules = [{"selectors": [f'{PILL}[name*="{who}@"]']} for who in ("fox", "iron")]
        assert check_accessibility_tree(mail_window(addresses=("fox@x", "iron@x")), rules).value == 1.0
        assert check_accessibility_tree(mail_window(), rules).value == 0.0

    def test_one_matching_selector_is_enough(self) -> None:
        assert check_accessibility_tree(mail_window(), [{"selectors": ["slider", "entry"]}]).value == 1.0

    def test_published_thunderbird_rule_matches(self) -> None:
        path = "//application[@name='Thunderbird']//*[contains(text(), 'fox@') or contains(@name, 'fox@')]"
        assert check_accessibility_tree(mail_window(), [{"xpath": path}]).value == 1.0

    @pytest.mark.parametrize(
        ("rule", "value"),
        [
            ({"text": "Quarterly report"}, 1.0),
            ({"text": "Quarterly report", "exact": True}, 1.0),
            ({"text": "quarterly report", "exact": True}, 0.0),
            ({"text": "Quarterly reports", "exact": False}, 0.9696969696969697),
        ],
    )
    def test_text_is_matched_exactly_or_by_similarity(self, rule: dict[str, Any], value: float) -> None:
        result = check_accessibility_tree(mail_window(), [{"xpath": "//entry", **rule}])
        assert result.value == pytest.approx(value, abs=1e-9)

    def test_scores_are_multiplied(self) -> None:
        rule = {"xpath": "//entry", "text": "Quarterly reports", "exact": False}
        value = check_accessibility_tree(mail_window(), [rule, rule]).value
        assert value == pytest.approx(0.9696969696969697**2, abs=1e-9)

    @pytest.mark.parametrize(
        "rules",
        [
            [],
            [{}],
            {"xpath": "//a"},
            [{"xpath": "//["}],
            [{"xpath": "count(//a)"}],
            [{"selectors": ["a["]}],
            [{"xpath": "//q:a"}],
        ],
    )
    def test_invalid_rules_give_no_verdict(self, rules: Any) -> None:
        with pytest.raises(EvaluatorFailed):
            check_accessibility_tree(mail_window(), rules)

    @pytest.mark.parametrize("tree", ["", "no tree", "<a>", '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>'])
    def test_a_broken_tree_gives_no_verdict(self, tree: str) -> None:
        with pytest.raises(EvaluatorFailed):
            check_accessibility_tree(tree, [{"xpath": "//a"}])

    def test_unknown_system_is_rejected(self) -> None:
        with pytest.raises(EvaluatorFailed):
            check_accessibility_tree(mail_window(), [{"xpath": "//a"}], osname="beos")
