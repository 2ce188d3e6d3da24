"""Assembles a worker: plug-ins, providers that work here, and its description."""

import logging
import os
import socket
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from backend.addresses import own_address
from backend.config import Settings
from backend.domain import registry
from backend.domain.errors import EvaluatorFailed
from backend.domain.machines.egress_rules import EgressRules, wants_proxy, way_out_of
from backend.domain.machines.slots import DesktopNeeds, FreeResources, SlotCount, slot_count
from backend.domain.model.task import Task
from backend.domain.ports.agent import AgentChannel
from backend.domain.ports.cluster import ClusterProvider
from backend.domain.ports.desktop import Availability, OpenDesktop, Provider
from backend.domain.ports.storage import ArtifactStore
from backend.domain.registry import PluginKind
from backend.services import events
from backend.services.agents.agent_tokens import issue
from backend.services.artifacts.egress_policy import EgressPolicy
from backend.services.artifacts.ssrf_safe_http import GuardedWeb
from backend.services.capacity.task_secrets import TaskSecrets
from backend.services.capacity.worker_capabilities import agent_offer
from backend.services.capacity.workers import WorkerInfo
from backend.services.scheduling.claims import Claim
from worker.activity import ActivitySource
from worker.agents.container_channel import ContainerChannel
from worker.agents.container_trial import ContainerTrial
from worker.agents.containers import Engine
from worker.agents.redis_channel import RedisChannel
from worker.attempt.attempt_dependencies import AttemptDeps, AttemptLog, untold
from worker.attempt.desktop_progress import DesktopProgressWatch
from worker.attempt.live_stream import LiveStreamThread
from worker.attempt.takeover_client import TakeoverClient
from worker.attempt.task_context import no_judge
from worker.attempt.vlm_judge import AttemptJudge
from worker.base.database import Database
from worker.base.health import health_limits
from worker.base.lease import HeldLease
from worker.desktops.guest import read_clipboard
from worker.evaluation.evaluator import Evaluator
from worker.local.capacity import free_resources
from worker.models.model_pool import ModelPool
from worker.perception.element_detectors import Detectors, WorkerPerception
from worker.perception.ocr import why_not as no_text
from worker.scheduling.dispatcher import WorkerContext

CONTAINER = "container"
PLUGINS = ("worker.providers", "worker.models")
T = TypeVar("T")
logger = logging.getLogger(__name__)


def assemble(
    settings: Settings, database: Database, store: ArtifactStore, judge: Evaluator, models: ModelPool
) -> WorkerContext:
    """Everything that this process's dispatcher needs. Loads every plug-in; connects to neither database nor broker."""
    registry.load(*PLUGINS)
    providers = {
        name: registry.lookup(PluginKind.PROVIDER, name)(settings) for name in registry.names(PluginKind.PROVIDER)
    }
    return works_of(settings, database, store, providers, judge, models)


def works_of(  # noqa: PLR0913, PLR0917 - what a worker is put together from
    settings: Settings,
    database: Database,
    store: ArtifactStore,
    providers: Mapping[str, Provider],
    judge: Evaluator,
    models: ModelPool | None = None,
) -> WorkerContext:
    """Like `assemble`, for existing providers and judge."""
    parts = AttemptParts(settings, database, store, models or ModelPool.from_settings(settings))
    tools = {name: parts.dependencies(provider, judge) for name, provider in providers.items()}
    describing = partial(describe, settings, providers, judge, SlotCounter(settings), ContainerTrial(parts.engine))
    return WorkerContext(settings, database, store, describing, tools)


