"""Singletons of a worker process: database, store, dispatcher. Created on first use."""

import sys
from functools import cache
from typing import TYPE_CHECKING

from backend.config import get_settings
from backend.db.compatibility import old_schema
from backend.db.session import make_engine, session_factory
from backend.domain.machines.slots import MOST
from backend.domain.ports.storage import ArtifactStore
from backend.services.artifacts.stores import open_store
from worker.background.drafter import Drafter
from worker.background.reevaluator import Rescorer
from worker.base.database import Database
from worker.evaluation.code_cache import compiled_folder
from worker.evaluation.evaluator import Evaluator
from worker.evaluation.sandbox import here
from worker.models.model_pool import ModelPool
from worker.scheduling.dispatcher import Dispatcher, WorkerContext

if TYPE_CHECKING:
    from worker.k8s.node_registrar import NodeRegistrar
    from worker.k8s.warm_pool import WarmPool, WarmProvider

_dispatchers: list[Dispatcher] = []
_rescorers: list[Rescorer] = []
_drafters: list[Drafter] = []
_presences: list["NodeRegistrar"] = []
_warmers: list["WarmPool"] = []


@cache
def database() -> Database:
    """This process's database. Connects at first use."""
    settings = get_settings()
    slots = (MOST if settings.slots is None else settings.slots) + (
        settings.k8s_max_desktops_per_worker if settings.k8s_pod_image else 0
    )
    # Connections. Per slot: its attempt and its agent's watcher; then the dispatcher, the heartbeat, maintenance,
    # re-evaluation with its judge, and drafts. A worker that froze while it locked a run is given up after
    # `lease_seconds`, so nobody waits longer.
    idle = settings.lease_seconds / 2
    engine = make_engine(settings.database_url.get_secret_value(), pool_size=slots + 7, idle_seconds=idle)
    return Database(session_factory(engine))


@cache
def store() -> ArtifactStore:
    """This process's artifact store."""
    return open_store(get_settings())


@cache
def judge() -> Evaluator:
    """Computes all verdicts of this process; the number of parallel children is limited by memory."""
    return Evaluator(place=here(compiled_folder(get_settings().data_dir)))


def start() -> None:
    """Starts the dispatcher, unless there are no slots. Does not need the database or broker to be available.

    Exits with one sentence if the database is older than 0.2.
    """
    if problem := old_schema(get_settings().database_url.get_secret_value()):
        sys.exit(problem)
    if get_settings().slots != 0 and not _dispatchers:
        from worker.bootstrap.assembly import assemble

        works = assemble(get_settings(), database(), store(), judge())
        _dispatchers.append(Dispatcher(works))
        _dispatchers[0].start()
        _begin_presence(works, _dispatchers[0])
        models = ModelPool.of(get_settings()).models
        _rescorers.append(Rescorer(database(), store(), judge(), models, every=get_settings().poll_seconds))
        _rescorers[0].start()
        _drafters.append(Drafter(database(), models, every=get_settings().poll_seconds))
        _drafters[0].start()


def _begin_presence(works: WorkerContext, dispatcher: Dispatcher) -> None:
    """If the worker serves a cluster: registers its nodes, mirrors its leases, and keeps pods warm if configured."""
    # Beat's image, which imports this module, has no cluster client.
    from worker.k8s.node_registrar import NodeRegistrar
    from worker.providers.k8s import K8sProvider

    provider = works.tools[K8sProvider.name].provider if K8sProvider.name in works.tools else None
    if not isinstance(provider, K8sProvider):
        return
    presence = NodeRegistrar.of(
        works.settings,
        works.database,
        need=provider.largest,
        worker=lambda: dispatcher.identity,
        on_takeover=dispatcher.taken_over,
        emulated=provider.emulated,
    )
    if presence is not None:
        _presences.append(presence)
        presence.start()
        _begin_warmth(works, dispatcher, provider)


def _begin_warmth(works: WorkerContext, dispatcher: Dispatcher, provider: "WarmProvider") -> None:
    from worker.k8s.warm_pool import WarmPool

    if works.settings.k8s_warm_pods_per_node:
        warmer = WarmPool(
            works.database,
            provider,
            worker=lambda: dispatcher.identity[0] if dispatcher.identity else None,
            ahead=works.settings.k8s_warm_pods_per_node,
            idle=works.settings.k8s_idle_seconds,
        )
        _warmers.append(warmer)
        warmer.start()


def wake() -> None:
    """Wakes the dispatcher: there may be work."""
    for dispatcher in _dispatchers:
        dispatcher.wake()
    for rescorer in _rescorers:
        rescorer.wake()
    for drafter in _drafters:
        drafter.wake()


def begin_drain() -> None:
    """Stops taking work. Safe in a signal handler."""
    for dispatcher in _dispatchers:
        dispatcher.begin_drain()


def stop() -> None:
    """Stops the dispatcher gracefully. Safe to call twice."""
    while _warmers:
        _warmers.pop().stop()
    while _rescorers:
        _rescorers.pop().stop()
    while _drafters:
        _drafters.pop().stop()
    while _dispatchers:
        _dispatchers.pop().stop()
    while _presences:
        _presences.pop().stop()
