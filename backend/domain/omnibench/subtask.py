"""A subtask: OmniBench's smallest unit, with its inputs and outputs.

Source: OmniBench, appendix C.1; benchmark-formats reference, section 1.4.
"""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, Field

from backend.domain.errors import Invalid
from backend.domain.machines.applications import ApplicationNeeds, needs_of
from backend.domain.model.task import JSON, Frozen

Values = Mapping[str, JSON]
"""One complete set of parameters: name to text or number."""
_NAME = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


class SubtaskResource(Frozen):
    """Something that one subtask makes and another needs.

    Attributes:
        name: its category, for example `img_path` or `table_in_clipboard`.
        value: the value, if a parameter has the category's name; else there is one of its kind.
    """

    name: str
    value: JSON = None

    def serves(self, need: "SubtaskResource") -> bool:
        """Whether it satisfies a requirement: same category, and same value if both have one."""
        return self.name == need.name and (self.value is None or need.value is None or self.value == need.value)


class PoolStep(Frozen):
    """A set-up step of a subtask.

    Attributes:
        type, parameters: as in any task; `{name}` in a text is filled with the parameter.
        provides: input resources that it brings into being; it is left out where a subtask before makes them.
    """

    type: str
    parameters: Mapping[str, JSON] = Field(default_factory=dict)
    provides: tuple[str, ...] = ()


class Subtask(Frozen):
    """One entry of a pool. The keys are OmniBench's; those from `intents` on are ours.

    Attributes:
        id: unique in the pool.
        instruction_template: high-level instruction; `{name}` is replaced by the parameter.
        application: that it is done in.
        available_parameters: complete sets of parameters, not axes.
        os: `linux` or `windows`.
        input_resources, output_resources: categories that it needs and makes.
        intents: a person's intents; subtasks of one graph share one.
        steps: the same on a low level, one sentence per action.
        evaluation: expression of checks (see `expression.py`); empty where `source` judges.
        source: Python source of an evaluation function.
        setup: what it needs on a pristine desktop.
        oracle: a GUI solution as data, from any state in which its inputs are there.
        requires: commands that must exist on the desktop; without any, those of the application.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    id: str = Field(pattern=r"^[A-Za-z0-9_.-]{1,80}$")
    instruction_template: str = Field(min_length=1, max_length=4000)
    application: str = Field(min_length=1, max_length=100)
    available_parameters: tuple[Values, ...] = Field(default=({},), min_length=1, max_length=1000)
    os: str = Field(default="windows", alias="OS", pattern="^(linux|windows)$")
    input_resources: tuple[str, ...] = ()
    output_resources: tuple[str, ...] = ()
    intents: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    evaluation: str = Field(default="", max_length=20_000)
    source: str = Field(default="", max_length=100_000)
    setup: tuple[PoolStep, ...] = ()
    oracle: tuple[Mapping[str, JSON], ...] | None = None
    requires: tuple[str, ...] = ()

    def needs(self, values: Values) -> tuple[SubtaskResource, ...]:
        """Its input resources with these parameters."""
        return tuple(SubtaskResource(name=name, value=values.get(name)) for name in self.input_resources)

    def makes(self, values: Values) -> tuple[SubtaskResource, ...]:
        """Its output resources with these parameters."""
        return tuple(SubtaskResource(name=name, value=values.get(name)) for name in self.output_resources)

    def application_needs(self) -> ApplicationNeeds:
        """Needs on a desktop: `requires`, else those of its application."""
        return ApplicationNeeds(self.requires) if self.requires else needs_of([self.application], self.os)

    def instruction(self, values: Values) -> str:
        """The instruction with these parameters."""
        return str(fill_values(self.instruction_template, values))

    def check(self) -> None:
        """Raises Invalid where a template names a parameter that one of the sets lacks."""
        texts = (self.instruction_template, *self.steps)
        names = {name for text in texts for name in _NAME.findall(text)}
        for number, values in enumerate(self.available_parameters):
            lacking = sorted(names - set(values))
            if lacking:
                raise Invalid(
                    f"it lacks {lacking[0]!r}, which the text names",
                    code="invalid_subtask",
                    path=f"available_parameters.{number}",
                )


def fill_values(value: Any, values: Values) -> Any:
    """A JSON value with the parameters in the place of their `{name}`; any other brace stays as it is.

    A text that is one `{name}` and nothing else becomes the parameter itself, be it a number.
    """
    if isinstance(value, str):
        parameter_match = _NAME.fullmatch(value)
        if parameter_match and parameter_match[1] in values:
            return values[parameter_match[1]]
        return _NAME.sub(lambda match: str(values.get(match[1], match[0])), value)
    if isinstance(value, Mapping):
        return {key: fill_values(inner, values) for key, inner in value.items()}
    return [fill_values(inner, values) for inner in value] if isinstance(value, list | tuple) else value
