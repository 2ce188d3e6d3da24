"""Every registered action space turns replies into actions that the loop understands, or says what is wrong."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain import registry
from backend.domain.errors import Invalid
from backend.domain.registry import Kind
from backend.domain.trajectory import Action

registry.load()
SPACES = registry.names(Kind.ACTION_SPACE)


def made(name: str) -> Any:
    return registry.lookup(Kind.ACTION_SPACE, name)()


@pytest.mark.parametrize("name", SPACES)
class TestSpaces:
    def test_says_what_it_is(self, name: str) -> None:
        assert len(made(name).about) > 20

    @pytest.mark.parametrize("word", ["WAIT", "DONE", "FAIL"])
    def test_the_three_words(self, name: str, word: str) -> None:
        assert [action.type for action in made(name).parse(word)] == [word]

    @settings(max_examples=200, deadline=None)
    @given(reply=st.text() | st.recursive(st.none() | st.text() | st.floats(), st.lists).map(str))
    def test_any_reply_is_actions_or_a_typed_error(self, name: str, reply: str) -> None:
        try:
            found = made(name).parse(reply)
        except Invalid:
            found = ()  # Anything but Invalid passes through and fails the test.
        assert all(isinstance(action, Action) for action in found)
