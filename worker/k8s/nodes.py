"""Keeps a cluster's nodes in the database up to date: changes are written at once, by any worker."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from threading import Event
from uuid import UUID

from backend.domain.machines.nodes import NodeReport, NodeState
from backend.services.capacity import nodes
from backend.services.periodic_thread import PeriodicThread
from worker.base.database import Database
from worker.k8s.cluster import NODES, Cluster, Object
from worker.k8s.node_rules import EVERY, UNREADY_GRACE, NodeRequirements, emulated_words, node_report
from worker.k8s.reflector import Reflector

ANYWHERE = "the cluster's scheduler chooses the node"
NONE_SET = "no slots: set DESKARENA_K8S_NODES or DESKARENA_K8S_SLOTS"
AGAIN_SECONDS = 30.0
"""Interval at which everything is written again: another worker may have seen something else."""
FRESH_SECONDS = 2.0
"""Information of this age is current and may replace what another worker wrote."""
UNSEEN_SECONDS = 5.0
"""A node that this worker never saw is gone if no worker saw it for so long; a new one may only be seen later here."""
LOOK_SECONDS = 1.0
_MOST_WORDS = 300
logger = logging.getLogger(__name__)


def anywhere(slots: int, emulated: Mapping[str, str]) -> tuple[NodeReport, ...]:
    """A number of slots whose pods the cluster's scheduler places: needs no right to read nodes.

    Args:
        slots: their number.
        emulated: nodes on which machines are emulated although they have the device -> why.
    """
    slow = "; ".join(f"node {node}: {emulated_words(cause)}" for node, cause in sorted(emulated.items()))
    reason = slow[:_MOST_WORDS] if slots else NONE_SET
    return (NodeReport(name="", state=NodeState.READY, reason=reason, slots=slots, labels={"placed": ANYWHERE}),)


class NodeRegistry(PeriodicThread):
    """Background thread that registers a cluster's nodes, and gives up attempts on lost ones.

    While the API server does not respond nothing is written: nodes stay as they were last seen, and attempts continue.
    While it is silent our connection may be broken, and others may know better: then only changes are written.

    Args:
        database: to register them in.
        name: of the cluster, as in the worker's capabilities.
        source: returns all current nodes; None while unknown.
        fresh: whether they are current, as far as is known.
        woken: set when there may be changes.
    """

    def __init__(
        self,
        database: Database,
        name: str,
        source: Callable[[], Iterable[NodeReport] | None],
        *,
        fresh: Callable[[], bool] = lambda: True,
        woken: Event | None = None,
    ) -> None:
        super().__init__(
            "nodes",
            self.look,
            every=LOOK_SECONDS,
            broken="registering nodes raised",
            away="nodes cannot be registered",
            woken=woken,
        )
        self._database, self._name, self._source, self._fresh = database, name, source, fresh
        self._written: dict[str, NodeReport] = {}
        self._again_at = 0.0

    def stop(self, seconds: float = 5.0) -> None:
        """Stops it. Safe to call twice."""
        super().stop(seconds)

    def look(self) -> list[UUID]:
        """One round: registers changes. Returns the attempts that were given up.

        Raises:
            Unavailable: The database is unavailable.
        """
        fresh, current = self._fresh(), self._source()
        if current is None:
            return []
        now = {node.name: node for node in current}
        full = time.monotonic() >= self._again_at and fresh
        changes = [node for name, node in now.items() if full or node != self._written.get(name)]
        changes += [_as_gone(node) for name, node in self._written.items() if name not in now]
        if not changes and not full:
            return []
        changed = self._database.once(
            lambda session: nodes.observe(session, self._name, changes, whole=full, unseen=UNSEEN_SECONDS)
        )
        for name in changed:
            logger.info("node %s: %s", name or "(any)", _words(now.get(name)))
        lost = self._database.once(lambda session: nodes.move_off(session, self._name))
        if lost:
            logger.warning("gave up %d attempts on lost nodes", len(lost))
        self._written = now
        if full:
            self._again_at = time.monotonic() + AGAIN_SECONDS
        return lost


class NodeWatch:
    """A cluster's nodes from a watch; see `NodeRegistry`.

    Args:
        cluster: its nodes. The service account needs to get, list and watch `nodes`.
        selector: label selector; `*` = every node that offers the device.
        wants: returns the requirements, None while unknown; called in each round, as images change.
        emulated: nodes on which machines are emulated although they have the device -> why.
        woken: set at each change.
        grace: seconds for which a node that is not ready is tolerated.
        clock: monotonic seconds.
    """

    def __init__(  # noqa: PLR0913 - what it watches, and by which measure
        self,
        cluster: Cluster,
        selector: str,
        wants: Callable[[], NodeRequirements | None],
        *,
        emulated: Callable[[], Mapping[str, str]] = dict,
        woken: Event | None = None,
        grace: float = UNREADY_GRACE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.woken = woken or Event()
        self._wants, self._emulated, self._grace, self._clock = wants, emulated, grace, clock
        self._silent: dict[str, float] = {}
        labels = "" if selector == EVERY else selector
        self.reflector = Reflector(cluster, NODES, labels=labels, on_change=self._hear)

    def start(self) -> None:
        self.reflector.start()

    def stop(self) -> None:
        """Stops it. Safe to call twice."""
        self.reflector.stop()
        self.woken.set()

    def reports(self) -> list[NodeReport] | None:
        """Reports about all nodes; None while unknown, because the API server does not respond."""
        now, wants = self._clock(), self._wants()
        if self.reflector.trouble or wants is None:
            return None
        objects, slow = self.reflector.objects(), self._emulated()
        self._silent = {name: self._silent.get(name, now) for name, node in objects.items() if not _is_ready(node)}
        results = [
            node_report(
                node, wants, silent=now - self._silent.get(name, now), grace=self._grace, emulated=slow.get(name, "")
            )
            for name, node in sorted(objects.items())
        ]
        return [result for result in results if result is not None]

    def fresh(self) -> bool:
        """Whether the server has sent something recently; a broken connection is silent."""
        return self.reflector.age < FRESH_SECONDS

    def _hear(self, _: str, __: Object) -> None:
        self.woken.set()


def _is_ready(node: Object) -> bool:
    conditions: list[Mapping[str, str]] = (node.get("status") or {}).get("conditions") or []
    return any(condition.get("type") == "Ready" and condition.get("status") == "True" for condition in conditions)


def _as_gone(node: NodeReport) -> NodeReport:
    return node.model_copy(update={"state": NodeState.GONE, "reason": nodes.DELETED, "slots": 0})


def _words(node: NodeReport | None) -> str:
    if node is None:
        return "gone"
    return f"{node.state}, {node.slots} slots" + (f" ({node.reason})" if node.reason else "")
