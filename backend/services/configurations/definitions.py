"""Definition of a configuration: its identity, and its readable name."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from backend.domain import registry
from backend.domain.errors import UnknownPlugin
from backend.domain.model.presets import PRESETS
from backend.domain.model.run import RunConfig
from backend.domain.model.task import digest
from backend.domain.registry import PluginKind
from backend.services.read_model import short

FIELDS = ("agent", "params", "observation", "observation_params", "action_space", "action_params", "image")
"""Fields of a run that say who acts. With the agent's prompts they are the identity."""
NOT_THE_AGENTS = frozenset({"judge", "action_space"})
"""Pinned prompts that belong to the judge, or follow from the action space and the screen."""
SEPARATOR = " · "
LONGEST_VALUE = 24
LONGEST_NAME = 160


def definition_of(config: RunConfig, prompts: Mapping[str, str]) -> dict[str, Any]:
    """Everything that says who acts.

    Args:
        config: with the agent's defaults.
        prompts: hashes by name, as pinned by the run.
    """
    values = config.model_dump(mode="json", include=set(FIELDS))
    own = {name: sha256 for name, sha256 in prompts.items() if name not in NOT_THE_AGENTS}
    return {**{name: values[name] or None for name in FIELDS}, "prompts": own}


def identity_hash(definition: Mapping[str, Any]) -> str:
    """SHA-256 (hex) of a definition."""
    return digest(dict(definition))


def default_name(definition: Mapping[str, Any], preset: str | None = None) -> str:
    """`prompt · gpt-5-mini · set_of_marks · history=5`: agent, model, and what differs from the defaults.

    Args:
        definition: of a configuration.
        preset: published settings that the run used; its values are defaults, too.
    """
    agent = str(definition["agent"])
    own, params = _defaults(agent, preset), dict(definition["params"] or {})
    model, endpoint = params.pop("model", None), params.pop("endpoint", None)
    words = [agent, str(model)] if model else [agent, str(endpoint)] if endpoint else [agent]
    words += [
        str(definition[name]) for name in ("observation", "action_space") if definition[name] not in {None, own[name]}
    ]
    for name, defaults in (("params", own["params"]), *_space_defaults(definition, own)):
        values = params if name == "params" else dict(definition[name] or {})
        words += [_word(key, value) for key, value in sorted(values.items()) if value != defaults.get(key)]
    if definition["image"] and definition["image"] != own["image"]:
        words += _image_words(definition["image"])
    return short(SEPARATOR.join(words), LONGEST_NAME)


def _defaults(agent: str, preset: str | None) -> dict[str, Any]:
    """The agent's own settings, below those of the preset."""
    plugin, published = _plugin(PluginKind.AGENT, agent), PRESETS.get(preset or "")
    is_of_preset = agent in published.agents if published else False
    return {
        "params": {**_values(plugin), **(published.params if published else {})},
        "observation": (is_of_preset and published and published.observation) or getattr(plugin, "observation", None),
        "action_space": getattr(plugin, "action_space", None),
        "observation_params": {
            **getattr(plugin, "observation_params", {}),
            **((published.observation_params or {}) if is_of_preset and published else {}),
        },
        "image": published.image if is_of_preset and published else None,
    }


def _space_defaults(definition: Mapping[str, Any], own: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Options of the spaces, by the field that has them."""
    observation = _plugin(PluginKind.OBSERVATION, definition["observation"])
    yield "observation_params", {**_values(observation), **own["observation_params"]}
    yield "action_params", _values(_plugin(PluginKind.ACTION_SPACE, definition["action_space"]))


def _plugin(kind: PluginKind, name: str | None) -> Any:
    """The plug-in; None if this release has none of that name."""
    registry.load()
    try:
        return registry.lookup(kind, name) if name else None
    except UnknownPlugin:
        return None


def _values(plugin: Any) -> dict[str, Any]:
    """Defaults of a plug-in's parameters."""
    schema = getattr(plugin, "Params", None)
    return {} if schema is None else schema.model_construct().model_dump(mode="json", by_alias=True)


def _word(name: str, value: Any) -> str:
    if isinstance(value, bool) or value in (None, ""):
        return name if value else f"no {name}"
    return f"{name}={short(str(value), LONGEST_VALUE)}"


def _image_words(image: Mapping[str, Any]) -> list[str]:
    fit = image.get("fit")
    scale = image.get("scale", 1.0)
    words = [f"image {fit[0]}x{fit[1]}"] if fit else [f"image x{scale:g}"] if scale != 1.0 else []
    return words + (["previous image"] if image.get("beside_previous") else [])


def own_prompts(definition: Mapping[str, Any]) -> Iterator[tuple[str, str, str | None]]:
    """(name, hash, text) of the agent's prompts; text None where this release has another one or none."""
    texts: Mapping[str, str] = getattr(_plugin(PluginKind.AGENT, definition.get("agent")), "prompt_texts", dict)()
    for name, sha256 in sorted((definition.get("prompts") or {}).items()):
        text = texts.get(name)
        same = text is not None and hashlib.sha256(text.encode()).hexdigest() == sha256
        yield name, sha256, text if same else None
