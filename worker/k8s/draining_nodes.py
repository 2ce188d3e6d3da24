"""Nodes that pods are to leave, where the cluster's scheduler places pods and no slot has a node of its own."""

from worker.k8s.cluster import NODES, Cluster, Object
from worker.k8s.node_rules import leave
from worker.k8s.reflector import Reflector

GONE = "it was removed from the cluster"
OLD_SECONDS = 120.0
"""What was heard longer ago counts for nothing: a node may have been given back since, or we may read none any more."""
_MOST_GONE = 1000


class DrainingNodes:
    """A watch of all nodes. Where they may not be read, or nobody has heard of them lately, none is to be left."""

    def __init__(self, cluster: Cluster) -> None:
        """Starts nothing yet. Args: cluster: whose account may be allowed to list and watch `nodes`."""
        self._gone: dict[str, None] = {}
        self._nodes = Reflector(cluster, NODES, on_change=self._hear)

    def start(self) -> None:
        """Begins to watch, in a thread of its own."""
        self._nodes.start()

    def stop(self) -> None:
        """Ends it. Safe to call twice."""
        self._nodes.stop()

    def why(self, pod: Object) -> str:
        """Why no further attempt should begin in a pod: what is said of its node; empty = it may stay there.

        A node that was never seen is none that is gone: it may be newer than what was heard of nodes.
        """
        spec = pod.get("spec") or {}
        name = str(spec.get("nodeName") or "")
        if not name or self._nodes.age > OLD_SECONDS:
            return ""
        node = self._nodes.get(name)
        if node is None:
            return GONE if name in self._gone else ""
        return leave(node, spec.get("tolerations") or ())

    def _hear(self, kind: str, node: Object) -> None:
        if kind != "DELETED":
            return
        self._gone[str(node["metadata"]["name"])] = None
        while len(self._gone) > _MOST_GONE:
            del self._gone[next(iter(self._gone))]
