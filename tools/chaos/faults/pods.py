"""Pods of a cluster are hit: deleted, evicted, short of memory, replaced, without an image; their machines killed.

The cluster is a fake one (`tests/fakes/kubernetes`), whose pods run the real process of a pod.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from random import Random

from tests.fakes.kubernetes import lifecycle
from tests.fakes.kubernetes.behaviours import evicted, image_pull_back_off, oom_killed, running
from tests.fakes.kubernetes.kinds import PODS, Json
from tests.fakes.kubernetes.status import Refusal
from tests.fakes.kubernetes.subresources import evict_pod
from tools.chaos import processes
from tools.chaos.clustered import FLAVOUR, ClusterStack, ending
from tools.chaos.faults.base import Fault, PodMark, Scene, a_while, awaited, kind, pick_share
from tools.chaos.faults.guests import ProgramHit
from tools.chaos.stack import now

FINALIZER = "chaos.example/stuck"
DELETED = ("somebody deleted the pod",)
EVICTED = ("the pod was evicted",)
KILLED = ("the pod ended",)
MEMORY = ("the pod was killed for its memory",)
# A force-deleted pod is gone before the new one appears.
REPLACED = ("another pod has its name", *DELETED)


def cluster_of(scene: Scene) -> ClusterStack:
    """The stack of the scene, if it has a cluster."""
    if not isinstance(scene.stack, ClusterStack):
        raise TypeError("this fault needs a stack with a cluster")
    return scene.stack


def running_pods(scene: Scene, node: str = "") -> list[Json]:
    """Pods that run, of one node or of all, by name."""
    pods = [pod for pod in cluster_of(scene).all_pods() if pod["status"].get("phase") == "Running" and not ending(pod)]
    return sorted(
        (pod for pod in pods if not node or pod["spec"].get("nodeName") == node),
        key=lambda pod: str(pod["metadata"]["name"]),
    )


def one_pod(scene: Scene, share: float) -> Json | None:
    """A pod in which an attempt lives, as soon as there is one; None if none comes."""

    def used() -> list[Json]:
        uids = cluster_of(scene).pods_in_use()
        return [pod for pod in running_pods(scene) if pod["metadata"]["uid"] in uids]

    pods = awaited(used)
    index = pick_share(list(range(len(pods))), share)
    return None if index is None else pods[index]


def mark(scene: Scene, pod: Json, *words: str) -> None:
    """Records the reason that an attempt lost with the pod must give."""
    scene.marks.append(PodMark(pod["metadata"]["uid"], now(), words))


def deleted(stack: ClusterStack, pod: Json) -> None:
    """Deletes a pod as a user; does nothing if it is gone."""
    with suppress(Refusal):
        lifecycle.delete(stack.cluster.store, PODS, key_of(pod), {"preconditions": {"uid": pod["metadata"]["uid"]}})


def key_of(pod: Json) -> tuple[str, str]:
    """Namespace and name."""
    return pod["metadata"]["namespace"], pod["metadata"]["name"]


def evict(stack: ClusterStack, pod: Json) -> None:
    """Evicts a pod as `kubectl drain` does; does nothing if it is gone."""
    with suppress(Refusal):
        evict_pod(stack.cluster.state, key_of(pod))


def out_of_memory(stack: ClusterStack, pod: Json) -> None:
    """The kernel ends its container."""
    stack.cluster.run(*key_of(pod)).follow(oom_killed())


def put_out(stack: ClusterStack, pod: Json) -> None:
    """Its node is short of disk, and ends it."""
    stack.cluster.run(*key_of(pod)).follow(evicted())


def replaced(stack: ClusterStack, pod: Json) -> None:
    """Replaces it by another pod with its name."""
    stack.cluster.replace(*key_of(pod))


class PodHit(Fault):
    """Something happens to one pod in which an attempt lives."""

    def __init__(
        self, effect: str, share: float, hit: Callable[[ClusterStack, Json], None], words: tuple[str, ...]
    ) -> None:
        self.what, self.share, self.words = effect, share, words
        self._hit = hit

    def inject(self, scene: Scene) -> str:
        pod = one_pod(scene, self.share)
        if pod is None:
            return "no pod is in use"
        mark(scene, pod, *self.words)
        with suppress(KeyError, Refusal):
            self._hit(cluster_of(scene), pod)
        return f"pod {pod['metadata']['name']} on {pod['spec'].get('nodeName')} {self.what}"


class StuckPod(Fault):
    """A pod is deleted and stays Terminating because of a finalizer."""

    def __init__(self, share: float, seconds: float) -> None:
        self.share, self.seconds = share, seconds
        self._pod: Json | None = None

    def inject(self, scene: Scene) -> str:
        self._pod = one_pod(scene, self.share)
        if self._pod is None:
            return "no pod is in use"
        mark(scene, self._pod, *DELETED)
        self._finalizers(scene, [FINALIZER])
        deleted(cluster_of(scene), self._pod)
        return f"pod {self._pod['metadata']['name']} deleted and stuck for {self.seconds:.1f} s"

    def heal(self, scene: Scene) -> None:
        if self._pod is not None:
            self._finalizers(scene, [])

    def _finalizers(self, scene: Scene, finalizers: list[str]) -> None:
        def change(pod: Json) -> None:
            pod["metadata"].pop("finalizers", None)
            if finalizers:
                pod["metadata"]["finalizers"] = finalizers

        if self._pod is not None:
            cluster_of(scene).cluster.verbs.change(PODS, key_of(self._pod), change, self._pod["metadata"]["uid"])


class NoImage(Fault):
    """A pod is deleted, and no node can pull the image of a new one for a while."""

    def __init__(self, share: float, seconds: float) -> None:
        self.share, self.seconds = share, seconds

    def inject(self, scene: Scene) -> str:
        stack = cluster_of(scene)
        stack.cluster.script(image_pull_back_off("chaos: no such image"))
        pod = one_pod(scene, self.share)
        if pod is not None:
            mark(scene, pod, *DELETED)
            deleted(stack, pod)
        return f"images cannot be pulled for {self.seconds:.1f} s"

    def heal(self, scene: Scene) -> None:
        stack = cluster_of(scene)
        works = running(stack.pods.start)
        stack.cluster.script(works)
        # A real kubelet retries.
        for pod in stack.all_pods():
            if pod["status"].get("phase") == "Pending" and pod["spec"].get("nodeName"):
                with suppress(KeyError):
                    stack.cluster.run(*key_of(pod)).follow(works)


class MachineHit(ProgramHit):
    """The program is a pod's: its machine's QEMU, or its supervisor."""

    def there(self, scene: Scene) -> list[processes.ProcessInfo]:  # noqa: ARG002 - pods' processes are this one's.
        below = processes.below(os.getpid(), time.time())
        return [process for process in below if any(self.program in word for word in process.words[:4])]


def _hit(effect: str, hit: Callable[[ClusterStack, Json], None], words: tuple[str, ...], random: Random) -> Fault:
    return PodHit(effect, random.random(), hit, words)


def _kinds() -> None:
    for name, sentence, effect, hit, words in (
        ("delete pod", "somebody deletes a pod", "deleted", deleted, DELETED),
        ("evict pod", "a pod is evicted over the API", "evicted", evict, EVICTED),
        ("evict pod for disk pressure", "a pod's node runs short of disk and evicts it", "put out", put_out, EVICTED),
        ("out of memory", "a pod is ended for lack of memory", "out of memory", out_of_memory, MEMORY),
        ("replace pod", "a pod is replaced by another one of the same name", "replaced", replaced, REPLACED),
    ):
        kind(name, sentence, partial(_hit, effect, hit, words), FLAVOUR)
    for name, sentence, program in (
        ("machine", "the QEMU of a machine", "qemu-system"),
        ("supervisor", "the first process of a pod", "worker.qemu.supervisor"),
    ):
        kind(f"kill {name}", f"{sentence} gets SIGKILL", MachineHit.killed(program), FLAVOUR)
        kind(f"pause {name}", f"{sentence} is paused", MachineHit.paused(program), FLAVOUR)
    kind(
        "stall pod deletion",
        "a pod is deleted and a finalizer keeps it",
        lambda r: StuckPod(r.random(), a_while(r)),
        FLAVOUR,
    )
    kind("fail image pull", "the pods' image cannot be pulled", lambda r: NoImage(r.random(), a_while(r)), FLAVOUR)


_kinds()
