"""`facts`: the input of several checks, collected together."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain import registry
from backend.domain.errors import Invalid
from backend.domain.evaluators.facts import FactValue, pack, unpack
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.omnibench.expression import DIALECT, MOST_CHECKS
from backend.domain.ports.task import Getter, SetupContext
from backend.domain.registry import PluginKind, register


class FactsParams(Parameters):
    """`facts`: checks as `{"type": name, parameter: value}`."""

    facts: tuple[Mapping[str, Any], ...]


@register(PluginKind.GETTER, "facts", dialect=DIALECT)
class FactsGetter:
    """The value is a list of `FactValue`, in the parameter's order."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Raises Invalid for an unknown check or wrong parameters of one."""
        facts = FactsParams.parse(parameters).facts
        if len(facts) > MOST_CHECKS:
            raise Invalid(f"at most {MOST_CHECKS} checks are read", code="invalid_check", path="facts")
        for fact in facts:
            own = getattr(_getter(fact), "check", None)
            registry.lookup(PluginKind.METRIC, str(fact.get("type")), DIALECT)
            if own is not None:
                own(_parameters(fact))

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        facts = FactsParams.parse(parameters).facts
        return pack([(fact, _getter(fact).collect(context, _parameters(fact))) for fact in facts])

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> list[FactValue]:  # noqa: ARG002 - evaluation functions ask for more than the task names.
        values = []
        for number, (fact, own) in enumerate(unpack(blobs)):
            inside = folder / str(number)
            inside.mkdir()
            values.append(FactValue(fact=fact, value=_getter(fact).read(own, _parameters(fact), inside)))
        return values


def _getter(fact: Mapping[str, Any]) -> Getter:
    plugin = registry.lookup(PluginKind.GETTER, str(fact.get("type", "")), DIALECT)
    getter: Getter = plugin() if isinstance(plugin, type) else plugin
    return getter


def _parameters(fact: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fact.items() if key != "type"}
