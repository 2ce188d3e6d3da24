"""Presets: settings under which a benchmark's published results were obtained (protocols §3).

A preset fills in settings that a request leaves open; the request takes precedence. A preset sets only what its paper
states. Settings of the agent apply to agents with a parameter of that name.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from backend.domain.errors import Invalid
from backend.domain.model.task import Frozen

# Common to all presets: WAIT ends when the screen has been still for 0.5 s, after at most 5 s.
_WAIT = {"quiet": 0.5, "timeout": 5.0}


class Preset(Frozen):
    """One published setting.

    Attributes:
        about: description for forms.
        config: fields of RunConfig, nested alike.
        params: parameters of agents.
        agents: the paper's agents, which alone get its observation space.
        observation, observation_params, image: input of those agents.
        judge: settings of the run's judge, if it has one.
    """

    about: str
    config: Mapping[str, Any] = Field(default_factory=dict)
    params: Mapping[str, Any] = Field(default_factory=dict)
    agents: tuple[str, ...] = ()
    observation: str | None = None
    observation_params: Mapping[str, Any] | None = None
    image: Mapping[str, Any] | None = None
    judge: Mapping[str, Any] = Field(default_factory=dict)


PRESETS: Mapping[str, Preset] = {
    "osworld": Preset(
        about="OSWorld: 1920x1080, 15 steps, 30 minutes, the last 3 steps as chat turns, temperature 1.0, top-p 0.9.",
        config={
            "screen": {"width": 1920, "height": 1080},
            "budget": {"max_steps": 15, "max_seconds": 1800.0},
            "wait": _WAIT,
        },
        params={"history": 3, "temperature": 1.0, "top_p": 0.9, "max_tokens": 1500, "tree_tokens": 10_000},
    ),
    "waa": Preset(
        about="Windows Agent Arena: 1440x900, the previous screenshot and earlier actions, temperature 1.0.",
        config={"screen": {"width": 1440, "height": 900}, "wait": _WAIT},
        params={"temperature": 1.0, "use_last_screen": True, "n_prev": 15},
    ),
    "windowsworld": Preset(
        about="WindowsWorld: steps by level, L1 15, L2 25, L3 40, L4 20; a judge at temperature 0.3.",
        config={"budget": {"level_steps": {"L1": 15, "L2": 25, "L3": 40, "L4": 20}}, "wait": _WAIT},
        judge={"temperature": 0.3},
    ),
    "omnibench": Preset(
        about="OmniBench: 1024x1024 pictures with the previous step's beside them, at most 200 steps.",
        config={"budget": {"max_steps": 200}, "wait": _WAIT},
        agents=("omni", "prompt", "computer_use"),
        image={"fit": [1024, 1024], "beside_previous": True},
    ),
    "prosoftarena": Preset(
        about="ProSoftArena: 1280x800, steps by level (L1 35, L2 and L4 55, L3 100), temperature 1.0, top-p 0.8.",
        config={
            "screen": {"width": 1280, "height": 800},
            "budget": {"level_steps": {"L1": 35, "L2": 55, "L3": 100, "L4": 55}},
            "wait": _WAIT,
        },
        params={"temperature": 1.0, "top_p": 0.8},
        agents=("prosoft", "navi"),
        observation="set_of_marks",
        observation_params={"windows": True, "clipboard": True, "previous": True},
    ),
}


def with_preset(fields: Mapping[str, Any], known_params: frozenset[str]) -> dict[str, Any]:
    """A request with its preset's settings filled in.

    Args:
        fields: fields of RunConfig that the request sets.
        known_params: names of the agent's parameters.

    Raises:
        Invalid: the preset does not exist; the hint lists the existing ones.
    """
    name = fields.get("preset")
    if name is None:
        return dict(fields)
    preset = PRESETS.get(name)
    if preset is None:
        raise Invalid(
            f"there is no preset {name!r}",
            code="unknown_preset",
            path="preset",
            hint=f"There are: {', '.join(sorted(PRESETS))}.",
        )
    open_ = {**preset.config, "params": {key: value for key, value in preset.params.items() if key in known_params}}
    if fields.get("judge") is not None:
        open_["judge"] = preset.judge
    if fields.get("agent") in preset.agents:
        open_ |= _observation_options(preset, fields)
    return _under(open_, fields)


def _observation_options(preset: Preset, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The observation of the preset's own agents. Its options apply only to its own observation space."""
    own = fields.get("observation") in {None, preset.observation}
    settings = {
        "observation": preset.observation,
        "observation_params": preset.observation_params if own else None,
        "image": preset.image if fields.get("image") is None else None,
    }
    return {key: value for key, value in settings.items() if value is not None}


def _under(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merges both; `above` takes precedence, None is ignored."""
    both = dict(below)
    for key, value in above.items():
        lower = both.get(key)
        if isinstance(value, Mapping) and isinstance(lower, Mapping):
            both[key] = _under(lower, value)
        elif value is not None or key not in both:
            both[key] = value
    return both
