"""A cluster's nodes in the database as they are in the cluster: what changed is written at once, by any worker."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from threading import Event
from uuid import UUID

from backend.domain.machines.nodes import NodeReport, NodeState
from backend.services.capacity import nodes
from worker.base.database import Database
from worker.base.periodic_thread import PeriodicThread
from worker.k8s.cluster import NODES, Cluster, Object
from worker.k8s.node_rules import EVERY, UNREADY_GRACE, NodeRequirements, emulated_words, node_report
from worker.k8s.reflector import Reflector

ANYWHERE = "the cluster's scheduler chooses where a desktop goes"
NONE_SET = "no slots: set DESKARENA_K8S_NODES, or DESKARENA_K8S_SLOTS"
AGAIN_SECONDS = 30.0
"""After which all is written again: another worker may have seen something else."""
FRESH_SECONDS = 2.0
"""What was heard in this time is as the cluster is now, and may take the place of what another worker wrote."""
UNSEEN_SECONDS = 5.0
"""A node that this worker never saw is gone if nobody saw it for so long; one that came just now it may see later."""
LOOK_SECONDS = 1.0
_MOST_WORDS = 300
logger = logging.getLogger(__name__)


def anywhere(slots: int, emulated: Mapping[str, str]) -> tuple[NodeReport, ...]:
    """So many slots whose pods the cluster's scheduler places: no right to look at nodes is needed.

    Args:
        slots: their number.
        emulated: nodes on which machines are emulated although they have the device: why.
    """
    slow = "; ".join(f"on the node {node} {emulated_words(why)}" for node, why in sorted(emulated.items()))
    reason = slow[:_MOST_WORDS] if slots else NONE_SET
    return (NodeReport(name="", state=NodeState.READY, reason=reason, slots=slots, labels={"placed": ANYWHERE}),)


class NodeRegistry(PeriodicThread):
    """A thread that enters a cluster's nodes, and gives up what ran on those that are lost.

    While the API server does not answer nothing is written: nodes stay as they were last seen, and attempts go on.
    While it says nothing its line may be broken, and others may know better: then only what has changed is written.
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
        """Takes note; `start` begins.

        Args:
            database: where they are entered.
            name: of the cluster, as the worker's capabilities say it.
            source: all its nodes now; None while that is not known.
            fresh: whether they are so at this moment, as far as can be known.
            woken: set when there may be something new.
        """
        super().__init__(
            "nodes",
            self.look,
            every=LOOK_SECONDS,
            broken="looking at nodes failed",
            away="nodes cannot be entered",
            woken=woken,
        )
        self._database, self._name, self._seen, self._fresh = database, name, source, fresh
        self._written: dict[str, NodeReport] = {}
        self._again_at = 0.0

    def stop(self, seconds: float = 5.0) -> None:
        """Ends it. Safe to call twice."""
        super().stop(seconds)

    def look(self) -> list[UUID]:
        """Once: enters what differs from what was last written. Returns the attempts that were given up.

        Raises:
            Unavailable: the database is away.
        """
        fresh, current = self._fresh(), self._seen()
        if current is None:
            return []
        now = {each.name: each for each in current}
        whole = time.monotonic() >= self._again_at and fresh
        changes = [each for name, each in now.items() if whole or each != self._written.get(name)]
        changes += [_as_gone(each) for name, each in self._written.items() if name not in now]
        if not changes and not whole:
            return []
        changed = self._database.once(
            lambda session: nodes.observe(session, self._name, changes, whole=whole, unseen=UNSEEN_SECONDS)
        )
        for name in changed:
            logger.info("node %s: %s", name or "(any)", _words(now.get(name)))
        lost = self._database.once(lambda session: nodes.move_off(session, self._name))
        if lost:
            logger.warning("%d attempts were given up with their nodes", len(lost))
        self._written = now
        if whole:
            self._again_at = time.monotonic() + AGAIN_SECONDS
        return lost


class NodeWatch:
    """A cluster's nodes by watching them; see `NodeRegistry` for what becomes of them."""

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
        """Takes note; `start` begins.

        Args:
            cluster: whose nodes. The service account needs to get, list and watch `nodes`.
            selector: of labels; `*` = every node that offers the device.
            wants: what they are asked for, None while that is not known; called at each look, as images change.
            emulated: nodes on which machines are emulated although they have the device: why.
            woken: set at each change.
            grace: seconds for which a node that is not ready is waited for.
            clock: monotonic seconds.
        """
        self.woken = woken or Event()
        self._wants, self._emulated, self._grace, self._clock = wants, emulated, grace, clock
        self._silent: dict[str, float] = {}
        labels = "" if selector == EVERY else selector
        self.reflector = Reflector(cluster, NODES, labels=labels, on_change=self._hear)

    def start(self) -> None:
        """Begins to watch."""
        self.reflector.start()

    def stop(self) -> None:
        """Ends it. Safe to call twice."""
        self.reflector.stop()
        self.woken.set()

    def seen(self) -> list[NodeReport] | None:
        """The nodes by our rules; None while nobody knows, as the API server does not answer."""
        now, wants = self._clock(), self._wants()
        if self.reflector.trouble or wants is None:
            return None
        objects, slow = self.reflector.objects(), self._emulated()
        self._silent = {name: self._silent.get(name, now) for name, each in objects.items() if not _ready(each)}
        results = [
            node_report(
                each, wants, silent=now - self._silent.get(name, now), grace=self._grace, emulated=slow.get(name, "")
            )
            for name, each in sorted(objects.items())
        ]
        return [each for each in results if each is not None]

    def fresh(self) -> bool:
        """Whether the server has said something just now; a line that is broken says nothing."""
        return self.reflector.age < FRESH_SECONDS

    def _hear(self, _: str, __: Object) -> None:
        self.woken.set()


def _ready(node: Object) -> bool:
    conditions: list[Mapping[str, str]] = (node.get("status") or {}).get("conditions") or []
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _as_gone(node: NodeReport) -> NodeReport:
    return node.model_copy(update={"state": NodeState.GONE, "reason": nodes.DELETED, "slots": 0})


def _words(node: NodeReport | None) -> str:
    if node is None:
        return "gone"
    return f"{node.state}, {node.slots} slots" + (f" ({node.reason})" if node.reason else "")