class AttemptParts:
    """Creates the dependencies of attempts; models, detectors, secrets and the container engine are shared by all."""

    def __init__(self, settings: Settings, database: Database, store: ArtifactStore, models: ModelPool) -> None:
        self._settings, self._database, self._store = settings, database, store
        self._web = GuardedWeb(EgressPolicy(private_hosts=settings.web_private_hosts))
        self._detectors = Detectors(settings.detectors)
        self._models = models
        self._secrets = TaskSecrets(settings.data_dir / "secrets")
        self.engine = Engine()

    def dependencies(self, provider: Provider, judge: Evaluator) -> AttemptDeps:
        """Dependencies of attempts on a provider's desktops."""
        return AttemptDeps(
            provider=provider,
            judge=judge,
            asset=self._store.get,
            pump=self._live_stream,
            web=self._web,
            secret=self._secrets,
            way_out=self._way_out,
            models=self._models.attempt,
            line=self._channel,
            judgement=self._judgement,
            eyes=partial(WorkerPerception, detectors=self._detectors),
            control=lambda claim, screen: TakeoverClient(claim.attempt_id, screen),
            health=health_limits(self._settings),
            opening=_progress_watch(provider),
        )

    def _live_stream(self, claim: Claim, opened: OpenDesktop, step: Callable[[], int]) -> LiveStreamThread:
        address = opened.stream_address()
        return LiveStreamThread(
            claim.attempt_id,
            address,
            events,
            fps=self._settings.live_fps,
            step=step,
            screen_width=opened.desktop.screen.width,
            otherwise=opened.picture,
            clipboard=partial(read_clipboard, address),
        )

    def _way_out(self, task: Task, assets: Mapping[str, str]) -> EgressRules:
        settings = self._settings
        proxy = self._secrets.find("upstream_proxy") if wants_proxy(task) else ""
        return way_out_of(task, assets, egress=settings.egress_policy, hosts=settings.egress_hosts, proxy=proxy)

    def _channel(self, claim: Claim, hold: HeldLease) -> AgentChannel:
        settings = self._settings
        redis_channel = RedisChannel(claim.attempt_id, patience=settings.lease_seconds)
        if claim.config.agent != CONTAINER:
            return redis_channel
        token = partial(issue, episode_id=claim.episode_id, agents=frozenset({CONTAINER}))
        return ContainerChannel(
            redis_channel,
            self.engine,
            attempt_id=claim.attempt_id,
            params=claim.config.params,
            api=settings.api_address or own_address(settings.host, settings.port),
            # Before the agent's time starts: waits for an unavailable database while the lease is valid.
            token=self._database.insist(token, hold),
        )

    def _judgement(self, claim: Claim, hold: HeldLease) -> Callable[[], bytes]:
        if claim.config.judge is None:
            return no_judge
        return AttemptJudge(
            config=claim.config.judge,
            task=claim.task,
            attempt_id=claim.attempt_id,
            in_database=partial(_insisting, self._database, hold),
            fetch=self._store.get,
            models=lambda: self._models.attempt(claim, hold),
        )


def _progress_watch(provider: Provider) -> Callable[[Claim, AttemptLog], AbstractContextManager[object]]:
    """Reports the progress of creating a desktop; does nothing if its provider does not report any."""
    if not isinstance(provider, ActivitySource):
        return untold
    return lambda claim, book: DesktopProgressWatch(
        claim.attempt_id, book, lambda: provider.tracker(claim.slot), events
    )


def _insisting(database: Database, hold: HeldLease, work: Callable[[Session], T]) -> T:
    return database.insist(work, hold)


class SlotCounter:
    """Computes a provider's slots once: later, running desktops would be counted as missing room."""

    def __init__(self, settings: Settings, room: Callable[[Path], FreeResources] = free_resources) -> None:
        self._settings = settings
        self._room = room
        self._counted: dict[str, SlotCount] = {}

    def __call__(self, provider: str, need: DesktopNeeds) -> SlotCount:
        """Slots of a provider that works here, given what one desktop needs."""
        count = self._counted.get(provider)
        if count is None or not count.number:
            count = slot_count(self._room(self._settings.data_dir), need, slot_limit=self._settings.slots)
            self._counted[provider] = count
        return count


