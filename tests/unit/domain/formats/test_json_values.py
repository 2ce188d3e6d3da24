from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.formats.json_values import among, compare, equal, number_of, same_items

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, "", "1", "true"]),
    lambda some: st.lists(some, max_size=3) | st.dictionaries(st.sampled_from("ab"), some, max_size=2),
    max_leaves=6,
)


def by_hand(left: Any, right: Any) -> bool:
    """The same by another way: what JSON writes, with whole floats as integers."""

    def text(value: Any) -> str:
        if isinstance(value, dict):
            return f"{{{', '.join(f'{key!r}: {text(value[key])}' for key in sorted(value))}}}"
        if isinstance(value, list):
            return f"[{', '.join(map(text, value))}]"
        return repr(int(value)) if isinstance(value, float) else repr(value)

    return text(left) == text(right)


@given(left=VALUES, right=VALUES)
def test_equal_as_json_writes_it(left: Any, right: Any) -> None:
    assert equal(left, right) is by_hand(left, right)
    assert equal(left, left)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (True, 1, False),
        (False, 0, False),
        (False, 0.0, False),
        (1, 1.0, True),
        (True, True, True),
        ("1", 1, False),
        (None, 0, False),
        (None, False, False),
        ("", None, False),
        ([1], [True], False),
        ([[0]], [[False]], False),
        ({"a": {"b": [1]}}, {"a": {"b": [True]}}, False),
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1.0}, True),
        ({True: "x"}, {1: "x"}, False),
        ((1, 2), (True, 2), False),
        ([1, 2], (1, 2), False),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ([], {}, False),
        (10**400, 1e308, False),
    ],
)
def test_kinds(left: Any, right: Any, same: object) -> None:
    assert equal(left, right) is same
    assert equal(right, left) is same
    assert among(left, [object(), right]) is same
    assert compare("ne", left, right) is not same


def test_same_items() -> None:
    assert same_items([1, True, "a"], ["a", 1.0, True])
    assert not same_items([1, 1], [1, True])
    assert not same_items([1], [1, 1])
    assert same_items([{"a": [1]}, {}], [{}, {"a": [1.0]}])


@pytest.mark.parametrize("method", ["lt", "le", "gt", "ge"])
@pytest.mark.parametrize(("left", "right"), [(True, 0), (5, False), ("5", 4), (None, 1), ([True], [0]), ({}, {})])
def test_no_order(method: str, left: Any, right: Any) -> None:
    with pytest.raises(TypeError):
        compare(method, left, right)


def test_order() -> None:
    assert compare("ge", 1.0, 1)
    assert compare("lt", "a", "b")
    assert compare("gt", [2], [1])
    assert compare("ge", True, 1, by_type=False)


@pytest.mark.parametrize(("value", "number"), [(1, 1.0), (1.5, 1.5), ("1.5", 1.5), (" -2e3 ", -2000.0), (".5", 0.5)])
def test_number(value: Any, number: float) -> None:
    assert number_of(value) == number


@pytest.mark.parametrize("value", [True, None, "x", "1_000", "nan", "inf", "", "٣", [1], 10**400])
def test_no_number(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        number_of(value)
