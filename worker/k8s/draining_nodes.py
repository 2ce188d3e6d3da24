"""Nodes that pods should leave, where the cluster's scheduler places pods and slots have no node."""

from backend.services.lru_cache import LruCache
from worker.k8s.cluster import NODES, Cluster, Object
from worker.k8s.node_rules import leave
from worker.k8s.reflector import Reflector

GONE = "it was removed from the cluster"
OLD_SECONDS = 120.0
"""Older information is ignored: the node may have been uncordoned, or we may no longer have the right to read nodes."""
MOST_GONE = 1000


class DrainingNodes:
    """Watch of all nodes. Without the right to read them, or recent information, no node is to be left."""

    def __init__(self, cluster: Cluster) -> None:
        """Args: cluster: its account needs the right to list and watch `nodes`."""
        self._gone: LruCache[str, str] = LruCache(MOST_GONE)
        self._nodes = Reflector(cluster, NODES, on_change=self._hear)

    def start(self) -> None:
        """Starts watching in a background thread."""
        self._nodes.start()

    def stop(self) -> None:
        """Stops watching. Safe to call twice."""
        self._nodes.stop()

    @property
    def trouble(self) -> str:
        """Why the information may be outdated; empty if it is not."""
        return self._nodes.trouble

    def why(self, pod: Object) -> str:
        """Why no further attempt should start in a pod because of its node; empty = it may stay.

        A node that was never seen does not count as gone: it may be newer than our information.
        """
        spec = pod.get("spec") or {}
        name = str(spec.get("nodeName") or "")
        if not name or self._nodes.age > OLD_SECONDS:
            return ""
        node = self._nodes.get(name)
        if node is None:
            return self._gone.get(name) or ""
        return leave(node, spec.get("tolerations") or ())

    def _hear(self, kind: str, node: Object) -> None:
        if kind == "DELETED":
            self._gone.put(str(node["metadata"]["name"]), GONE)
