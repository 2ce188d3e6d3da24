import pytest

from backend.domain.errors import Invalid, sentences


class TestSentences:
    @pytest.mark.parametrize(
        ("parts", "text"),
        [
            (
                ("does not support this screen size", "It shows 640x480."),
                "does not support this screen size. It shows 640x480.",
            ),
            (("it is full.", "Empty it"), "it is full. Empty it"),
            (("is it on?", "Look."), "is it on? Look."),
            (("gone", ""), "gone"),
            (("", "Ask again."), "Ask again."),
            (("a", " ", "b ", "c"), "a. b. c"),
            ((), ""),
        ],
    )
    def test_stop_between_two(self, parts: tuple[str, ...], text: str) -> None:
        assert sentences(*parts) == text


class TestTold:
    def test_message_and_hint(self) -> None:
        assert Invalid("there is none", path="agent", hint="Make one.").text == "agent: there is none. Make one."
