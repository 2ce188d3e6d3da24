"""The fields of a form from a JSON schema, and the parameters that somebody typed into them."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from backend.domain.errors import Invalid

ANY = "json"
"""Name of the one field of a plug-in that says nothing about its parameters."""
_MOST_TEXT = 100_000
_KINDS: Mapping[type, frozenset[str]] = {
    str: frozenset({"string"}),
    bool: frozenset({"boolean"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"number"}),
    list: frozenset({"array"}),
    dict: frozenset({"object"}),
}
"""JSON types that a value is of, by its type once it was read."""


@dataclass(frozen=True)
class FormField:
    """One parameter.

    Attributes:
        kinds: JSON types that it may have, `null` aside; empty = any.
        choices: the only values, where the schema lists them.
        default: as it would be typed; empty where there is none.
    """

    name: str
    kinds: tuple[str, ...]
    help: str
    default: str
    required: bool
    choices: tuple[str, ...] = ()

    @property
    def widget(self) -> str:
        """`choice`, `boolean`, `number`, `text` or `json`: how a page asks for it."""
        if self.choices:
            return "choice"
        if self.kinds == ("boolean",):
            return "boolean"
        if set(self.kinds) and set(self.kinds) <= {"integer", "number"}:
            return "number"
        return "text" if "string" in self.kinds else "json"

    def value(self, text: str) -> Any:
        """The parameter that was typed: JSON of an allowed kind, or else the text where it may be one.

        Where it can only be a text it is that, whatever it looks like; blanks and line ends are part of it.

        Raises:
            Invalid: it is no value of the field; `path` is the field's name.
        """
        if len(text) > _MOST_TEXT:
            raise Invalid(f"it is longer than {_MOST_TEXT} characters", code="invalid_field", path=self.name)
        if self.choices and text not in self.choices:
            raise Invalid(
                f"expected one of {', '.join(self.choices)}, got {text[:60]!r}", code="invalid_field", path=self.name
            )
        if self.choices or self.kinds == ("string",):
            return text
        if self.widget == "boolean":
            return _truth(text, self.name)
        with suppress(ValueError, RecursionError):
            value = json.loads(text)
            if value is None or not self.kinds or _KINDS[type(value)] & set(self.kinds):
                return value
        if "string" in self.kinds:
            return text
        raise Invalid(f"expected {_kinds_text(self.kinds)}, got {text[:60]!r}", code="invalid_field", path=self.name)


def fields_of(schema: Mapping[str, Any] | None) -> tuple[FormField, ...]:
    """The fields of a JSON schema; one field for the whole value where there is no schema."""
    if schema is None:
        return (FormField(ANY, ("object",), "All parameters, as a JSON object.", "{}", required=False),)
    needed = set(schema.get("required") or ())
    return tuple(
        _field(name, _resolved(prop, schema), required=name in needed)
        for name, prop in (schema.get("properties") or {}).items()
    )


def values_of(fields: tuple[FormField, ...], typed: Mapping[str, str], *, whole: bool = True) -> dict[str, Any]:
    """Parameters from a form's texts; an empty one leaves the default.

    Args:
        fields: of the form.
        typed: texts by field.
        whole: False while it is still being filled in: what is needed may be empty.

    Raises:
        Invalid: a needed field is empty, or a text is no value of its type; `path` is the field's name.
    """
    values: dict[str, Any] = {}
    for field in fields:
        text = typed.get(field.name, "")
        if not text.strip():
            if field.required and whole:
                raise Invalid("it is needed", code="invalid_field", path=field.name)
            continue
        values[field.name] = field.value(text)
    if len(fields) == 1 and fields[0].name == ANY and fields[0].kinds == ("object",):
        whole = values.get(ANY, {})
        if not isinstance(whole, dict):
            raise Invalid("expected a JSON object", code="invalid_field", path=ANY)
        return whole
    return values


def typed_as(field: FormField, values: Mapping[str, Any]) -> str:
    """The text of a field for parameters that are there already; empty where they leave it out.

    A text is written as it is if it is read as itself, everything else as JSON.
    """
    if field.name == ANY and field.kinds == ("object",):
        return json.dumps(dict(values), ensure_ascii=False) if values else ""
    if field.name not in values:
        return ""
    value = values[field.name]
    if isinstance(value, str) and _is_itself(field, value):
        return value
    return json.dumps(value, ensure_ascii=False)


def can_say(fields: tuple[FormField, ...], values: Mapping[str, Any]) -> bool:
    """Whether a form of those fields that shows these parameters gives exactly them back."""
    typed = {field.name: typed_as(field, values) for field in fields}
    try:
        back = values_of(fields, typed, whole=False)
    except Invalid:
        return False
    return json.dumps(back, sort_keys=True) == json.dumps(values, sort_keys=True)  # 1 is not True.


def _is_itself(field: FormField, text: str) -> bool:
    """Whether a text comes back from a form as it is: an empty one is none, and browsers rewrite line ends."""
    try:
        return bool(text.strip()) and "\r" not in text and field.value(text) == text
    except Invalid:
        return False


def _field(name: str, prop: Mapping[str, Any], *, required: bool) -> FormField:
    default = prop.get("default")
    return FormField(
        name=name,
        kinds=_kinds(prop),
        help=str(prop.get("description") or ""),
        default="" if default is None else default if isinstance(default, str) else json.dumps(default),
        required=required,
        choices=tuple(str(choice) for choice in prop.get("enum") or ()),
    )


def _resolved(prop: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """A property with its reference followed."""
    merged = dict(prop)
    if "$ref" in merged:
        name = str(merged.pop("$ref")).rpartition("/")[2]
        merged = {**(schema.get("$defs") or {}).get(name, {}), **merged}
    if "anyOf" in merged:
        merged["anyOf"] = [_resolved(option, schema) for option in merged["anyOf"]]
    return merged


def _kinds(prop: Mapping[str, Any]) -> tuple[str, ...]:
    kinds = [str(option.get("type", "object")) for option in prop.get("anyOf") or (prop,) if option]
    if "type" not in prop and "anyOf" not in prop:
        return ()
    return tuple(dict.fromkeys(kind for kind in kinds if kind != "null"))


def _truth(text: str, name: str) -> bool:
    text = text.strip()
    if text.casefold() in {"yes", "true", "on", "1"}:
        return True
    if text.casefold() in {"no", "false", "off", "0"}:
        return False
    raise Invalid(f"expected yes or no, got {text[:60]!r}", code="invalid_field", path=name)


def _kinds_text(kinds: tuple[str, ...]) -> str:
    if not kinds:
        return "JSON"
    if kinds == ("integer",):
        return "a whole number"
    return "a number" if set(kinds) <= {"integer", "number"} else f"a JSON {' or '.join(kinds)}"
