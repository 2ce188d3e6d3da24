"""Faults of cluster nodes (cordoned, tainted, drained, lost, removed) and of the cluster's API.

The cluster is a fake one (`tests/fakes/kubernetes`).
"""

from contextlib import suppress
from random import Random

from tests.fakes.kubernetes.faults import ApiFault
from tests.fakes.kubernetes.kinds import NODES as NODE
from tests.fakes.kubernetes.kinds import PODS
from tests.fakes.kubernetes.nodes import add_taint
from tests.fakes.kubernetes.status import Refusal, conflict
from tools.chaos.clustered import FLAVOUR, NODES
from tools.chaos.faults.base import ClosedNode, Fault, Scene, a_while, kind
from tools.chaos.faults.network import LinkFault
from tools.chaos.faults.parts import any_worker
from tools.chaos.faults.pods import EVICTED, cluster_of, evict, mark, running_pods
from tools.chaos.proxy import LinkMode
from tools.chaos.stack import now

TAINT = "chaos.example/maintenance"
LOST = ("the pod's node is lost", "its node was lost")
"""Reported by the pod or by the node's watch, whichever is first."""


def close(scene: Scene, node: str) -> ClosedNode:
    """Notes that a node takes nothing new from now on."""
    noted = ClosedNode(node, now())
    scene.closed.append(noted)
    return noted


class CordonNode(Fault):
    """A node takes no new pods for a while; with `drain` those that it has are evicted, as `kubectl drain` does."""

    def __init__(self, node: str, seconds: float, *, drain: bool = False) -> None:
        self.node, self.seconds, self.drain = node, seconds, drain

    def inject(self, scene: Scene) -> str:
        stack = cluster_of(scene)
        with suppress(KeyError):
            stack.cluster.cordon(self.node)
        self._closed = close(scene, self.node)
        pods = running_pods(scene, self.node) if self.drain else []
        for pod in pods:
            mark(scene, pod, *EVICTED)
            evict(stack, pod)
        return f"{self.node} cordoned for {self.seconds:.1f} s" + (f", {len(pods)} pods evicted" if self.drain else "")

    def heal(self, scene: Scene) -> None:
        self._closed.until = now()
        with suppress(KeyError):
            cluster_of(scene).cluster.cordon(self.node, on=False)


class TaintNode(Fault):
    """A node has a taint that our pods do not tolerate."""

    def __init__(self, node: str, seconds: float) -> None:
        self.node, self.seconds = node, seconds

    def inject(self, scene: Scene) -> str:
        self._taint(scene, "NoSchedule")
        self._closed = close(scene, self.node)
        return f"{self.node} tainted for {self.seconds:.1f} s"

    def heal(self, scene: Scene) -> None:
        self._closed.until = now()
        self._taint(scene)

    def _taint(self, scene: Scene, *effects: str) -> None:
        with suppress(KeyError):
            cluster_of(scene).cluster.nodes.change(self.node, lambda node: add_taint(node, TAINT, *effects))


class LoseNode(Fault):
    """A node is silent for a while; its pods continue unseen, or are dead."""

    def __init__(self, node: str, seconds: float, *, dead: bool) -> None:
        self.node, self.seconds, self.dead = node, seconds, dead

    def inject(self, scene: Scene) -> str:
        for pod in running_pods(scene, self.node):
            mark(scene, pod, *LOST)
        with suppress(KeyError):
            cluster_of(scene).cluster.lose(self.node, processes=self.dead)
        return f"{self.node} lost for {self.seconds:.1f} s, {'dead' if self.dead else 'running on'}"

    def heal(self, scene: Scene) -> None:
        with suppress(KeyError):
            cluster_of(scene).cluster.find(self.node)


class DeleteNode(Fault):
    """A node is removed, as by a scale-down, and another with its name is added later."""

    def __init__(self, node: str, seconds: float) -> None:
        self.node, self.seconds = node, seconds

    def inject(self, scene: Scene) -> str:
        for pod in running_pods(scene, self.node):
            mark(scene, pod, *LOST)
        with suppress(Refusal):
            cluster_of(scene).cluster.delete_node(self.node)
        return f"{self.node} deleted for {self.seconds:.1f} s"

    def heal(self, scene: Scene) -> None:
        stack = cluster_of(scene)
        if stack.cluster.store.get(NODE, ("", self.node)) is None:
            stack.add_node(self.node)


class ApiHit(Fault):
    """The cluster's API is unavailable, fails, throttles, is slow, answers 409, loses responses or old versions."""

    def __init__(self, how: str, seconds: float) -> None:
        self.how, self.seconds = how, seconds

    def inject(self, scene: Scene) -> str:
        cluster = cluster_of(scene).cluster
        match self.how:
            case "resets everything":
                cluster.faults.away = True
                cluster.api.cut_connections()
            case "fails":
                cluster.faults.fail(times=-1)
            case "throttles":
                cluster.faults.throttle(times=-1)
            case "is slow":
                cluster.faults.slow(1.0)
            case "answers 409":
                changes = ("update", "patch", "delete")
                cluster.faults.add(ApiFault(changes, times=-1, refusal=lambda: conflict(PODS, "chaos")))
            case "loses answers":
                cluster.faults.cut("create", "update", "delete", "patch", times=6, after=True)
            case _:
                cluster.compact()
                cluster.api.cut_watches()
        return f"the cluster's API {self.how}" + (f" for {self.seconds:.1f} s" if self.seconds else "")

    def heal(self, scene: Scene) -> None:
        if self.seconds:
            cluster_of(scene).cluster.faults.clear()


def _node(random: Random) -> str:
    return random.choice(NODES)


def _kinds() -> None:
    kind("cordon node", "a node is cordoned", lambda r: CordonNode(_node(r), a_while(r)), FLAVOUR)
    kind(
        "drain node",
        "a node is cordoned and its pods are evicted",
        lambda r: CordonNode(_node(r), a_while(r), drain=True),
        FLAVOUR,
    )
    kind("taint node", "a node has a taint that no pod tolerates", lambda r: TaintNode(_node(r), a_while(r)), FLAVOUR)
    kind(
        "partition node",
        "a node stops reporting; its pods run on",
        lambda r: LoseNode(_node(r), a_while(r), dead=False),
        FLAVOUR,
    )
    kind(
        "kill node",
        "a node stops reporting; everything on it has ended",
        lambda r: LoseNode(_node(r), a_while(r), dead=True),
        FLAVOUR,
    )
    kind("delete node", "a node is deleted", lambda r: DeleteNode(_node(r), a_while(r)), FLAVOUR)
    for name, sentence, how in (
        ("reset cluster api", "the cluster's API resets every connection", "resets everything"),
        ("fail cluster api", "the cluster's API answers 500", "fails"),
        ("throttle cluster api", "the cluster's API answers 429", "throttles"),
        ("delay cluster api", "the cluster's API takes a second more for each request", "is slow"),
        ("answer conflicts", "the cluster's API answers every change with 409", "answers 409"),
        (
            "lose cluster api answers",
            "the cluster's API carries out requests, but its responses are lost",
            "loses answers",
        ),
    ):
        kind(name, sentence, lambda r, how=how: ApiHit(how, a_while(r)), FLAVOUR)  # type: ignore[misc]
    kind(
        "expire watches", "all watches end, and old versions are gone (410)", lambda _: ApiHit("forgets", 0.0), FLAVOUR
    )
    kind(
        "partition cluster api",
        "a worker's connection to the cluster's API passes nothing",
        lambda r: LinkFault(f"{any_worker(r)}>cluster", LinkMode.HOLE, a_while(r)),
        FLAVOUR,
    )


_kinds()
