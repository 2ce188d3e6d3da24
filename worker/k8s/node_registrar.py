"""A worker's part in its cluster beside attempts: registers nodes and mirrors leases."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Event
from uuid import UUID

from backend.config import Settings
from backend.domain.errors import Invalid
from backend.domain.machines.slots import DesktopNeeds
from worker.base.database import Database
from worker.k8s import manifests
from worker.k8s.client import configured, connect
from worker.k8s.cluster import Cluster
from worker.k8s.lease_mirror import LeaseMirror
from worker.k8s.node_rules import EVERY, NodeRequirements
from worker.k8s.nodes import NodeRegistry, NodeWatch, anywhere
from worker.k8s.plan import PodPlan


class NodeRegistrar:
    """Starts and stops the parts together. See `NodeRegistry`, `NodeWatch` and `LeaseMirror`.

    Args:
        settings: which nodes, or how many slots.
        plan: settings of pods.
        database: with nodes and leases.
        cluster: closed with this.
        need: of the largest machine's pod; None while images are unknown: no node is registered until then.
        worker: our id and name.
        on_takeover: see `LeaseMirror`.
        emulated: see `NodeWatch`.
    """

    def __init__(  # noqa: PLR0913 - what it works with
        self,
        settings: Settings,
        plan: PodPlan,
        database: Database,
        cluster: Cluster,
        *,
        need: Callable[[], DesktopNeeds | None],
        worker: Callable[[], tuple[UUID, str] | None],
        on_takeover: Callable[[UUID, str], None],
        emulated: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._cluster = cluster
        woken, selector = Event(), settings.k8s_nodes
        name = f"{cluster.namespace}/{plan.owner}"
        self._watch: NodeWatch | None = None
        if selector:
            # While a pod's needs are unknown, so is the number of a node's slots.
            self._watch = NodeWatch(
                cluster,
                selector,
                lambda: wants(plan, need(), selected=selector != EVERY),
                emulated=emulated,
                woken=woken,
            )
            self._registry = NodeRegistry(database, name, self._watch.reports, fresh=self._watch.fresh, woken=woken)
        else:
            self._registry = NodeRegistry(database, name, lambda: anywhere(settings.k8s_slots, emulated()), woken=woken)
        self._mirror = LeaseMirror(
            database,
            cluster,
            owner=plan.owner,
            worker=worker,
            pod_name=lambda slot: manifests.pod_name(plan, slot),
            on_takeover=on_takeover,
        )

    @classmethod
    def from_settings(  # noqa: PLR0913 - what it works with
        cls,
        settings: Settings,
        database: Database,
        *,
        need: Callable[[], DesktopNeeds | None],
        worker: Callable[[], tuple[UUID, str] | None],
        on_takeover: Callable[[UUID, str], None],
        emulated: Callable[[], Mapping[str, str]] = dict,
    ) -> "NodeRegistrar | None":
        """From the settings; None if no cluster is configured, or wrongly: the provider reports what is wrong."""
        if not settings.k8s_pod_image or not configured(settings.kubeconfig):
            return None
        with suppress(Invalid):
            plan = PodPlan.from_settings(settings)
            cluster = connect(settings.kubeconfig, settings.k8s_namespace)
            return cls(
                settings, plan, database, cluster, need=need, worker=worker, on_takeover=on_takeover, emulated=emulated
            )
        return None

    def start(self) -> None:
        """Starts its background threads."""
        if self._watch is not None:
            self._watch.start()
        self._registry.start()
        self._mirror.start()

    def stop(self) -> None:
        """Stops it. Safe to call twice."""
        if self._watch is not None:
            self._watch.stop()
        self._registry.stop()
        self._mirror.stop()
        self._cluster.close()


def wants(plan: PodPlan, need: DesktopNeeds | None, *, selected: bool) -> NodeRequirements | None:
    """Requirements for nodes; None while a pod's needs are unknown."""
    if need is None:
        return None
    return NodeRequirements(need, device=plan.kvm, tolerations=plan.tolerations, selected=selected)
