"""Forms of plug-ins: which parameters a set-up step, getter or metric takes, from its own code.

A plug-in needs to declare nothing for its form. A set-up step and a getter check their parameters with a `Parameters`
model: that of its `Params`, or the one that its `check` names. A metric is a function: its options are the parameters
after `result` and `expected`. Where neither says anything, the form is one field for JSON.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from pydantic import BaseModel, PydanticSchemaGenerationError, PydanticUndefinedAnnotation, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema

from backend.domain import registry
from backend.domain.model.parameters import Parameters
from backend.domain.registry import PluginKind

FORM_KINDS = (PluginKind.SETUP, PluginKind.GETTER, PluginKind.METRIC)
Schema = dict[str, Any]


@dataclass(frozen=True)
class PluginForm:
    """How one plug-in is asked for.

    Attributes:
        about: its docstring.
        schema: JSON schema of its parameters (of a metric: of its options); None = any JSON object.
        expects: of a metric: whether it compares with an expectation; None = it may.
    """

    kind: PluginKind
    dialect: str
    name: str
    about: str
    schema: Schema | None
    expects: bool | None = None


def form_of(kind: PluginKind, name: str, dialect: str) -> PluginForm:
    """The form of the plug-in that a task of that dialect means by `name`. Raises UnknownPlugin."""
    plugin = registry.lookup(kind, name, dialect)
    own = dialect if registry.entries(kind).get((dialect, name)) is plugin else registry.COMMON
    about = inspect.cleandoc(plugin.__doc__ or "")
    if kind is PluginKind.METRIC:
        return PluginForm(kind, own, name, about, _options(plugin), _expects(plugin))
    model = parameters_of(plugin)
    return PluginForm(kind, own, name, about, None if model is None else model.model_json_schema())


def forms(kind: PluginKind, dialect: str) -> list[PluginForm]:
    """The forms of all plug-ins of a kind that a task of that dialect can use, by name."""
    return [form_of(kind, name, dialect) for name in registry.names(kind, dialect)]


def parameters_of(plugin: Any) -> type[BaseModel] | None:
    """The model by which a set-up step or getter checks its parameters; None if its code names none."""
    declared = getattr(plugin, "Params", None)
    if isinstance(declared, type) and issubclass(declared, BaseModel):
        return declared
    check = getattr(plugin, "check", None)
    code, names = getattr(check, "__code__", None), getattr(check, "__globals__", {})
    for name in code.co_names if code is not None else ():
        model = names.get(name)
        if isinstance(model, type) and issubclass(model, Parameters):
            return model
    return None


def _positional(metric: Callable[..., Any]) -> list[inspect.Parameter]:
    kinds = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
    return [one for one in inspect.signature(metric).parameters.values() if one.kind in kinds]


def _expects(metric: Callable[..., Any]) -> bool | None:
    """Whether its second argument must be given; without a second one, it compares with nothing."""
    positional = _positional(metric)
    if any(one.kind is one.VAR_POSITIONAL for one in inspect.signature(metric).parameters.values()):
        return None
    second = positional[1] if len(positional) > 1 else None
    if second is None:
        return False
    return True if second.default is second.empty else None


def _options(metric: Callable[..., Any]) -> Schema | None:
    """JSON schema of a metric's options; None where it takes any."""
    positional = [one.name for one in _positional(metric)][:2]
    parameters = [one for one in inspect.signature(metric).parameters.values() if one.name not in positional]
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return None
    named = [one for one in parameters if one.kind is not one.VAR_POSITIONAL]
    hints, documented = _hints(metric), _argument_schemas(metric)
    properties = {one.name: _property(hints.get(one.name), one) | documented.get(one.name, {}) for one in named}
    return {
        "type": "object",
        "properties": properties,
        "required": [one.name for one in named if one.default is one.empty],
        "additionalProperties": False,
    }


def _hints(metric: Callable[..., Any]) -> Mapping[str, Any]:
    try:
        return get_type_hints(metric)
    except (NameError, TypeError):
        return {}


def _argument_schemas(metric: Callable[..., Any]) -> dict[str, Schema]:
    """What the docstring's `Args:` say of each argument."""
    _, _, after = inspect.cleandoc(metric.__doc__ or "").partition("Args:\n")
    lines = re.findall(r"^ {4}([\w, ]+): (.+(?:\n {8}.+)*)", after.partition("\n\n")[0], re.MULTILINE)
    return {
        name.strip(): {"description": " ".join(words.split())} for names, words in lines for name in names.split(",")
    }


def _property(hint: Any, parameter: inspect.Parameter) -> Schema:
    """JSON schema of one option; one whose annotation is no JSON type is written as JSON."""
    try:
        schema: Schema = TypeAdapter(hint).json_schema() if hint is not None else {}
    except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticInvalidForJsonSchema):
        schema = {}
    if isinstance(parameter.default, bool | int | float | str):
        schema["default"] = parameter.default
    return schema
