"""Merged capabilities of the workers."""

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache
from typing import Any

from sqlalchemy.orm import Session

from backend.config import get_settings
from backend.db.repositories.benchmarks.task_groups import TaskNeeds
from backend.db.repositories.capacity import licences
from backend.db.repositories.capacity import workers as repository
from backend.domain import registry
from backend.domain.errors import Unavailable
from backend.domain.machines.applications import missing, provided_names
from backend.domain.machines.image_offers import ImageOffer, image_for
from backend.domain.model.reason import Reason, ReasonCode
from backend.domain.model.run import RunConfig, ScreenSize
from backend.domain.registry import PluginKind
from backend.domain.scheduling.projects import PROVIDERS
from backend.domain.scheduling.requirements import FENCE
from backend.services.capacity.licences import lacking

NO_JUDGE = "a model judges it, and the run names none: give it a judge"
WITHOUT_JUDGE = "judge=none"
"""Variant in which checks replace a judge."""
_WORDS = {PluginKind.OBSERVATION: "observation space", PluginKind.ACTION_SPACE: "action space"}
SYSTEMS = ("linux", "windows")
"""Systems of tasks. A worker that does not report its systems is assumed to have both."""
FENCES = frozenset({"bwrap", "bwrap_own_user"})
"""Sandboxes of evaluators with their own view of files."""
REMEMBERED = timedelta(days=1)
"""While no worker is online (a restart, a night), runs are checked against workers seen within this time."""
WITHOUT_WORKER = "No worker has registered yet: this waits for one, which then says what it cannot run."


@dataclass(frozen=True)
class Capabilities:
    """Options for a run.

    Attributes:
        providers: by name: `{ok, reason, programs}`, `os` if the provider reports its systems, `images` if it has
            several, `slots`: `{number, reason}`, and `functions`: whether a worker with it can run Python evaluation
            functions.
        agents: by name: `{about, schema, observation, action_space, privileged}`.
        models: by name: workers' model clients and endpoints.
        online: number of online workers.
        licences: total seats by licence.
        reported: a worker has reported them; else they are what this release has, and nothing is known of desktops.
    """

    providers: Mapping[str, Mapping[str, Any]]
    agents: Mapping[str, Mapping[str, Any]]
    observations: frozenset[str]
    action_spaces: frozenset[str]
    online: int
    models: Mapping[str, Any] = field(default_factory=dict)
    licences: Mapping[str, int] = field(default_factory=dict)
    reported: bool = True

    def why_not(
        self,
        provider: str,
        task: TaskNeeds,
        *,
        judge: bool = True,
        image: str | None = None,
        screen: ScreenSize | None = None,
    ) -> Reason | None:
        """Why the task cannot run on that provider's desktops; None if it can. Of several, the code is the first's.

        Args:
            provider: its name.
            task: with its system, programs and licences.
            judge: whether the run has one.
            image: requested image, None = the provider's choice.
            screen: requested screen, None = any.
        """
        systems, programs, where, fault = self._machine(provider, task, image, screen)
        if fault:
            return Reason(fault.code, f"{where} for {task.os} cannot be made here: {fault.text}")
        if systems and task.os not in systems:
            text = f"needs {task.os}; {where} {'has' if image else 'are'} {', '.join(sorted(systems))}"
            return Reason(ReasonCode.SYSTEM_NOT_OFFERED, text)
        absent = missing(task.requires, programs)
        fenced = self.providers.get(provider, {}).get("functions", True) or not task.has_user_functions
        reasons = {
            ReasonCode.PROGRAMS_NOT_INSTALLED: absent and f"not installed on {where}: {', '.join(absent)}",
            ReasonCode.LICENCE_MISSING: lacking(task.licences or {}, self.licences),
            ReasonCode.JUDGE_NOT_CHOSEN: task.requires_judge and not judge and NO_JUDGE,
            ReasonCode.FUNCTIONS_NOT_SANDBOXED: not fenced and f"no worker with {provider} desktops has {FENCE}",
        }
        texts = {code: text for code, text in reasons.items() if text}
        return Reason(next(iter(texts)), "; ".join(map(str, texts.values()))) if texts else None

    def images(self, provider: str) -> tuple[ImageOffer, ...]:
        """The provider's images; empty if it has only one kind of desktop."""
        return _images(self.providers.get(provider, {}))

    def _machine(
        self, provider: str, task: TaskNeeds, image: str | None, screen: ScreenSize | None
    ) -> tuple[Collection[str], Collection[str], str, Reason | None]:
        """Systems and programs of the desktop for the task, its name in messages, and why it cannot be created."""
        offer = self.providers.get(provider, {})
        offers = self.images(provider)
        task_image = image_for(offers, image, task.os)
        image_offer = next((candidate for candidate in offers if candidate.name == task_image), None)
        if image_offer is None:
            several = [candidate.name for candidate in offers if candidate.os == task.os and not candidate.reason]
            text = f"several images would do ({', '.join(several)}): name one"
            unclear = Reason(ReasonCode.IMAGE_UNCLEAR, text) if len(several) > 1 else None
            return offer.get("os", ()), offer.get("programs", ()), f"{provider} desktops", unclear
        where = f"the image {image_offer.name}" if image else f"{provider} desktops"
        unusable = image_offer.reason or _unshown(image_offer, screen)
        fault = Reason(ReasonCode.IMAGE_UNUSABLE, unusable) if unusable else None
        return (image_offer.os,), image_offer.programs, where, fault


