"""Provenance of a run's agent, pinned at submission: versions, prompt hashes, model, price, spaces.

`answered` is filled in during the run: model names as reported by their API, which may have a date that was not
requested.
"""

import hashlib
import subprocess
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from backend.domain import registry
from backend.domain.judging.prompt import PROMPT_SHA256
from backend.domain.model.prices import Price, price_of
from backend.domain.model.run import ImageView, RunConfig
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.registry import PluginKind
from backend.services.capacity.model_endpoints import BUILT_IN

ROOT = Path(__file__).resolve().parents[3]
MOST_MODELS = 50
_GIT_SECONDS = 10.0


def pins_of(config: RunConfig, models: Mapping[str, Any], today: date) -> dict[str, Any]:
    """Everything that defines the agent beyond its name.

    Args:
        config: checked, with all defaults.
        models: workers' endpoints, by name: `{api, prices}`.
        today: date of the price.
    """
    registry.load()
    plugin = registry.lookup(PluginKind.AGENT, config.agent)
    prompts = getattr(plugin, "prompts", dict)
    pins: dict[str, Any] = {
        "code": code_version(),
        "prompts": dict(prompts()),
        "parameters": dict(config.params),
        "observation": _space(PluginKind.OBSERVATION, config.observation, config.observation_params),
        "action_space": _space(PluginKind.ACTION_SPACE, config.action_space, config.action_params),
        "image": (config.image or ImageView()).model_dump(mode="json"),
        "screen": config.screen.model_dump(mode="json"),
        "budget": config.budget.model_dump(mode="json"),
        "preset": config.preset,
    }
    if config.params.get("model"):
        pins["model"] = {**_model(config, models, today, "model", "endpoint"), "answered": []}
    others = {
        name: _model(config, models, today, name, endpoint)
        for name, endpoint in _models(plugin)
        if name != "model" and config.params.get(name)
    }
    if others:
        pins["other_models"] = others
    if config.judge is not None:
        pins["prompts"]["judge"] = PROMPT_SHA256
    if config.action_space:
        pins["prompts"]["action_space"] = _instructions(config)
    return pins


def with_answering_model(pins: Mapping[str, Any], model: str) -> dict[str, Any] | None:
    """The pins with this model added to those that answered; None if it is known already, or no model is pinned."""
    pin = pins.get("model")
    if not model or not isinstance(pin, Mapping):
        return None
    models = list(pin.get("answered", ()))
    if model in models or len(models) >= MOST_MODELS:
        return None
    return {**pins, "model": {**pin, "answered": [*models, model]}}


@cache
def code_version() -> Mapping[str, str | None]:
    """Version of Deskarena and the commit it runs from, with `-dirty` where files were changed; None if unknown."""
    try:
        number: str | None = version("deskarena")
    except PackageNotFoundError:
        number = None
    return {"version": number, "commit": _commit()}


def _commit() -> str | None:
    # An installed package may be inside another project's repository, whose commit says nothing about ours.
    if not (ROOT / ".git").exists():
        return None
    line = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        result = subprocess.run(line, capture_output=True, text=True, timeout=_GIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() or None


def _space(kind: PluginKind, name: str | None, params: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if name is None:
        return None
    options = registry.lookup(kind, name).Params.model_validate(dict(params or {}))
    return {"name": name, "params": options.model_dump(mode="json")}


def _instructions(config: RunConfig) -> str:
    """Hash of the action space's instructions to a model on this screen."""
    space = registry.lookup(PluginKind.ACTION_SPACE, config.action_space or "")
    options = space.Params.model_validate(dict(config.action_params or {}))
    text: str = space(options).instructions(CoordinateFrame(screen=config.screen))
    return hashlib.sha256(text.encode()).hexdigest()


def _models(plugin: Any) -> Iterable[tuple[str, str]]:
    """The agent's parameters with a model, each with that of its endpoint."""
    fields = plugin.Params.model_fields
    pairs = ((name, f"{name.removesuffix('model')}endpoint") for name in fields if name.endswith("model"))
    return [(name, endpoint) for name, endpoint in pairs if endpoint in fields]


def _model(config: RunConfig, models: Mapping[str, Any], today: date, name: str, endpoint_name: str) -> dict[str, Any]:
    endpoint, model = str(config.params.get(endpoint_name, "")), str(config.params[name])
    offer = models.get(endpoint) or {}
    own = [Price.model_validate(price) for price in offer.get("prices", ())]
    price = price_of(model, today, 0, own)
    built_in = BUILT_IN[endpoint][0] if endpoint in BUILT_IN else None
    return {
        "asked": model,
        "endpoint": endpoint,
        "api": offer.get("api") or built_in,
        "price": price.model_dump(mode="json") if price is not None else None,
    }
