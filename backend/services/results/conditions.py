"""Conditions of runs: what affects a score besides the agent. Runs are comparable if their conditions are equal."""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

from backend.domain.model.outside_results import OUTSIDE_AGENT
from backend.domain.model.run import RunConfig
from backend.domain.model.task import digest
from backend.services.results.configuration_differences import CONDITIONS, effective_budget

KEY_LENGTH = 12
STATED = ("steps", "screen")
"""Parts of the conditions that imported results may state."""
_UNKNOWN: Mapping[str, str] = {
    "steps": "step budget",
    "screen": "screen",
    "seconds": "other limits",
    "tokens": "other limits",
    "cost": "other limits",
    "invalid": "other limits",
    "provider": "desktop",
    "image": "desktop",
    "judge": "judge",
    "settle": "waiting times",
    "wait": "waiting times",
}
"""Parts that are not known of imported results; of `STATED`, if they do not state them."""
_DEFAULTS: Mapping[str, Any] = RunConfig(agent="").model_dump(mode="json", include=set(CONDITIONS))
_WITHOUT: Mapping[str, str] = {
    "tokens": "no token limit",
    "cost": "no cost limit",
    "image": "default image",
    "variant": "no variant",
    "perturbation": "no perturbation",
    "judge": "no judge",
    "invalid": "default limit of invalid actions",
    "settle": "default settling time",
    "wait": "default waiting time",
}
"""Words for what is not named where it is the default."""


@dataclass(frozen=True)
class RunConditions:
    """Conditions of a run.

    Attributes:
        key: short hash, equal for runs that are alike on one version of a benchmark.
        parts: words by name; empty where it is the default.
        unknown: names of the parts that are not known: imported results state few.
    """

    key: str
    parts: Mapping[str, str]
    unknown: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """`15 steps, 30 min, local, 1920x1080`."""
        descriptions = [words for name, words in self.parts.items() if words and name not in self.unknown]
        return ", ".join([*descriptions, *([self.unknown_text] if self.unknown else [])])

    @property
    def unknown_text(self) -> str:
        """`unknown: other limits, desktop`; empty if everything is known."""
        return unknown_words(self.unknown)

    def differences(
        self, other: "RunConditions", other_has: str = "this board has", ignored: Container[str] = ()
    ) -> str:
        """`50 steps, this board has 15 steps`; empty if all known, not ignored conditions are equal."""
        return "; ".join(
            f"{words or _WITHOUT[name]}, {other_has} {other.parts[name] or _WITHOUT[name]}"
            for name, words in self.parts.items()
            if words != other.parts[name] and name not in self.unknown and name not in ignored
        )


def unknown_words(names: tuple[str, ...]) -> str:
    """These parts as text; empty without any."""
    return f"unknown: {', '.join(dict.fromkeys(_UNKNOWN[name] for name in names))}" if names else ""


def conditions_of(config: Mapping[str, Any]) -> RunConditions:
    """The conditions in a run's stored configuration."""
    values = {name: _complete(config.get(name), default) for name, default in _DEFAULTS.items()}
    values["budget"] = effective_budget(values["budget"])
    if config.get("provider") != OUTSIDE_AGENT:
        return RunConditions(digest(values)[:KEY_LENGTH], _parts(values))
    stated = {"steps": values["budget"]["max_steps"], "screen": config.get("screen")}
    unknown = tuple(name for name in _UNKNOWN if not stated.get(name))
    parts = {**_parts(values), **{name: f"unknown {_UNKNOWN[name]}" for name in unknown}}
    return RunConditions(digest({**values, "screen": stated["screen"]})[:KEY_LENGTH], parts, unknown)


def _complete(value: Any, default: Any) -> Any:
    """A stored value with the defaults of fields that came later."""
    if isinstance(default, Mapping):
        return {**default, **(value or {})}
    return default if value is None else value


def _parts(values: Mapping[str, Any]) -> dict[str, str]:
    budget, judge, screen = values["budget"], values["judge"], values["screen"]
    own = _DEFAULTS["budget"]
    return {
        "steps": _steps(budget),
        "seconds": f"{budget['max_seconds'] / 60:g} min",
        "tokens": f"{budget['max_tokens']:,} tokens" if budget["max_tokens"] else "",
        "cost": f"{budget['max_usd']:g} USD" if budget["max_usd"] else "",
        "invalid": f"{budget['max_invalid']} invalid actions" if budget["max_invalid"] != own["max_invalid"] else "",
        "provider": values["provider"],
        "image": f"image {values['desktop_image']}" if values["desktop_image"] else "",
        "screen": f"{screen['width']}x{screen['height']}",
        "variant": values["variant"] or "",
        "perturbation": f"windows {values['perturbation']}" if values["perturbation"] else "",
        "judge": _judge(judge) if judge else "",
        **{name: _settle(name, values[name]) for name in ("settle", "wait")},
    }


def _steps(budget: Mapping[str, Any]) -> str:
    if budget["max_steps"]:
        return f"{budget['max_steps']} steps"
    levels = budget["level_steps"] or {}
    by_level = ", ".join(f"{level} {steps}" for level, steps in sorted(levels.items()))
    return f"steps by level ({by_level})" if by_level else "step budgets of the tasks"


def _judge(judge: Mapping[str, Any]) -> str:
    options = ", ".join(f"{name} {value}" for name, value in sorted(judge.items()) if name != "model")
    return f"judge {judge['model']} ({options})" if options else f"judge {judge['model']}"


def _settle(name: str, value: Mapping[str, Any]) -> str:
    return "" if value == _DEFAULTS[name] else f"{name} {value['quiet']:g} s, at most {value['timeout']:g} s"
