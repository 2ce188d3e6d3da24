"""Calls in a stream of chat completions, as compatible servers send them."""

from typing import Any

import pytest

from worker.models.openai_chat import add_call

NAME, X = "click", '{"x": 1}'


def piece(index: int | None = 0, call: str | None = None, name: str | None = None, arguments: Any = None) -> Any:
    own = {} if index is None else {"index": index}
    return {**own, "id": call, "function": {"name": name, "arguments": arguments}}


def joined(*pieces: Any) -> list[tuple[str, str]]:
    calls: list[dict[str, Any]] = []
    for each in pieces:
        add_call(calls, each)
    return [(call["function"]["name"], call["function"]["arguments"]) for call in calls]


class TestAddCall:
    @pytest.mark.parametrize(
        "pieces",
        [
            pytest.param(
                [piece(0, "a", NAME, ""), piece(0, None, None, '{"x"'), piece(0, None, None, ": 1}")], id="OpenAI"
            ),
            pytest.param([piece(0, "a", "cl"), piece(0, None, "ick"), piece(0, None, None, X)], id="name in pieces"),
            pytest.param([piece(0, "a", NAME, '{"x"'), piece(0, "a", NAME, ": 1}")], id="name with each piece"),
            pytest.param([piece(0, "a", NAME, '{"x"'), piece(0, "b", None, ": 1}")], id="a new id with each piece"),
            pytest.param([piece(None, "a", NAME, '{"x"'), piece(None, "a", None, ": 1}")], id="ids without numbers"),
            pytest.param(
                [piece(0, "a", NAME, '{"x": '), piece(0, None, None, "1}"), piece(0, "a", NAME, X)],
                id="again at the end",
            ),
            pytest.param([piece(0, "a", NAME, {"x": 1})], id="an object"),
            pytest.param([piece(0, "a", "", ""), piece(0, "a", NAME, X)], id="the name comes later"),
        ],
    )
    def test_one_call_is_joined_from_pieces(self, pieces: list[Any]) -> None:
        assert joined(*pieces) == [(NAME, X)]

    @pytest.mark.parametrize(
        "pieces",
        [
            pytest.param([piece(0, "a", NAME, X), piece(1, "b", NAME, X)], id="numbered"),
            pytest.param([piece(0, "a", NAME, X), piece(0, "b", NAME, X)], id="all of them 0"),
            pytest.param([piece(None, "a", NAME, X), piece(None, "b", NAME, X)], id="by their ids"),
        ],
    )
    def test_the_same_call_twice(self, pieces: list[Any]) -> None:
        assert joined(*pieces) == [(NAME, X), (NAME, X)]

    def test_digits_that_repeat_are_text(self) -> None:
        assert joined(piece(0, "a", NAME, '{"x": 1'), piece(0, None, None, "1"), piece(0, None, None, "1}")) == [
            (NAME, '{"x": 111}')
        ]
