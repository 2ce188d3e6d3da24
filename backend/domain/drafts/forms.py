"""Parameter forms of set-up steps, getters and metrics, derived from their code.

Set-up steps and getters check their parameters with a `Parameters` model: their `Params`, or the model that their
`check` uses. A metric is a function: its options are the parameters after `result` and `expected`. Without either, the
form is a single JSON field.
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
    """The form of one plug-in.

    Attributes:
        about: its docstring.
        schema: JSON schema of its parameters (of a metric: of its options); None = any JSON object.
        expects: whether a metric needs an expectation; None = optional.
    """

    kind: PluginKind
    dialect: str
    name: str
    about: str
    schema: Schema | None
    expects: bool | None = None


def form_of(kind: PluginKind, name: str, dialect: str) -> PluginForm:
    """The form of the plug-in that `name` means in a dialect. Raises UnknownPlugin."""
    plugin = registry.lookup(kind, name, dialect)
    own = dialect if registry.entries(kind).get((dialect, name)) is plugin else registry.COMMON
    about = inspect.cleandoc(plugin.__doc__ or "")
    if kind is PluginKind.METRIC:
        return PluginForm(kind, own, name, about, _options(plugin), _expects(plugin))
    model = parameters_of(plugin)
    return PluginForm(kind, own, name, about, None if model is None else model.model_json_schema())


def forms(kind: PluginKind, dialect: str) -> list[PluginForm]:
    """The forms of all plug-ins of a kind that a dialect can use, by name."""
    return [form_of(kind, name, dialect) for name in registry.names(kind, dialect)]


def parameters_of(plugin: Any) -> type[BaseModel] | None:
    """The model by which a set-up step or getter checks its parameters; None if there is none."""
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
    return [parameter for parameter in inspect.signature(metric).parameters.values() if parameter.kind in kinds]


def _expects(metric: Callable[..., Any]) -> bool | None:
    """Whether the metric requires an expectation, its second argument; False if it has none, None if optional."""
    positional = _positional(metric)
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in inspect.signature(metric).parameters.values()):
        return None
    second = positional[1] if len(positional) > 1 else None
    if second is None:
        return False
    return True if second.default is second.empty else None


def _options(metric: Callable[..., Any]) -> Schema | None:
    """JSON schema of a metric's options; None if it accepts any."""
    positional = [parameter.name for parameter in _positional(metric)][:2]
    parameters = [
        parameter for parameter in inspect.signature(metric).parameters.values() if parameter.name not in positional
    ]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    named = [parameter for parameter in parameters if parameter.kind is not parameter.VAR_POSITIONAL]
    hints, documented = _hints(metric), _argument_schemas(metric)
    properties = {
        parameter.name: _property(hints.get(parameter.name), parameter) | documented.get(parameter.name, {})
        for parameter in named
    }
    return {
        "type": "object",
        "properties": properties,
        "required": [parameter.name for parameter in named if parameter.default is parameter.empty],
        "additionalProperties": False,
    }


def _hints(metric: Callable[..., Any]) -> Mapping[str, Any]:
    try:
        return get_type_hints(metric)
    except (NameError, TypeError):
        return {}


def _argument_schemas(metric: Callable[..., Any]) -> dict[str, Schema]:
    """Descriptions of the arguments in the docstring's `Args:`."""
    _, _, after = inspect.cleandoc(metric.__doc__ or "").partition("Args:\n")
    lines = re.findall(r"^ {4}([\w, ]+): (.+(?:\n {8}.+)*)", after.partition("\n\n")[0], re.MULTILINE)
    return {
        name.strip(): {"description": " ".join(words.split())} for names, words in lines for name in names.split(",")
    }


def _property(hint: Any, parameter: inspect.Parameter) -> Schema:
    """JSON schema of one option; a non-JSON annotation becomes a JSON field."""
    try:
        schema: Schema = TypeAdapter(hint).json_schema() if hint is not None else {}
    except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticInvalidForJsonSchema):
        schema = {}
    if isinstance(parameter.default, bool | int | float | str):
        schema["default"] = parameter.default
    return schema
