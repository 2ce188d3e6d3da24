from collections import OrderedDict

import pytest

from backend.domain.evaluators.metrics._verdicts import short


class TestShort:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ("it's\n", '"it\'s\\n"'),
            (None, "nothing"),
            (True, "true"),
            (1.5, "1.5"),
            ([], "nothing"),
            ({}, "nothing"),
            (["a", None, 3], "'a', nothing, 3"),
            (("a", ("b", "c")), "'a', ('b', 'c')"),
            ({"b", "a"}, "'a', 'b'"),
            (OrderedDict(name="a", sizes=[1, 2]), "name: 'a', sizes: (1, 2)"),
            ([{"name": "a"}, []], "(name: 'a'), (nothing)"),
            (range(3), "0, 1, 2"),
        ],
    )
    def test_values_are_shown_as_readable_text(self, value: object, text: str) -> None:
        assert short(value) == text

    def test_long_text_is_truncated(self) -> None:
        assert short(["abc", "def"], most=8) == "'abc', ' ..."