def describe(
    settings: Settings,
    providers: Mapping[str, Provider],
    judge: Evaluator,
    counter: SlotCounter | None = None,
    containers: ContainerTrial | None = None,
) -> WorkerInfo:
    """This worker's capabilities, as stored in its row. May take a while: it tests the machine."""
    counter = counter or SlotCounter(settings)
    offers = {name: provider.availability() for name, provider in providers.items()}
    slots = {name: _slots(providers[name], counter, name, offer) for name, offer in offers.items() if offer.ok}
    judge.make_room(_of_desktops(providers, offers, slots))
    containers = containers or ContainerTrial(Engine())
    containers.engine.sweep()  # A dead worker, or an engine that was unavailable, may have left some behind.
    unable, unread = {CONTAINER: containers.why_not()}, no_text()
    capabilities: dict[str, Any] = {
        "providers": {
            name: {
                "ok": offer.ok and slots[name].number > 0,
                "reason": _reason(offer, slots.get(name)),
                "programs": sorted(offer.programs),
                "os": _systems(providers[name], offer),
                "images": [image.model_dump(mode="json") for image in offer.images],
                **_cluster(providers[name], offer),
                "slots": {"number": slots[name].number, "reason": slots[name].reason} if offer.ok else None,
            }
            for name, offer in offers.items()
        },
        "agents": {
            name: {**agent_offer(registry.lookup(PluginKind.AGENT, name)), "reason": unable.get(name, "")}
            for name in registry.names(PluginKind.AGENT)
        },
        "observations": registry.names(PluginKind.OBSERVATION),
        "action_spaces": registry.names(PluginKind.ACTION_SPACE),
        "models": ModelPool.from_settings(settings).offers(),
        "eyes": {"ocr": not unread, "reason": unread, "detectors": sorted(settings.detectors)},
        "evaluators": _fence(judge),
    }
    host = socket.gethostname()
    return WorkerInfo(
        name=f"{host}-{os.getpid()}",
        node=host,
        version=version("deskarena"),
        slots={name: count.number for name, count in slots.items()},
        capabilities=capabilities,
    )


def _slots(provider: Provider, counter: SlotCounter, name: str, offer: Availability) -> SlotCount:
    """Desktops that this worker runs in parallel."""
    if isinstance(provider, ClusterProvider):
        return SlotCount(provider.desktops, f"the slots are those of the cluster {provider.cluster}")
    return counter(name, offer.need)


def _of_desktops(
    providers: Mapping[str, Provider], offers: Mapping[str, Availability], slots: Mapping[str, SlotCount]
) -> int:
    """Maximum bytes that desktops take of this machine; those of a cluster take none. They share the machine."""
    local_names = [name for name in slots if not isinstance(providers[name], ClusterProvider)]
    return max((slots[name].number * offers[name].need.memory for name in local_names), default=0)


def _cluster(provider: Provider, offer: Availability) -> dict[str, str]:
    """Cluster of the slots; empty for this machine."""
    return {"cluster": provider.cluster} if offer.ok and isinstance(provider, ClusterProvider) else {}


def _reason(offer: Availability, count: SlotCount | None) -> str:
    """The provider's reason, or why there is no slot: without a slot no run would ever be claimed."""
    return offer.reason if count is None or count.number else f"no slots: {count.reason}"


def _systems(provider: Provider, offer: Availability) -> list[str]:
    """Operating systems of its desktops: its images' if it has several, else the provider's."""
    return sorted(
        {image.os for image in offer.images if not image.reason} or set(getattr(provider, "systems", ("linux",)))
    )


def _fence(judge: Evaluator) -> dict[str, Any]:
    try:
        return {"sandbox": judge.sandbox.value, "at_once": judge.turns.number}
    except EvaluatorFailed as error:
        logger.error("episodes cannot be scored here: %s", error.message)  # noqa: TRY400 - the message says it all.
        return {"sandbox": "", "reason": error.message}
