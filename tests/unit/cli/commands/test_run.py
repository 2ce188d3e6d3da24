import pytest

from backend.cli.commands.run import parameters, screen_size
from backend.cli.errors import UsageError
from tests.error_codes import raises_code


class TestParameters:
    def test_values_are_json_where_they_can_be(self) -> None:
        given = ["seed=7", "name=plain text", 'text="7"', "list=[1, 2]", "flag=true", "equation=a=b", "empty="]
        assert parameters(given) == {
            "seed": 7,
            "name": "plain text",
            "text": "7",
            "list": [1, 2],
            "flag": True,
            "equation": "a=b",
            "empty": "",
        }

    @pytest.mark.parametrize("word", ["seed", "=7"])
    def test_anything_else_is_refused(self, word: str) -> None:
        with raises_code(UsageError, "invalid_option", mentions="K=V"):
            parameters([word])


class TestScreenSize:
    def test_as_the_api_takes_it(self) -> None:
        assert screen_size("1280x800") == {"width": 1280, "height": 800}

    @pytest.mark.parametrize("word", ["", "1280", "1280x", "x800", "1280X800", "a x b"])
    def test_anything_else_is_refused(self, word: str) -> None:
        with raises_code(UsageError, "invalid_option", mentions="1280x800"):
            screen_size(word)
