"""Checks of a run's configuration against what workers offer."""

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from backend.domain import registry
from backend.domain.errors import Conflict, DeskarenaError, Invalid, UnknownPlugin
from backend.domain.machines.machine_image import DEFAULT
from backend.domain.model.judge_config import JudgeConfig
from backend.domain.model.run import ImageView, RunConfig
from backend.domain.model.validation_words import problem_words
from backend.domain.registry import PluginKind
from backend.services.capacity.run_request import RunRequest
from backend.services.capacity.worker_capabilities import Capabilities
from backend.services.read_model import FieldProblem

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_WORDS = {PluginKind.OBSERVATION: "observation space", PluginKind.ACTION_SPACE: "action space"}


def resolved_config(can: Capabilities, request: RunRequest) -> RunConfig:
    """The complete configuration of a request: its preset applied, then checked. Raises as `checked_config`."""
    return checked_config(can, requested_config(can, request))


def requested_config(can: Capabilities, request: RunRequest) -> RunConfig:
    """The configuration of a request with its preset, unchecked. Raises Invalid for an unknown preset."""
    offer = can.agents.get(request.agent)
    properties = (offer or {}).get("schema", {}).get("properties", {})
    return request.config(properties)


def checked_config(can: Capabilities, config: RunConfig) -> RunConfig:
    """`config` with the agent's defaults, so that the record has everything that determines a result.

    Raises:
        UnknownPlugin: agent, provider, observation or action space does not exist; the message has similar names.
        Invalid: a parameter is invalid; `path` names it.
        Conflict: agent, provider or image does not work here; the message says why.
    """
    _agent_offer(can, config.agent)
    _check_provider(can, config.provider)
    _check_image(can, config)
    if config.judge is not None:
        check_judge(can, config.judge)
    return checked_agent(can, config)


def checked_agent(can: Capabilities, config: RunConfig) -> RunConfig:
    """As `checked_config`, without desktop and judge."""
    options: dict[str, Any] = dict(_spaces(can, config, _agent_offer(can, config.agent)))
    options["params"] = checked_params(config.agent, config.params)
    options |= _space_options(config, options)
    if config.image == ImageView():
        options["image"] = None
    return config.model_copy(update=options)


def config_problems(can: Capabilities, config: RunConfig) -> list[FieldProblem]:
    """Everything that `checked_config` would raise, by field, so that all of it can be mended at once."""
    checks: dict[str, Callable[[], object]] = {
        "provider": partial(_check_provider, can, config.provider),
        "desktop_image": partial(_check_image, can, config),
        "agent": partial(_agent_problems, can, config),
    }
    if config.judge is not None:
        checks["judge.endpoint"] = partial(check_judge, can, config.judge)
    problems: list[FieldProblem] = []
    for path, check in checks.items():
        try:
            check()
        except DeskarenaError as error:
            problems += field_problems(error, path)
    return problems


def field_problems(error: DeskarenaError, path: str = "") -> list[FieldProblem]:
    """An error and those that it carries, each with its field, which its text need not name.

    Args:
        error: the error.
        path: the field, if the error names none.
    """
    if not isinstance(error, Invalid):
        return [FieldProblem(path=path, message=error.text)]
    return [FieldProblem(path=part.path or path, message=part.text_at_field) for part in (error, *error.others)]


def _agent_problems(can: Capabilities, config: RunConfig) -> None:
    """Raises what is wrong with the agent, or else all of its spaces, their options and its parameters."""
    offer = _agent_offer(can, config.agent)
    problems: list[Invalid] = []

    def collect(check: Callable[[], object]) -> Any:
        try:
            return check()
        except Invalid as error:
            problems.extend([error, *error.others])
            return None

    spaces = collect(lambda: _spaces(can, config, offer))
    collect(lambda: checked_params(config.agent, config.params))
    if spaces:
        collect(lambda: _space_options(config, spaces))
    raise_all(problems)


def raise_all(problems: Sequence[Invalid]) -> None:
    """Raises the first, which carries the others."""
    if problems:
        problems[0].others = tuple(problems[1:])
        raise problems[0]


def _agent_offer(can: Capabilities, agent: str) -> Mapping[str, Any]:
    offer = can.agents.get(agent)
    if offer is None:
        raise _unknown("agent", agent, can.agents, path="agent")
    if offer.get("reason"):
        raise Conflict(f"the agent {agent!r} cannot run here: {offer['reason']}", code="agent_not_runnable")
    return offer


def _spaces(can: Capabilities, config: RunConfig, offer: Mapping[str, Any]) -> dict[str, str | None]:
    """Observation and action space: the run's, else the agent's."""
    options = {
        "observation": config.observation or offer.get("observation") or None,
        "action_space": config.action_space or offer.get("action_space") or None,
    }
    offered = {"observation": can.observations, "action_space": can.action_spaces}
    for name, value in options.items():
        if value is not None and value not in offered[name]:
            raise _unknown(name.replace("_", " "), value, offered[name], path=name)
    return options


def _space_options(config: RunConfig, spaces: Mapping[str, str | None]) -> dict[str, Any]:
    """Options of both spaces, complete."""
    observation, action_space = spaces["observation"], spaces["action_space"]
    options = {**_own_look(config, observation), **(config.observation_params or {})}
    return {
        "observation_params": checked_options(PluginKind.OBSERVATION, observation, options),
        "action_params": checked_options(PluginKind.ACTION_SPACE, action_space, config.action_params or {}),
    }


