from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.thunderbird.check_thunderbird_filter import check_thunderbird_filter
from tests.error_codes import raises_code
from tests.factories.mailbox import filters, mail_filter

FORWARD = {"enabled": "yes", "action": "Forward", "actionValue": "a@example.org", "condition": ["ALL"]}


def forward(condition: str = "ALL", **more: str) -> str:
    return mail_filter("F", action="Forward", value="a@example.org", condition=condition, **more)


def value(folder: Path, *found: str, strict: bool = False, **rules: Any) -> float:
    path = filters(folder / "msgFilterRules.dat", *found)
    return check_thunderbird_filter(path, rules, strict_upstream=strict).value


class TestFilters:
    def test_expected_filter_among_several_is_found(self, tmp_path: Path) -> None:
        assert value(tmp_path, forward("AND (from,is,a)"), forward(), expect=[FORWARD]) == 1

    def test_disabled_filter_does_not_match(self, tmp_path: Path) -> None:
        assert value(tmp_path, forward(enabled="no"), expect=[FORWARD]) == 0

    def test_unexpected_filter_scores_0(self, tmp_path: Path) -> None:
        assert value(tmp_path, forward(), expect=[FORWARD], unexpect=[{"action": "Forward"}]) == 0
        assert value(tmp_path, unexpect=[{"action": "Forward"}]) == 1

    @pytest.mark.parametrize("joined", ["AND", "OR"])
    def test_conditions_that_are_joined_alike_in_any_order(self, joined: str, tmp_path: Path) -> None:
        both = [f"{joined} (from,isn't,b@example.org)", f"{joined} (subject,contains,sale)"]
        assert value(tmp_path, forward(" ".join(both)), expect=[{"condition": both}]) == 1
        assert value(tmp_path, forward(" ".join(both)), expect=[{"condition": both[::-1]}]) == 1
        assert value(tmp_path, forward(" ".join(both)), expect=[{"condition": both}], strict=True) == 1
        assert value(tmp_path, forward(" ".join(both)), expect=[{"condition": both[::-1]}], strict=True) == 0

    def test_mixed_conditions_keep_their_order(self, tmp_path: Path) -> None:
        both = ["AND (from,is,a)", "OR (subject,contains,sale)", "AND (to,is,b)"]
        assert value(tmp_path, forward(" ".join(both)), expect=[{"condition": both}]) == 1
        assert value(tmp_path, forward(" ".join(both)), expect=[{"condition": both[::-1]}]) == 0

    @pytest.mark.parametrize(
        ("line", "rule", "fits"),
        [
            (r"AND (subject,contains,a) AND (\"x-spam\",contains,yes)", ["AND (subject,contains,a)"], 0),
            (r"AND (\"X-Spam\",contains,yes)", ['AND ("x-spam",contains,yes)'], 1),
            (r"AND (subject,contains,sale (50%))", ["AND (subject,contains,sale (50%))"], 1),
            (r"AND (subject,contains,\"sale (50%)\")", ["AND (subject,contains,sale (50%))"], 1),
            (r"AND (subject,contains,\"a, b\")", ["AND (subject,contains,a, b)"], 1),
            (r"AND (subject,contains,\") AND (x\")", ['AND (subject,contains,") AND (x")'], 1),
            (r"AND (subject,contains,a) rubbish", ["AND (subject,contains,a)"], 0),
            (r"AND (subject,contains,a) NOT (from,is,b)", ["AND (subject,contains,a)"], 0),
            (r"AND (subject,contains,a) AND (junk)", ["AND (subject,contains,a)"], 0),
            (r"AND (subject,contains,a) AND (subject,contains,a)", ["AND (subject,contains,a)"], 1),
            (r"OR (subject,contains,a)", ["AND (subject,contains,a)"], 1),
            (r"OR (subject,contains,a) OR (subject,contains,a)", ["AND (subject,contains,a)"], 1),
            (r"OR (subject,contains,a) OR (from,is,b)", ["AND (subject,contains,a)", "AND (from,is,b)"], 0),
            (r"AND (subject,contains,a) OR (from,is,b)", ["OR (from,is,b)", "OR (subject,contains,a)"], 1),
            (r"OR (subject,contains,a) AND (from,is,b)", ["AND (subject,contains,a)", "AND (from,is,b)"], 1),
            (r"AND (subject,contains,a) OR (from,is,b)", ["AND (subject,contains,a)", "AND (from,is,b)"], 0),
            (r"AND (subject,contains,A)", ["AND (subject,contains,a)"], 1),
            (r"AND (subject,is,a)", ["AND (subject,contains,a)"], 0),
            (r"AND (Subject,contains,a)", ["AND (subject,contains,a)"], 1),
            (r"AND (subject,contains,)", ["AND (subject,contains,)"], 1),
            (r"AND (subject,contains,a) ALL", ["ALL"], 0),
            (r"AND (age in days,is greater than,3)", ["AND (age in days,is greater than,3)"], 1),
            ("AND (subject,contains,a", ["AND (subject,contains,a)"], 0),
        ],
    )
    def test_conditions_are_parsed_and_compared(self, line: str, rule: list[str], fits: int, tmp_path: Path) -> None:
        assert value(tmp_path, forward(line), expect=[{"condition": rule}]) == fits

    @pytest.mark.parametrize(
        ("lines", "fits"),
        [
            ('action="Mark read"', 1),
            ('action="AddTag"\nactionValue="$label1"', 1),
            ('action="Copy to folder"\nactionValue="mailbox://x"', 1),
            ('action="Delete"', 0),
            ('action="Forward"\nactionValue="b@example.org"', 0),
            ('action="Move to folder"\nactionValue="mailbox://x"', 0),
            ('action="Custom"\ncustomId="x@y#z"', 0),
            ('scriptName="x"', 0),
            ("no line of ours", 0),
            ('description="mine"', 1),
        ],
    )
    def test_further_lines_of_a_filter(self, lines: str, fits: int, tmp_path: Path) -> None:
        head, _, tail = forward().partition("action=")
        assert value(tmp_path, f"{head}{lines}\naction={tail}", expect=[FORWARD]) == fits
        action, _, end = forward().partition("condition=")
        assert value(tmp_path, f"{action}{lines}\ncondition={end}", expect=[FORWARD]) == fits
        assert value(tmp_path, f"{action}{lines}\ncondition={end}", unexpect=[{"action": "Forward"}]) == 0

    def test_a_value_belongs_to_its_action(self, tmp_path: Path) -> None:
        lines = 'name="F"\nenabled="yes"\naction="Mark read"\nactionValue="a@example.org"\naction="Forward"\n'
        assert value(tmp_path, f'{lines}condition="ALL"\n', expect=[FORWARD]) == 0

    @pytest.mark.parametrize("rule", [{"condition": 5}, {"condition": [5]}])
    def test_a_condition_without_meaning(self, rule: dict[str, Any], tmp_path: Path) -> None:
        with raises_code(EvaluatorFailed, "invalid_rule"):
            value(tmp_path, forward(), expect=[rule])

    def test_quoted_values_may_have_brackets(self, tmp_path: Path) -> None:
        """As published the first value reaches to the last quote, over the condition between."""
        line = r"AND (subject,contains,\"a (b)\") OR (subject,contains,\"c d\")"
        parts = ['AND (subject,contains,"a (b)")', 'OR (subject,contains,"c d")']
        assert value(tmp_path, forward(line), expect=[{"condition": parts}]) == 1
        assert value(tmp_path, forward(line), expect=[{"condition": parts}], strict=True) == 0
        assert value(tmp_path, forward(line), expect=[{"condition": [" ".join(parts)]}], strict=True) == 1

    def test_a_last_line_without_an_end(self, tmp_path: Path) -> None:
        path = tmp_path / "f.dat"
        path.write_text(forward().rstrip("\n"))
        assert check_thunderbird_filter(str(path), {"expect": [FORWARD]}).value == 1

    def test_lines_before_the_first_name(self, tmp_path: Path) -> None:
        assert value(tmp_path, 'action="Forward"\ncondition="ALL"\n', expect=[{"action": "Forward"}]) == 0


@pytest.mark.parametrize("rules", [{}, None, {"expect": "x"}, {"expect": ["x"]}, {"expect": []}])
def test_invalid_rules_give_no_verdict(rules: Any, tmp_path: Path) -> None:
    with pytest.raises(EvaluatorFailed):
        check_thunderbird_filter(filters(tmp_path / "f.dat"), rules)
