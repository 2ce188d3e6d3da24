"""Form fields from a JSON schema, and parameters from submitted form texts."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from backend.domain.errors import Invalid

ANY = "json"
"""Name of the single field of a plug-in without a schema."""
_MOST_TEXT = 100_000
_KINDS: Mapping[type, frozenset[str]] = {
    str: frozenset({"string"}),
    bool: frozenset({"boolean"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"number"}),
    list: frozenset({"array"}),
    dict: frozenset({"object"}),
}
"""JSON types of a parsed value, by its Python type."""


@dataclass(frozen=True)
class FormField:
    """One parameter.

    Attributes:
        kinds: allowed JSON types besides `null`; empty = any.
        choices: the allowed values, if the schema lists them.
        default: the default as form text; empty if there is none.
    """

    name: str
    kinds: tuple[str, ...]
    help: str
    default: str
    required: bool
    choices: tuple[str, ...] = ()

    @property
    def widget(self) -> str:
        """The form control: `choice`, `boolean`, `number`, `text` or `json`."""
        if self.choices:
            return "choice"
        if self.kinds == ("boolean",):
            return "boolean"
        if set(self.kinds) and set(self.kinds) <= {"integer", "number"}:
            return "number"
        return "text" if "string" in self.kinds else "json"

    def value(self, text: str) -> Any:
        """The parameter from a form text: JSON of an allowed type, or else the text itself if text is allowed.

        A field that allows only text takes it literally, including blanks and line ends.

        Raises:
            Invalid: the text is not a value of the field; `path` is the field's name.
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
    """The fields of a JSON schema; a single field for the whole value without a schema."""
    if schema is None:
        return (FormField(ANY, ("object",), "All parameters, as a JSON object.", "{}", required=False),)
    needed = set(schema.get("required") or ())
    return tuple(
        _field(name, _resolve(prop, schema), required=name in needed)
        for name, prop in (schema.get("properties") or {}).items()
    )


def values_of(fields: tuple[FormField, ...], typed: Mapping[str, str], *, whole: bool = True) -> dict[str, Any]:
    """Parameters from a form's texts; an empty text leaves the default.

    Args:
        fields: of the form.
        typed: texts by field.
        whole: False while the form is being filled in: required fields may be empty.

    Raises:
        Invalid: a required field is empty, or a text is not a value of its type; `path` is the field's name.
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
    """The form text of a field for existing parameters; empty if they omit it.

    A text that survives the form unchanged is shown as is, everything else as JSON.
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
    """Whether a form with these fields returns exactly these parameters."""
    typed = {field.name: typed_as(field, values) for field in fields}
    try:
        back = values_of(fields, typed, whole=False)
    except Invalid:
        return False
    return json.dumps(back, sort_keys=True) == json.dumps(values, sort_keys=True)  # 1 is not True.


def _is_itself(field: FormField, text: str) -> bool:
    """Whether a text survives the form unchanged: empty ones are dropped, and browsers rewrite line ends."""
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


def _resolve(prop: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """A property with its reference resolved."""
    merged = dict(prop)
    if "$ref" in merged:
        name = str(merged.pop("$ref")).rpartition("/")[2]
        merged = {**(schema.get("$defs") or {}).get(name, {}), **merged}
    if "anyOf" in merged:
        merged["anyOf"] = [_resolve(option, schema) for option in merged["anyOf"]]
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