def _own_look(config: RunConfig, space: str | None) -> Mapping[str, Any]:
    """Observation options that the agent adds by itself, as far as the space knows them."""
    registry.load()
    own: Mapping[str, Any] = getattr(registry.lookup(PluginKind.AGENT, config.agent), "observation_params", {})
    fields = registry.lookup(PluginKind.OBSERVATION, space).Params.model_fields if own and space else {}
    return {name: value for name, value in own.items() if name in fields}


def check_judge(can: Capabilities, judge: JudgeConfig) -> None:
    """Checks that some worker has the judge's endpoint.

    Raises:
        UnknownPlugin: There is no such endpoint.
        Conflict: It does not work.
    """
    if not can.reported:
        return
    offer = can.models.get(judge.endpoint)
    if offer is None:
        raise _unknown("model endpoint", judge.endpoint, can.models, path="judge.endpoint")
    if not offer.get("ok"):
        message = f"the judge's endpoint {judge.endpoint!r} does not work here: {offer.get('reason', '')}"
        raise Conflict(message, code="provider_not_runnable")


def _check_provider(can: Capabilities, name: str) -> None:
    provider = can.providers.get(name)
    if provider is None:
        raise _unknown("provider", name, can.providers, path="provider")
    if not provider.get("ok"):
        reason = provider.get("reason") or "no reason given"
        raise Conflict(
            f"the provider {name!r} cannot be used here: {reason}",
            code="provider_not_runnable",
            hint="`deskarena doctor` says more.",
        )


def _check_image(can: Capabilities, config: RunConfig) -> None:
    """Checks that the requested image exists, works and supports the run's screen."""
    if not can.reported:
        return
    offers, name = can.images(config.provider), config.desktop_image
    image_offer = next((offer for offer in offers if (offer.name == name if name else offer.default)), None)
    if name and image_offer is None:
        raise _unknown("image", name, [offer.name for offer in offers] or [DEFAULT], path="desktop_image")
    usable = [offer for offer in offers if not offer.reason]
    if image_offer is None and len(usable) > len({offer.os for offer in usable}):
        names = ", ".join(offer.name for offer in usable)
        raise Invalid(
            f"{config.provider} has several images: choose one",
            code="image_ambiguous",
            path="desktop_image",
            hint=f"One of {names}, or set DESKARENA_DEFAULT_IMAGE.",
        )
    if image_offer is not None and image_offer.reason:
        raise Conflict(
            f"the image {image_offer.name!r} cannot be used here: {image_offer.reason}", code="image_not_runnable"
        )
    if image_offer is not None and image_offer.screens and config.screen not in image_offer.screens:
        sizes = ", ".join(f"{screen.width}x{screen.height}" for screen in image_offer.screens[:10])
        raise Invalid(
            f"the image {image_offer.name!r} does not support this screen size",
            code="screen_not_supported",
            path="screen",
            hint=f"It supports {sizes}.",
        )


def checked_params(agent: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The agent's parameters with defaults, validated by its schema. Raises Invalid with the path."""
    registry.load()
    schema: type[BaseModel] = registry.lookup(PluginKind.AGENT, agent).Params
    instance = _validate(schema, params, path="params", owner=f"the agent {agent!r}")
    lacking = [
        Invalid(
            f"Choose a {name.replace('_', ' ')}: the agent {agent!r} needs one.",
            code="model_missing",
            path=f"params.{name}",
        )
        for name in getattr(schema, "models", ())
        if not getattr(instance, name)
    ]
    raise_all(lacking)
    return instance.model_dump(mode="json", by_alias=True)


def checked_options(kind: PluginKind, name: str | None, options: Mapping[str, Any]) -> dict[str, Any] | None:
    """Options of an observation or action space with defaults; None if all are defaults.

    Raises:
        Invalid: with the path of the invalid one.
    """
    if name is None:
        return None
    registry.load()
    schema: type[BaseModel] = registry.lookup(kind, name).Params
    field_name = "observation_params" if kind is PluginKind.OBSERVATION else "action_params"
    instance = _validate(schema, options, path=field_name, owner=f"the {_WORDS[kind]} {name!r}")
    # Runs from before a space had options equal those that use its defaults.
    return None if instance == schema() else instance.model_dump(mode="json", by_alias=True)


def _validate(schema: type[BaseModel], values: Mapping[str, Any], *, path: str, owner: str) -> BaseModel:
    names = {field.alias or name for name, field in schema.model_fields.items()}
    for name in values:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"It takes: {', '.join(sorted(names)) or 'no parameters'}."
            raise Invalid(f"{owner} has no such parameter", code="unknown_parameter", path=f"{path}.{name}", hint=hint)
    try:
        return schema.model_validate(dict(values))
    except ValidationError as error:
        raise_all([_wrong(detail, path) for detail in error.errors(include_url=False)])
        raise


def _wrong(error: "ErrorDetails", path: str) -> Invalid:
    where = ".".join([path, *(str(part) for part in error["loc"])])
    return Invalid(
        problem_words(error), code="invalid_parameter", path=where, hint=f"Given: {str(error['input'])[:80]!r}."
    )


def _unknown(word: str, name: str, names: Iterable[str], *, path: str) -> UnknownPlugin:
    near = difflib.get_close_matches(name, list(names), n=3)
    hint = f"Did you mean {', '.join(near)}?" if near else f"Known here: {', '.join(sorted(names)) or 'none'}."
    return UnknownPlugin(f"there is no {word} called {name!r} here", path=path, hint=hint)
