"""The scheduler: gives pending pods a node, or says why there is none."""

from collections import Counter
from collections.abc import Iterator

from tests.fakes.kubernetes import fitting, subresources
from tests.fakes.kubernetes.events import SCHEDULER, EventRecorder, EventText
from tests.fakes.kubernetes.kinds import NODES, PODS, Json, Resource
from tests.fakes.kubernetes.loop import WorkLoop
from tests.fakes.kubernetes.quantities import asked
from tests.fakes.kubernetes.state import State
from tests.fakes.kubernetes.store import Change, Key, key_of, now

_ENDED = {"Succeeded", "Failed"}


class Scheduler:
    """Runs on the cluster's loop. Each node's allocated resources are kept, so a pod costs one check per node."""

    def __init__(self, state: State, loop: WorkLoop, recorder: EventRecorder) -> None:
        self._state = state
        self._loop = loop
        self._recorder = recorder
        self._pending: dict[str, Key] = {}
        self._held: dict[str, tuple[str, dict[str, float]]] = {}
        self._used: dict[str, dict[str, float]] = {}
        self._start = 0
        self._planned = False

    def heard(self, resource: Resource, change: Change) -> None:
        """Notes a change; works on it later."""
        if resource is PODS:
            self._pod(change)
        elif resource is NODES and (change.kind != "MODIFIED" or _matters(change)):
            self._plan()

    def _pod(self, change: Change) -> None:
        pod = change.version.data
        uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName")
        if change.kind == "DELETED" or (pod.get("status") or {}).get("phase") in _ENDED:
            self._pending.pop(uid, None)
            if self._free(uid):
                self._plan()
        elif node:
            self._pending.pop(uid, None)
            self._hold(uid, node, pod)
        elif _mine(pod) and uid not in self._pending:
            self._pending[uid] = key_of(pod)
            self._plan()

    def _plan(self) -> None:
        if not self._planned:
            self._planned = True
            self._loop.soon(self._round)

    def _hold(self, uid: str, node: str, pod: Json) -> None:
        if uid in self._held:
            return
        wanted = asked(pod["spec"])
        self._held[uid] = (node, wanted)
        used = self._used.setdefault(node, {})
        for name, value in wanted.items():
            used[name] = used.get(name, 0.0) + value

    def _free(self, uid: str) -> bool:
        node, wanted = self._held.pop(uid, ("", {}))
        for name, value in wanted.items():
            self._used[node][name] -= value
        return bool(node) and bool(self._pending)

    def _round(self) -> None:
        """Looks at every pending pod once, those of higher priority and the older ones first."""
        with self._state.store.lock:
            self._planned = False
            nodes = sorted(self._state.store.all(NODES), key=lambda node: node["metadata"]["name"])
            pods_by_key = [self._state.store.get(PODS, key) for key in self._pending.values()]
        pods = [pod for pod in pods_by_key if pod is not None]
        for pod in sorted(pods, key=lambda pod: -int(pod["spec"].get("priority") or 0)):
            self._place(pod, nodes)

    def _place(self, pod: Json, nodes: list[Json]) -> None:
        reasons: Counter[str] = Counter()
        helpless, wanted = 0, asked(pod["spec"])
        for node in self._turned(nodes):
            obstacles = fitting.obstacles(pod["spec"], wanted, node, self._used.get(node["metadata"]["name"], {}))
            if not obstacles:
                self._bind(pod, node["metadata"]["name"])
                return
            reasons.update(obstacles)
            helpless += fitting.is_helpless(obstacles)
        self._refuse(pod, fitting.sentence(len(nodes), reasons, helpless))

    def _turned(self, nodes: list[Json]) -> Iterator[Json]:
        """The nodes, beginning after the one that was taken last, so that pods spread."""
        for place in range(len(nodes)):
            at = (self._start + place) % len(nodes)
            yield nodes[at]

    def _bind(self, pod: Json, node: str) -> None:
        key, uid = key_of(pod), pod["metadata"]["uid"]
        with self._state.store.lock:
            now_is = self._state.store.get(PODS, key)
            if now_is is None or now_is["metadata"]["uid"] != uid or now_is["spec"].get("nodeName"):
                return
            subresources.assign(self._state, key, node, uid)
        self._start += 1
        text = f"Successfully assigned {key[0]}/{key[1]} to {node}"
        self._recorder.record(pod, EventText("Scheduled", text, SCHEDULER))

    def _refuse(self, pod: Json, message: str) -> None:
        condition = {
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
            "lastProbeTime": None, "lastTransitionTime": now(),
        }  # fmt: skip

        def change(obj: Json) -> None:
            old = [
                condition for condition in obj["status"].get("conditions") or [] if condition["type"] == "PodScheduled"
            ]
            if not old or old[0].get("message") != message:
                obj["status"]["conditions"] = [condition]

        if self._state.verbs.change(PODS, key_of(pod), change, pod["metadata"]["uid"]) is not None:
            self._recorder.record(pod, EventText("FailedScheduling", message, SCHEDULER, warning=True))


def _mine(pod: Json) -> bool:
    spec = pod["spec"]
    waits = spec.get("schedulingGates") or pod["metadata"].get("deletionTimestamp")
    return spec.get("schedulerName") == "default-scheduler" and not waits


def _matters(change: Change) -> bool:
    """Whether a node changed in what pods are placed by."""
    old, obj = (change.before.data if change.before else {}), change.version.data

    def seen(node: Json) -> object:
        about, status = node.get("metadata") or {}, node.get("status") or {}
        return node.get("spec"), about.get("labels"), status.get("allocatable")

    return seen(old) != seen(obj)
