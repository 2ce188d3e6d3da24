import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.drafts.fields import ANY, FormField, can_say, fields_of, typed_as, values_of
from backend.domain.errors import Invalid
from tests.error_codes import raises_code

KINDS = ("string", "integer", "number", "boolean", "array", "object")
TEXTS = st.text(max_size=20) | st.sampled_from(["12", "null", "[1]", '"', '{"a"', "true", " ", "", "1e3", "a\r\nb"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


def field(*kinds: str, choices: tuple[str, ...] = ()) -> FormField:
    return FormField("p", kinds, "", "", required=False, choices=choices)


def through(fields: tuple[FormField, ...], values: dict[str, Any]) -> dict[str, Any]:
    """Fields that a browser sends back of a form with these parameters."""
    typed = {one.name: typed_as(one, values).replace("\r\n", "\n") for one in fields}
    return values_of(fields, typed, whole=False)


class TestThereAndBack:
    @given(kinds=st.lists(st.sampled_from(KINDS), unique=True), value=JSON)
    def test_a_form_gives_back_what_it_shows(self, kinds: list[str], value: Any) -> None:
        """By the field itself or, if that cannot say it, by the one field for all."""
        own = (field(*kinds),)
        shown = own if can_say(own, {"p": value}) else fields_of(None)
        assert json.dumps(through(shown, {"p": value})) == json.dumps({"p": value})

    @given(kinds=st.lists(st.sampled_from(KINDS), unique=True).filter(lambda told: len(told) != 1), value=JSON)
    def test_a_field_of_several_kinds_can_say_all_of_them(self, kinds: list[str], value: Any) -> None:
        own = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
        if value is None or not kinds or own[type(value)] in kinds:
            assert can_say((field(*kinds),), {"p": value})

    @given(value=TEXTS.filter(lambda text: text.strip() and "\r" not in text))
    def test_a_text_is_shown_bare(self, value: str) -> None:
        assert typed_as(field("string"), {"p": value}) == value
        assert can_say((field("string"),), {"p": value})

    @pytest.mark.parametrize(
        ("kinds", "value", "text"),
        [
            (("string", "integer"), "12", '"12"'),
            (("string", "integer"), 12, "12"),
            (("string", "array"), "[1]", '"[1]"'),
            (("string", "array"), "12", "12"),
            (("string", "array"), ["mousepad"], '["mousepad"]'),
            (("string", "array"), "", '""'),
            ((), "strict", '"strict"'),
            (("string", "object"), "strict", "strict"),
            ((), "5", '"5"'),
            ((), 5, "5"),
        ],
    )
    def test_how_they_are_shown(self, kinds: tuple[str, ...], value: Any, text: str) -> None:
        assert typed_as(field(*kinds), {"p": value}) == text
        assert through((field(*kinds),), {"p": value}) == {"p": value}

    @pytest.mark.parametrize(
        ("of", "value"),
        [
            (field("string"), 5),
            (field("string"), ""),
            (field("string"), "a\r\nb"),
            (field("integer"), "many"),
            (field("boolean"), "yes"),
            (field("boolean"), 1),
            (field("string", choices=("all", "any")), "most"),
        ],
    )
    def test_values_without_a_form_field(self, of: FormField, value: Any) -> None:
        assert can_say((of,), {"p": value}) is False

    def test_untyped_parameter_is_json(self) -> None:
        """Otherwise a slip in a list would be kept as a text."""
        with raises_code(Invalid, "invalid_field", mentions="JSON"):
            field().value("[1")

    def test_a_parameter_that_the_form_lacks(self) -> None:
        assert can_say((field("string"),), {"q": 1}) is False
        assert can_say((), {}) is True
        assert [one.name for one in fields_of(None)] == [ANY]


class TestFields:
    FIELDS = fields_of(
        {
            "properties": {
                "path": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
                "count": {"type": "integer", "default": 2},
                "share": {"anyOf": [{"type": "number"}, {"type": "null"}]},
                "exact": {"type": "boolean"},
                "how": {"enum": ["all", "any"]},
                "rules": {"type": "object"},
                "name": {"type": "string"},
            },
            "required": ["path"],
        }
    )

    def test_how_each_is_asked_for(self) -> None:
        assert {field.name: field.widget for field in self.FIELDS} == {
            "path": "text", "count": "number", "share": "number", "exact": "boolean", "how": "choice",
            "rules": "json", "name": "text",
        }  # fmt: skip

    def test_values_of_what_was_typed_and_back(self) -> None:
        typed = {
            "path": '["/a", "/b"]', "count": "3", "share": "0.5", "exact": "yes", "how": "any",
            "rules": '{"a": 1}', "name": "[1]",
        }  # fmt: skip
        values = values_of(self.FIELDS, typed)
        assert values == {
            "path": ["/a", "/b"], "count": 3, "share": 0.5, "exact": True, "how": "any", "rules": {"a": 1},
            "name": "[1]",
        }  # fmt: skip
        again = {field.name: typed_as(field, values) for field in self.FIELDS}
        assert values_of(self.FIELDS, again) == values

    def test_empty_leaves_the_default(self) -> None:
        assert values_of(self.FIELDS, {"path": "/a", "count": " "}) == {"path": "/a"}

    @pytest.mark.parametrize(
        ("typed", "path"),
        [
            ({}, "path"),
            ({"path": "/a", "count": "many"}, "count"),
            ({"path": "/a", "exact": "perhaps"}, "exact"),
            ({"path": "/a", "rules": "{"}, "rules"),
            ({"path": "/a", "rules": "[1]"}, "rules"),
            ({"path": "/a", "count": "0.5"}, "count"),
            ({"path": "/a", "how": "most"}, "how"),
        ],
    )
    def test_says_which_field_is_wrong(self, typed: dict[str, str], path: str) -> None:
        with pytest.raises(Invalid) as told:
            values_of(self.FIELDS, typed)
        assert told.value.path == path

    def test_missing_schema_gives_one_json_field(self) -> None:
        fields = fields_of(None)
        assert values_of(fields, {"json": '{"a": [1]}'}) == {"a": [1]}
        assert values_of(fields, {}) == {}
        with raises_code(Invalid, "invalid_field", mentions="JSON"):
            values_of(fields, {"json": "[1]"})
