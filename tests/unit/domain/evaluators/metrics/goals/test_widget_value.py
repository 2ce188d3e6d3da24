from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.goals.widget_value import widget_value

TREE = """<desktop-frame xmlns:st="s"><application name="calc"><frame name="w">
<text st:showing="true" name="">  10,063\nDEC HEX</text><text name="">7</text></frame></application></desktop-frame>"""


def rules(**more: Any) -> dict[str, Any]:
    return {"app": "calc", "role": "text", **more}


class TestWidgetValue:
    def test_number_of_the_first_line_is_compared(self) -> None:
        assert widget_value(TREE, rules(number=10063)).value == 1.0

    def test_text_of_the_first_line_is_compared(self) -> None:
        assert widget_value(TREE, rules(text="10, 063")).value == 1.0

    @pytest.mark.parametrize(
        ("text", "number", "value"),
        [("\u221242", -42, 1), ("1,234.5", 1234.5, 1), ("1,5", 15, 0), ("1_5", 15, 0), ("42 of 50", 42, 0), ("", 0, 0)],
    )
    def test_number_forms_are_read(self, text: str, number: float, value: float) -> None:
        assert widget_value(TREE.replace("10,063", text), rules(number=number)).value == value

    def test_another_number_scores_0(self) -> None:
        assert widget_value(TREE, rules(number=10064)).value == 0.0

    def test_a_widget_that_is_not_shown_does_not_count(self) -> None:
        assert widget_value(TREE, rules(number=7)).value == 0.0

    def test_missing_application_scores_0(self) -> None:
        result = widget_value(TREE, {"app": "other", "role": "text", "number": 1})
        assert result.reasons == ("no text of other is on the screen",)

    def test_a_damaged_tree_gives_no_verdict(self) -> None:
        with pytest.raises(EvaluatorFailed):
            widget_value("<a", rules(number=1))
