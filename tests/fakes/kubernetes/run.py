"""One pod on one node: what a behaviour says and does in its name."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from uuid import uuid4

from tests.fakes.kubernetes import pod_status
from tests.fakes.kubernetes.events import KUBELET, EventRecorder, EventText
from tests.fakes.kubernetes.ground import Ground
from tests.fakes.kubernetes.kinds import PODS, Json
from tests.fakes.kubernetes.loop import WorkLoop
from tests.fakes.kubernetes.processes import ContainerProcess, Start
from tests.fakes.kubernetes.store import Key

# Yields the seconds until it goes on.
Behaviour = Callable[["PodRun"], Iterator[float]]


@dataclass
class PodRun:
    """A pod that a kubelet runs.

    Attributes:
        address: its own loopback address.
        pace: real seconds for one of the cluster's.
        lost: the node is away: nothing is written, nothing ends.
        stuck: it never confirms its end.
        lines: what its containers said, where no process runs.
    """

    ground: Ground
    loop: WorkLoop
    recorder: EventRecorder
    key: Key
    uid: str
    node: str
    address: str
    host: str
    pace: float
    lost: bool = False
    stuck: bool = False
    ending: bool = False
    over: bool = False
    process: ContainerProcess | None = None
    lines: list[str] = field(default_factory=list)
    before: str = ""
    _script: Iterator[float] | None = None

    @property
    def pod(self) -> Json | None:
        """The pod as it is now; None when it is gone."""
        obj = self.ground.find(PODS, self.key)
        return obj if obj is not None and obj["metadata"]["uid"] == self.uid else None

    def follow(self, behaviour: Behaviour) -> None:
        """From now on it does this."""
        script = behaviour(self)
        self._script = script
        self.loop.soon(lambda: self._step(script))

    def _step(self, script: Iterator[float]) -> None:
        if script is not self._script or self.over or self.ending:
            return
        if self.lost:
            self.loop.later(0.05, lambda: self._step(script))
            return
        wait = next(script, None)
        if wait is not None:
            self.loop.later(wait, lambda: self._step(script))

    def write(self, change: Callable[[Json], object]) -> None:
        """Changes the pod's status."""
        if not self.lost:
            self.ground.change(PODS, self.key, change, self.uid)

    def say(self, reason: str, message: str, *, warning: bool = False, source: str = KUBELET) -> None:
        """An event of the pod."""
        if (pod := self.pod) is not None and not self.lost:
            host = self.node if source == KUBELET else ""
            self.recorder.record(pod, EventText(reason, message, source, warning=warning, host=host))

    def names(self) -> list[str]:
        """Its containers."""
        return pod_status.names(self.pod) if self.pod else []

    def image(self) -> str:
        """The first container's."""
        return str(self.pod["spec"]["containers"][0]["image"]) if self.pod else ""

    def restarts(self) -> bool:
        """Whether a container that has ended is started again, for any exit code."""
        return bool(self.pod) and self.pod is not None and self.pod["spec"]["restartPolicy"] == "Always"

    def launch(self, start: Start | None) -> None:
        """Starts the process, if there is one; what the last one said is kept."""
        if self.process is not None:
            self.before = self.process.output()
            self.process.stop(0.0)
            self.process = None
        if start is not None and (pod := self.pod) is not None:
            self.process = start(pod, self.address)

    def output(self, *, previous: bool = False) -> str:
        """Output of its containers."""
        if previous:
            return self.before
        return self.process.output() if self.process else "".join(f"{line}\n" for line in self.lines)

    def termination_message(self, code: int) -> str:
        """The end of its output, if it failed and its first container asks for that."""
        falls_back = self.pod and self.pod["spec"]["containers"][0].get("terminationMessagePolicy", "") != "File"
        return self.output()[-2048:] if code and falls_back else ""

    def container_id(self) -> str:
        """A new one."""
        return f"fake://{uuid4().hex}"

    def end(self, seconds: float) -> None:
        """Stops its containers within the grace period and removes the pod; once."""
        if self.ending or self.stuck or self.lost:
            return
        self.ending = True
        for name in self.names():
            self.say("Killing", f"Stopping container {name}")
        threading.Thread(target=self._end, args=(seconds,), daemon=True).start()

    def _end(self, seconds: float) -> None:
        code = self.process.stop(seconds) if self.process else 0
        self.loop.soon(lambda: self._confirm(code))

    def _confirm(self, code: int) -> None:
        if self.lost:
            self.ending = False
            return
        self.over = True
        pod = self.pod
        if pod is None:
            return
        if pod["status"].get("phase") not in {"Succeeded", "Failed"}:
            self.write(lambda obj: pod_status.stopped(obj, code))
        self.ground.confirm(self.key, self.uid)

    def kill(self) -> None:
        """Ends its containers at once: the pod is gone."""
        self.over = True
        if self.process is not None:
            self.process.stop(0.0)
