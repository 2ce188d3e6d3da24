"""This worker process: its database, store and judge, and the threads that do the work."""

import sys
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Protocol

from backend.config import get_settings
from backend.db.compatibility import old_schema
from backend.db.session import make_engine, session_factory
from backend.domain.machines.slots import MOST
from backend.domain.ports.storage import ArtifactStore
from backend.rotating_secrets import current
from backend.services.artifacts.stores import open_store
from backend.telemetry import tracing
from worker.background.drafter import Drafter
from worker.background.model_usage_reporter import ModelUsageReporter
from worker.background.offline_evaluator import OfflineEvaluator, RecordedPerception
from worker.background.reevaluator import Rescorer
from worker.base.database import Database
from worker.bootstrap.metrics_server import MetricsServer
from worker.evaluation.code_cache import compiled_folder
from worker.evaluation.evaluator import Evaluator
from worker.evaluation.sandbox import here
from worker.models.model_pool import ModelPool
from worker.perception.element_detectors import Detectors
from worker.scheduling.dispatcher import Dispatcher, WorkerContext

if TYPE_CHECKING:
    from worker.k8s.warm_pool import WarmProvider

OFFLINE_STEPS = 4
"""Steps of offline studies at which a worker asks agents at the same time. Nearly all of that is waiting for models."""


class WorkerThread(Protocol):
    """Part of a worker that runs in threads of its own."""

    def start(self) -> None:
        """Starts its threads."""
        ...

    def stop(self) -> None:
        """Stops them."""
        ...


class WorkerProcess:
    """The singletons of a worker process, created on first use. Celery's signals and tasks share `PROCESS`."""

    def __init__(self) -> None:
        self._threads: list[WorkerThread] = []

    @cached_property
    def database(self) -> Database:
        """Connects at first use."""
        settings = get_settings()
        slots = (MOST if settings.slots is None else settings.slots) + (
            settings.k8s_max_desktops_per_worker if settings.k8s_pod_image else 0
        )
        # Connections. Per slot: its attempt and its agent's watcher; then the dispatcher, the heartbeat, maintenance,
        # re-evaluation with its judge, and drafts. A worker that froze while it locked a run is given up after
        # `lease_seconds`, so nobody waits longer.
        idle = settings.lease_seconds / 2
        engine = make_engine(
            settings.database_url.get_secret_value(),
            pool_size=slots + 7,
            idle_seconds=idle,
            current_url=current(settings, "database_url"),
        )
        return Database(session_factory(engine))

    @cached_property
    def store(self) -> ArtifactStore:
        """The artifact store."""
        return open_store(get_settings())

    @cached_property
    def judge(self) -> Evaluator:
        """Computes all verdicts of this process; the number of parallel children is limited by memory."""
        return Evaluator(paths=here(compiled_folder(get_settings().data_dir)))

    def start(self) -> None:
        """Starts the threads, unless there are no slots. Does not need the database or broker to be available.

        Exits with one sentence if the database is older than 0.2.
        """
        settings = get_settings()
        if problem := old_schema(settings.database_url.get_secret_value()):
            sys.exit(problem)
        if settings.slots == 0 or self._threads:
            return
        from worker.bootstrap.assembly import assemble

        tracing.begin("deskarena-worker", version("deskarena"))
        if settings.worker_metrics_port:
            self._start(MetricsServer(settings))
        pool = ModelPool.from_settings(settings)
        context = assemble(settings, self.database, self.store, self.judge, pool)
        dispatcher, models = Dispatcher(context), pool.models
        self._start(ModelUsageReporter(self.database, pool.meter))
        self._start(dispatcher)
        self._start(Drafter(self.database, models, every=settings.poll_seconds))
        self._start(Rescorer(self.database, self.store, self.judge, models, every=settings.poll_seconds))
        eyes = RecordedPerception(Detectors(settings.detectors))
        for number in range(1, OFFLINE_STEPS + 1):
            every = settings.poll_seconds * number  # All are woken by a new study.
            self._start(OfflineEvaluator(self.database, self.store, models, eyes, number=number, every=every))
        self._serve_cluster(context, dispatcher)

    def _start(self, thread: WorkerThread) -> None:
        self._threads.append(thread)
        thread.start()

    def _serve_cluster(self, context: WorkerContext, dispatcher: Dispatcher) -> None:
        """If configured: registers the cluster's nodes, mirrors its leases, and keeps pods warm."""
        # Beat's image, which imports this module, has no cluster client.
        from worker.k8s.node_registrar import NodeRegistrar
        from worker.providers.k8s import K8sProvider

        provider = context.tools[K8sProvider.name].provider if K8sProvider.name in context.tools else None
        if not isinstance(provider, K8sProvider):
            return
        registrar = NodeRegistrar.from_settings(
            context.settings,
            context.database,
            need=provider.largest,
            worker=lambda: dispatcher.identity,
            on_takeover=dispatcher.on_takeover,
            emulated=provider.emulated,
        )
        if registrar is None:
            return
        # Stopped last: it mirrors the leases that the dispatcher gives back while it stops.
        self._threads.insert(0, registrar)
        registrar.start()
        if context.settings.k8s_warm_pods_per_node:
            self._keep_pods_warm(context, dispatcher, provider)

    def _keep_pods_warm(self, context: WorkerContext, dispatcher: Dispatcher, provider: "WarmProvider") -> None:
        from worker.k8s.warm_pool import WarmPool

        warm_pool = WarmPool(
            context.database,
            provider,
            worker=lambda: dispatcher.identity[0] if dispatcher.identity else None,
            ahead=context.settings.k8s_warm_pods_per_node,
            idle=context.settings.k8s_idle_seconds,
        )
        self._start(warm_pool)

    def wake(self) -> None:
        """There may be work."""
        for thread in tuple(self._threads):
            if isinstance(thread, Dispatcher | Rescorer | Drafter | OfflineEvaluator):
                thread.wake()

    def begin_drain(self) -> None:
        """Stops taking work. Safe in a signal handler."""
        for thread in tuple(self._threads):
            if isinstance(thread, Dispatcher):
                thread.begin_drain()

    def stop(self) -> None:
        """Stops the threads gracefully, the last one first. Safe to call twice."""
        while self._threads:
            self._threads.pop().stop()
        tracing.end()


PROCESS = WorkerProcess()