def needs_of(task: TaskNeeds) -> Hashable:
    """All that `Capabilities.why_not` reads of a task: tasks with equal needs have one answer."""
    licences = tuple(sorted((task.licences or {}).items()))
    return task.os, tuple(task.requires), licences, task.requires_judge, task.has_user_functions


def images_of(able: Mapping[str, Any], provider: str) -> tuple[ImageOffer, ...]:
    """One worker's report of a provider's images."""
    return _images(able.get("providers", {}).get(provider, {}))


def programs_of(able: Mapping[str, Any], provider: str) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """Commands that one worker's desktops of a provider provide: by system, then by image.

    The image "" is the provider's own choice. Unavailable ones are missing.
    """
    offer = able.get("providers", {}).get(provider, {})
    every = _images(offer)
    images = [image for image in every if not image.reason]
    systems = () if every else offer.get("os") or SYSTEMS
    programs = {system: {"": provided_names(offer.get("programs", ()))} for system in systems}
    for image in images:
        named = programs.setdefault(image.os, {})
        named[image.name] = provided_names(image.programs)
        if image_for(every, None, image.os) == image.name:
            named[""] = named[image.name]
    return programs


def runs_functions(able: Mapping[str, Any]) -> bool:
    """Whether a worker has a sandbox for Python evaluation functions.

    A worker of an older release that does not report its sandbox is assumed to have it.
    """
    evaluators = able.get("evaluators")
    return evaluators is None or evaluators.get("sandbox") in FENCES


def _unshown(image: ImageOffer, screen: ScreenSize | None) -> str:
    if screen is None or not image.screens or screen in image.screens:
        return ""
    return f"{image.name} cannot show {screen.width}x{screen.height}"


def _images(offer: Mapping[str, Any]) -> tuple[ImageOffer, ...]:
    return tuple(ImageOffer.model_validate(candidate) for candidate in offer.get("images") or ())


def has_judge(config: RunConfig) -> bool:
    """Whether tasks with a judge can be scored: the run has one, or uses a variant without."""
    return config.judge is not None or config.variant == WITHOUT_JUDGE


def capabilities(session: Session) -> Capabilities:
    """Capabilities of online workers; without any, those of the last day.

    Raises:
        Unavailable: No worker has registered, so nothing is known.
    """
    can = expected_capabilities(session)
    if not can.reported:
        raise Unavailable(
            "no worker has registered yet",
            code="no_worker",
            hint="Start one with `deskarena up`, or wait a few seconds if it is just starting.",
        )
    return can


