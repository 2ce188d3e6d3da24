from typing import Any

import pytest

from backend.domain.errors import Invalid
from backend.domain.omnibench.expression import CALLS, compile_expression, compile_function, fact_of
from tests.error_codes import raises_code

VALUES = {"name": "list", "number": 3}
CLICK = {"type": "check_mouse_clicks", "text": "Save"}
FILE = {"type": "check_file_exists", "file_path": "/home/user/list.txt"}


class TestCompileExpression:
    def test_one_check_is_one_call(self) -> None:
        result = compile_expression('check_mouse_clicks("Save")', VALUES)
        assert [(call.func, call.result) for call in result.calls] == [("check_mouse_clicks", CLICK)]

    @pytest.mark.parametrize(
        "text", ["a" + ".b" * 900, "check_file_exists('a\\x00')", "check_setting_equals('a', 1e999)", "-" * 3000 + "1"]
    )
    def test_expressions_that_cannot_be_satisfied_are_rejected(self, text: str) -> None:
        with pytest.raises(Invalid):
            compile_expression(text, VALUES)

    @pytest.mark.parametrize("word", ["and", "or"])
    def test_a_row_of_checks_is_a_call_each(self, word: str) -> None:
        text = f'check_mouse_clicks(text="Save") {word} check_file_exists("/home/user/{{name}}.txt")'
        result = compile_expression(text, VALUES)
        assert [call.result for call in result.calls] == [CLICK, FILE]
        assert result.conj == word

    def test_anything_else_is_one_call_over_the_facts(self) -> None:
        text = (
            'check_mouse_clicks("Save") and (not check_window_exists("Save") or check_file_contains(name, number))'
            ' and check_mouse_clicks("Save")'
        )
        (call,) = compile_expression(text, VALUES).calls
        window = {"type": "check_window_exists", "title": "Save"}
        contains = {"type": "check_file_contains", "file_path": "list", "text": 3}
        assert call.func == "check_expression"
        assert call.result == {"type": "facts", "facts": [CLICK, window, contains]}
        assert call.options["tree"] == {"and": [{"fact": 0}, {"or": [{"not": {"fact": 1}}, {"fact": 2}]}, {"fact": 0}]}

    def test_a_negation_alone(self) -> None:
        (call,) = compile_expression('not check_window_exists("Save")', VALUES).calls
        assert call.options["tree"] == {"not": {"fact": 0}}

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "expected an expression"),
            ("check_mouse_clicks('a') and", "expected an expression"),
            ("True", "only checks"),
            ("check_mouse_clicks", "only checks"),
            ("check_mouse_clicks('a') + 1", "only checks"),
            ("[check_mouse_clicks('a')]", "only checks"),
            ("(lambda: 1)()", "only checks"),
            ("os.system('x')", "only checks"),
            ("__import__('os')", "no check '__import__'"),
            ("check_mouse_clicks(__import__('os'))", "expected a text, a number or a parameter"),
            ("check_mouse_clicks(f'{name}')", "expected a text, a number or a parameter"),
            ("check_mouse_clicks(name.upper())", "expected a text, a number or a parameter"),
            ("check_mouse_clicks(b'a')", "expected a text, a number or a parameter"),
            ("check_mouse_clicks(other)", "no parameter 'other'"),
            ("check_mouse_clicks()", "takes text"),
            ("check_mouse_clicks('a', 'b')", "takes text"),
            ("check_mouse_clicks('a', text='b')", "takes text"),
            ("check_mouse_clicks(label='a')", "takes text"),
            ("check_mouse_clicks(**{'text': 'a'})", "not understood"),
            ("not " * 30 + "check_mouse_clicks('a')", "nested"),
            (" and ".join(f"check_mouse_clicks('{n}')" for n in range(51)), "51 different checks"),
            ("(" * 500 + ")" * 500, "expected an expression"),
        ],
    )
    def test_other_expressions_are_rejected(self, text: str, words: str) -> None:
        with raises_code(Invalid, "invalid_expression", mentions=words):
            compile_expression(text, VALUES)


class TestCompileFunction:
    SOURCE = "def evaluate_agent_task_completion(name):\n    return check_mouse_clicks(name), ''\n"

    def test_is_kept_as_text(self) -> None:
        (call,) = compile_function(self.SOURCE, VALUES).calls
        assert call.func == "evaluate_agent_task_completion"
        assert dict(call.options) == {"source": self.SOURCE, "values": VALUES}

    @pytest.mark.parametrize("source", ["", "x = 1", "def other(): pass", "def evaluate_agent_task_completion(:"])
    def test_code_without_the_function_is_rejected(self, source: str) -> None:
        with pytest.raises(Invalid):
            compile_function(source, VALUES)


class TestFactOf:
    def test_there_are_eleven_calls(self) -> None:
        assert len(CALLS) == 11

    @pytest.mark.parametrize("value", [None, [], {}, "x" * 5000])
    def test_only_short_texts_and_numbers(self, value: Any) -> None:
        with raises_code(Invalid, "invalid_expression"):
            fact_of("check_text_exists", (value,), {})
