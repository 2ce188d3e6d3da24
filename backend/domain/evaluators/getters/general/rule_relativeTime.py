"""`rule_relativeTime`: a rule with dates relative to the day of the evaluation."""  # noqa: N999

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import field_validator, model_validator

from backend.domain.evaluators.getters._clock import instant, local_instant, read_clock
from backend.domain.evaluators.getters._evidence import ParameterGetter, only
from backend.domain.evaluators.getters.general._days import DAYS, day, format_day, second_day
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

SPLIT = {
    "next Monday split": ("puDay", "puMonth", "puYear"),
    "next Friday split": ("doDay", "doMonth", "doYear"),
}
"""Names whose date is written to three keys."""


class _Relative(Parameters):
    relativeTime: dict[str, str]  # noqa: N815 - upstream's name.
    expected: dict[str, Any]
    timezone: str | None = None

    @field_validator("timezone")
    @classmethod
    def _zone(cls, name: str | None) -> str | None:
        try:
            return name if name is None else ZoneInfo(name).key
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(f"unknown time zone {name!r}") from error

    @model_validator(mode="after")
    def _check_days(self) -> "_Relative":
        if not {"from"} <= set(self.relativeTime) <= {"from", "to"}:
            raise ValueError("`relativeTime` needs `from` and may have `to`")
        for name in self.relativeTime.values():
            if name not in DAYS:
                raise ValueError(f"unknown relative day {name!r}; known: {', '.join(DAYS)}")
        for key in self.keys():
            if not _is_template(self.expected.get(key)):
                raise ValueError(f"`expected` has no template under {key!r}")
        return self

    def keys(self) -> list[str]:
        """Keys of `expected` that receive dates."""
        return [key for side in self.relativeTime for key in self.keys_of(side)]

    def keys_of(self, side: str) -> tuple[str, ...]:
        """The keys for `from` or `to`."""
        if "to" not in self.relativeTime:
            return ("time",)
        return SPLIT.get(self.relativeTime[side], (side,))


class _Rule(Parameters):
    rules: dict[str, Any]


def _is_template(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))


def _parse_rule(parameters: Mapping[str, Any]) -> tuple[dict[str, Any], _Relative]:
    rules = _Rule.parse(parameters).rules
    return rules, _Relative.parse({key: rules[key] for key in _Relative.model_fields if key in rules})


@register(PluginKind.GETTER, "rule_relativeTime")
class RuleRelativeTime(ParameterGetter):
    """`rules`: `relativeTime` `{from, to}`, `expected` with templates, `timezone`, and other keys for the metric.

    The value is `rules` with the dates in `expected`: under `time` if there is no `to`, else under `from` and `to`, and
    for the names that end in `split` under `puDay`, `puMonth`, `puYear` and `doDay`, `doMonth`, `doYear`. Without
    `timezone` the desktop's time zone is used.
    """

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Raises Invalid if the parameters are wrong."""
        _parse_rule(parameters)

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        return [read_clock(context, local=_parse_rule(parameters)[1].timezone is None)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        rules, relative = _parse_rule(parameters)
        blob = only(blobs)
        zone = relative.timezone
        now = local_instant(blob) if zone is None else instant(blob).astimezone(ZoneInfo(zone))
        return {**rules, "expected": {**relative.expected, **_dates(relative, now.date())}}


def _dates(relative: _Relative, today: date) -> dict[str, Any]:
    first = relative.relativeTime["from"]
    days = {"from": day(first, today)}
    if "to" in relative.relativeTime:
        days["to"] = second_day(relative.relativeTime["to"], first, today)
    return {
        key: _fill_template(relative.expected[key], when)
        for side, when in days.items()
        for key in relative.keys_of(side)
    }


def _fill_template(template: str | list[str], when: date) -> str | list[str]:
    return format_day(template, when) if isinstance(template, str) else [format_day(item, when) for item in template]
