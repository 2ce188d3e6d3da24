from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.thunderbird.check_thunderbird_filter import check_thunderbird_filter
from tests.factories.mailbox import filters, mail_filter

FORWARD = {"enabled": "yes", "action": "Forward", "actionValue": "a@example.org", "condition": ["ALL"]}


def forward(condition: str = "ALL", **more: str) -> str:
    return mail_filter("F", action="Forward", value="a@example.org", condition=condition, **more)


def value(folder: Path, *found: str, strict: bool = False, **rules: Any) -> float:
    path = filters(folder / "msgFilterRules.dat", *found)
    return check_thunderbird_filter(path, rules, strict_upstream=strict).value


class TestFilters:
    def test_one_of_several(self, tmp_path: Path) -> None:
        assert value(tmp_path, forward("AND (from,is,a)"), forward(), expect=[FORWARD]) == 1

    def test_a_filter_that_is_off(self, tmp_path: Path) -> None:
        assert value(tmp_path, forward(enabled="no"), expect=[FORWARD]) == 0

    def test_a_filter_that_must_not_be(self, tmp_path: Path) -> None:
        assert value(tmp_path, forward(), expect=[FORWARD], unexpect=[{"action": "Forward"}]) == 0
        assert value(tmp_path, unexpect=[{"action": "Forward"}]) == 1

    def test_conditions_in_their_order(self, tmp_path: Path) -> None:
        both = ["OR (from,isn't,b@example.org)", "OR (subject,contains,sale)"]
        assert value(tmp_path, forward(" ".join(both)), expect=[{"condition": both}]) == 1
        assert value(tmp_path, forward(" ".join(both)), expect=[{"condition": both[::-1]}]) == 0

    def test_quoted_values(self, tmp_path: Path) -> None:
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
def test_rules_without_meaning(rules: Any, tmp_path: Path) -> None:
    with pytest.raises(EvaluatorFailed):
        check_thunderbird_filter(filters(tmp_path / "f.dat"), rules)
