"""All kubelets of the cluster: start the pods that are bound to a node, run their scripts, end them."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from itertools import count

from tests.fakes.kubernetes import pod_status
from tests.fakes.kubernetes.behaviours import running
from tests.fakes.kubernetes.events import EventRecorder
from tests.fakes.kubernetes.ground import Ground
from tests.fakes.kubernetes.kinds import PODS, Json, Resource
from tests.fakes.kubernetes.loop import WorkLoop
from tests.fakes.kubernetes.run import Behaviour, PodRun
from tests.fakes.kubernetes.store import Change, key_of


@dataclass
class PodScript:
    """Which pods do what.

    Attributes:
        times: for how many pods still; below 0: all.
    """

    behaviour: Behaviour
    fits: Callable[[Json], bool]
    times: int = -1


def named(name: str = "*", node: str = "*") -> Callable[[Json], bool]:
    """Pods whose name and node fit patterns."""
    return lambda pod: fnmatchcase(pod["metadata"]["name"], name) and fnmatchcase(pod["spec"].get("nodeName", ""), node)


_NUMBERS = count(1)
"""Of addresses: what an earlier cluster of this process left to its end may still listen."""


class Kubelets:
    """Runs on the cluster's loop.

    Attributes:
        runs: by the pod's uid.
        default: what pods do that no script is for.
        scripts: the newest that fits is what a pod does.
    """

    def __init__(self, ground: Ground, loop: WorkLoop, recorder: EventRecorder, pace: float) -> None:
        self._ground, self._loop, self._recorder, self._pace = ground, loop, recorder, pace
        self.runs: dict[str, PodRun] = {}
        self.default: Behaviour = running()
        self.scripts: list[PodScript] = []
        self.away: set[str] = set()

    def address(self) -> str:
        """A loopback address that nobody else has."""
        process, number = os.getpid(), next(_NUMBERS)
        # Those of other test processes on this machine lie elsewhere.
        return f"127.{16 + process % 224}.{(process // 224 + number // 250) % 250}.{number % 250 + 1}"

    def heard(self, resource: Resource, change: Change) -> None:
        """Notes a change of the fake's store; works on it later."""
        if resource is PODS:
            self.seen(change.kind, change.version.data)

    def seen(self, kind: str, pod: Json) -> None:
        """Queues a watch's event of a pod."""
        if not pod["spec"].get("nodeName"):
            return
        uid = pod["metadata"]["uid"]
        if kind == "DELETED":
            self.lost_sight(uid)
        elif uid not in self.runs and (pod.get("status") or {}).get("phase") == "Pending":
            self._take(pod)
        if pod["metadata"].get("deletionTimestamp") and uid in self.runs:
            run, seconds = self.runs[uid], float(pod["metadata"].get("deletionGracePeriodSeconds", 0))
            self._loop.soon(lambda: run.end(seconds))

    def lost_sight(self, uid: str) -> None:
        """The pod is not there any more."""
        if uid in self.runs:
            self._loop.soon(lambda: self._drop(uid))

    def _drop(self, uid: str) -> None:
        """Known until its processes are dead, so that the cluster's end finds them. It may be dropped already."""
        if uid in self.runs:
            self.runs[uid].kill()
            del self.runs[uid]

    def _take(self, pod: Json) -> None:
        node, about = pod["spec"]["nodeName"], pod["metadata"]
        run = PodRun(
            self._ground, self._loop, self._recorder, key_of(pod), about["uid"], node, self.address(), "127.0.0.1",
            self._pace, lost=node in self.away,
        )  # fmt: skip
        self.runs[about["uid"]] = run
        self._loop.soon(lambda: run.follow(self._behaviour(pod)))

    def _behaviour(self, pod: Json) -> Behaviour:
        for script in reversed(self.scripts):
            if script.times and script.fits(pod):
                script.times -= 1
                return script.behaviour
        return self.default

    def of_node(self, node: str) -> list[PodRun]:
        """Pods on a node."""
        return [run for run in list(self.runs.values()) if run.node == node]

    def log(self, pod: Json, _container: str, previous: bool) -> str:  # noqa: FBT001 - one way to call it
        """Output of a pod's containers."""
        run = self.runs.get(pod["metadata"]["uid"])
        return run.output(previous=previous) if run else ""

    def come_back(self, node: str) -> None:
        """The node is heard again: what was to end meanwhile ends."""
        self.away.discard(node)
        for run in self.of_node(node):
            run.lost = False
            pod = run.pod
            if pod is not None and not run.over and pod["status"].get("phase") == "Running":
                ready = run.process is None or run.process.ready()
                run.write(partial(pod_status.condition, kind="Ready", holds=ready))
            if pod is not None and pod["metadata"].get("deletionTimestamp"):
                seconds = float(pod["metadata"].get("deletionGracePeriodSeconds", 0))
                self._loop.soon(partial(run.end, seconds))

    def close(self) -> None:
        """Ends all processes."""
        for run in list(self.runs.values()):
            run.kill()
