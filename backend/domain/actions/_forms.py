"""Validates arguments given by a model; InvalidAction is the only error."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, ValidationError

from backend.domain.errors import InvalidAction
from backend.domain.model.validation_words import problem_words

Form = TypeVar("Form", bound=BaseModel)
_LONGEST_NAME = 60


def _no_truth(value: Any) -> Any:
    """The value; a text in place of true and false, which pydantic takes for 1 and 0."""
    return str(value) if isinstance(value, bool) else value


def lower(value: Any) -> Any:
    """A text in lower case and without blanks around it; any other value unchanged."""
    return value.strip().lower() if isinstance(value, str) else value


Number = Annotated[float, BeforeValidator(_no_truth), Field(allow_inf_nan=False, ge=-1e6, le=1e6)]
Button = Annotated[str, BeforeValidator(lower), Field(pattern="^(left|right|middle)$")]


def read(form: type[Form], arguments: Any, path: str = "") -> Form:
    """The validated arguments; null counts as omitted.

    Raises:
        InvalidAction: the first wrong argument, with its path below `path`.
    """
    if not isinstance(arguments, Mapping):
        raise InvalidAction(f"expected an object, got {short(arguments)}", code="invalid_arguments", path=path)
    try:
        return form.model_validate({key: value for key, value in arguments.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part)[:_LONGEST_NAME] for part in ((path, *first["loc"]) if path else first["loc"]))
        raise InvalidAction(
            f"{problem_words(first)}{_input_text(first)}",
            code="invalid_arguments",
            path=where,
            hint=_known_arguments(form),
        ) from error


def _input_text(error: Any) -> str:
    return "" if error["type"] == "missing" else f", got {short(error['input'])}"


def _known_arguments(form: type[BaseModel]) -> str:
    names = [_name(name, field.validation_alias) for name, field in form.model_fields.items()]
    return f"It takes {', '.join(names)}." if names else "It takes no arguments."


def _name(name: str, alias: Any) -> str:
    return str(alias.choices[0]) if isinstance(alias, AliasChoices) else name


def short(value: Any) -> str:
    """A value for a message: quoted, at most one line."""
    text = repr(value[:100] if isinstance(value, str) else value) if not isinstance(value, list | dict) else "a list"
    if isinstance(value, dict):
        text = "an object"
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}..."