def expected_capabilities(session: Session) -> Capabilities:
    """As `capabilities`; before a worker has registered, what this release has, so that work can be submitted."""
    now = repository.now(session)
    recent = repository.alive_since(session, now - REMEMBERED)
    fresh = now - timedelta(seconds=get_settings().lease_seconds)
    online = [row for row in recent if row.heartbeat_at >= fresh and row.state == "online"]
    if not recent:
        return _of_release()
    seats = {row.name: row.seats for row in licences.seats(session)}
    return replace(merge_offers([row.capabilities for row in online or recent[:1]], len(online)), licences=seats)


def missing_worker_notice(session: Session) -> str:
    """A sentence for who submits work before a worker has registered; empty afterwards."""
    return "" if expected_capabilities(session).reported else WITHOUT_WORKER


@cache
def _of_release() -> Capabilities:
    """Agents and spaces of this release, and its providers without anything known of their desktops."""
    registry.load()
    agents = {name: registry.lookup(PluginKind.AGENT, name) for name in registry.names(PluginKind.AGENT)}
    offers = {name: agent_offer(agent) for name, agent in agents.items()}
    observations, action_spaces = (frozenset(registry.names(kind)) for kind in _WORDS)
    providers = {name: {"ok": True} for name in PROVIDERS}
    return Capabilities(providers, offers, observations, action_spaces, online=0, reported=False)


def agent_offer(agent: Any) -> dict[str, Any]:
    """A worker's report on an agent."""
    return {
        "about": agent.about,
        "schema": agent.Params.model_json_schema(),
        "observation": agent.observation,
        "action_space": agent.action_space,
        "privileged": agent.privileged,
        "human": getattr(agent, "human", False),
    }


def merge_offers(offers: Iterable[Mapping[str, Any]], online: int) -> Capabilities:
    """Merged capabilities of several workers; `online`: number of them that are online."""
    providers: dict[str, dict[str, Any]] = {}
    agents: dict[str, Mapping[str, Any]] = {}
    observations: set[str] = set()
    action_spaces: set[str] = set()
    models: dict[str, Any] = {}
    for able in offers:
        for name, offer in able.get("providers", {}).items():
            providers[name] = _both(providers.get(name), {**offer, "functions": runs_functions(able)})
        for name, offer in able.get("agents", {}).items():
            if name not in agents or (agents[name].get("reason") and not offer.get("reason")):
                agents[name] = offer
        observations.update(able.get("observations", ()))
        action_spaces.update(able.get("action_spaces", ()))
        for name, offer in able.get("models", {}).items():
            if not models.get(name, {}).get("ok"):
                models[name] = offer
    return Capabilities(providers, agents, frozenset(observations), frozenset(action_spaces), online, models)


def _both(known: Mapping[str, Any] | None, offer: Mapping[str, Any]) -> dict[str, Any]:
    """Merges a provider of two workers: it works if either works; programs are joined."""
    if known is None or (offer.get("ok") and not known.get("ok")):
        return dict(offer)
    if not offer.get("ok"):
        return dict(known)
    joined = {**known, "functions": known["functions"] or offer["functions"]}
    for key in ("programs", "os"):
        if known.get(key) or offer.get(key):
            joined[key] = sorted({*known.get(key, ()), *offer.get(key, ())})
    if known.get("images") or offer.get("images"):
        # If both have one, the working one comes last and wins.
        both = [*(known.get("images") or ()), *(offer.get("images") or ())]
        both.sort(key=lambda image: bool(image.get("reason")), reverse=True)
        default = {image["name"] for image in both if image.get("default")}
        last = {image["name"]: image for image in both}
        joined["images"] = [{**image, "default": name in default} for name, image in last.items()]
    return joined
