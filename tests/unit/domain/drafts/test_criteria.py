import pytest

from backend.domain.drafts.criteria import unclear, unsaid
from backend.domain.model.task import MetricCall
from tests.factories.drafts import make_content


class TestUnclear:
    @pytest.mark.parametrize(
        "instruction",
        [
            'In the Documents folder, rename the file "report.txt" to "report-2025.txt".',
            "Use the calculator to multiply 347 by 29.",
            "In the keyboard settings, let the Num Lock be restored when the session starts.",
        ],
    )
    def test_clear_instruction_passes(self, instruction: str) -> None:
        assert unclear(instruction) == []

    @pytest.mark.parametrize(
        ("instruction", "words"),
        [
            ("Make the slide 3 look professional.", "“professional” is a matter of taste"),
            ("Delete several files from Downloads/old.", "“several” is vague"),
            ("Fix the 3 headings, margins, etc.", "“etc” is vague"),
            ("Save it.", "fewer than 4 words"),
            ("Save the open document and close the window.", "names nothing"),
        ],
    )
    def test_unclear_criteria_for_a_reviewer(self, instruction: str, words: str) -> None:
        assert any(words in line for line in unclear(instruction))

    def test_a_word_inside_a_name_is_not_a_vague_word(self) -> None:
        assert unclear("Rename the file some-thing.txt to awesome.txt in Documents/etc/2025.") == []

    def test_missing_instruction_is_reported(self) -> None:
        assert unclear("  ") == ["There is no instruction."]


class TestUnsaid:
    def test_values_expected_by_the_rule_but_not_in_the_instruction(self) -> None:
        check = MetricCall(func="exact_match", expected={"type": "rule", "rules": {"expected": ["milk", "eggs", True]}})
        assert unsaid(make_content(checks=(check,))) == [
            "Check 1 (exact_match) expects 'eggs', which the instruction does not say."
        ]
