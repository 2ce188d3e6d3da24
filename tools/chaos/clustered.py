"""The stack with a cluster: a fake one whose pods run the real process of a pod, with machines of a tiny image."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import text

from backend.domain.model.task import EvaluatorSpec, LoadedBenchmark, MetricCall, Task, TaskKey
from tests.factories.fake_cluster_pods import NAMESPACE, secret_of
from tests.factories.tiny_machine import SCREEN, tiny_image
from tests.factories.vm_pods import vm_pods
from tests.fakes.kubernetes.behaviours import running
from tests.fakes.kubernetes.cluster import fake_cluster
from tests.fakes.kubernetes.kinds import LEASES, PODS, SECRETS, Json
from tools.chaos.facts import Facts
from tools.chaos.load import Workload
from tools.chaos.stack import WORKERS, ChaosStack
from worker.k8s import manifests

FLAVOUR = "cluster"
LABEL = "deskarena.dev/chaos"
NODES = ("node-1", "node-2")
PER_NODE = 2
PACE = 0.05
"""Real seconds for one of the cluster's own: a lost node's pods are deleted after 15 s."""
IDLE = 30
"""Seconds that a pod outlives its last use, and its worker: the least that can be set."""
SWEEPS = 120.0
"""Seconds after its deadline in which a Lease object has been swept, should one of two sweeps have failed."""
PRESSES = {"tiny/five": 5, "tiny/eight": 8, "tiny/eleven": 11}
CLUSTER = Workload(
    benchmark="tiny",
    tasks=tuple(PRESSES),
    # The oracle presses a key so many times, and sees after each that it was counted: a machine that was lost and
    # forgot scores 0.
    agents=("oracle", "oracle", "oracle", "noop"),
    best="oracle",
    provider="k8s",
    more={"screen": SCREEN.model_dump(), "budget": {"max_steps": 40}},
)


class ClusterStack(ChaosStack):
    """The same stack; its workers serve a fake cluster of two nodes with two slots each.

    Each worker reaches the cluster's API over its own link, `worker-1>cluster`.
    """

    flavour = FLAVOUR
    rest_seconds = 60.0 + SWEEPS

    def _prepare(self) -> None:
        self.cluster = self._closing.enter_context(fake_cluster(pace=PACE))
        # An unprivileged user runs the pods, so their folder must be outside ours.
        self.pods = self._closing.enter_context(vm_pods(secret_of(self.cluster), tiny_image))
        self.cluster.add_namespace(NAMESPACE, {"pod-security.kubernetes.io/enforce": "restricted"})
        for name in NODES:
            self.add_node(name)
        self.cluster.script(running(self.pods.start))
        self._left: list[str] = []

    def add_node(self, name: str) -> None:
        """A node that workers use."""
        self.cluster.add_node(name, kvm=PER_NODE, labels={LABEL: "yes"})

    def _upstreams(self) -> dict[str, int | str]:
        port = urlsplit(self.cluster.address).port or 0
        return super()._upstreams() | {f"{worker}>cluster": port for worker in WORKERS}

    def _worker_environment(self, worker: str) -> dict[str, str]:
        own, line = self.cluster.address, f"http://127.0.0.1:{self.lines.ports[f'{worker}>cluster']}"
        path: Path = self.cluster.kubeconfig(self.folder / f"kubeconfig-{worker}", namespace=NAMESPACE)
        path.write_text(path.read_text().replace(own, line))
        return {
            "KUBECONFIG": str(path),
            "DESKARENA_K8S_POD_IMAGE": "registry.example/deskarena-vm:1",
            "DESKARENA_K8S_NAMESPACE": NAMESPACE,
            "DESKARENA_K8S_NODES": f"{LABEL}=yes",
            "DESKARENA_K8S_START_SECONDS": "90",
            "DESKARENA_K8S_IDLE_SECONDS": str(IDLE),
            # One template for all pods: emulated on a busy machine, one takes half a minute.
            "DESKARENA_K8S_TEMPLATE_VOLUME": "claim:templates",
        }

    def furnish(self) -> None:
        """Imports the tiny benchmark."""
        tasks = tuple(_task(name, presses) for name, presses in PRESSES.items())
        self.world.benchmark(LoadedBenchmark(kind=CLUSTER.benchmark, tasks=tasks), name=CLUSTER.benchmark)

    def unwell(self) -> str:
        """Also: all nodes are ready, and every worker offers the provider."""
        return super().unwell() or self._unready()

    def _unready(self) -> str:
        nodes = "SELECT name, reason FROM node WHERE cluster <> '' AND state = 'ready'"
        offers = """SELECT name, capabilities->'providers'->'k8s' AS offer FROM worker
            WHERE state = 'online' AND heartbeat_at > now() - interval '10 s'"""
        with self.world.work() as session:
            ready = {row.name for row in session.execute(text(nodes))}
            by_worker = {row.name: row.offer or {} for row in session.execute(text(offers))}
        missing = [f"{name} is not known to be ready" for name in NODES if name not in ready]
        missing += [f"{name}: {offer.get('reason')}" for name, offer in by_worker.items() if not offer.get("ok")]
        return "; ".join(missing)

    def orphans(self, facts: Facts) -> dict[str, str]:
        """Leftover objects of the cluster, with descriptions."""
        slot_ids = {str(lease.slot_id) for lease in facts.leases if lease.released_at is None}
        return dict([*self._wrong_pods(), *self._wrong_secrets(), *self._wrong_holds(slot_ids)])

    def _wrong_pods(self) -> Iterator[tuple[str, str]]:
        pods = self.all_pods()
        slots = Counter(pod["metadata"]["labels"].get(manifests.SLOT) for pod in pods if not ending(pod))
        yield from (
            (f"pods of {slot}", f"the slot {slot} has {count} pods") for slot, count in slots.items() if count > 1
        )
        for pod in pods:
            if past(pod):
                yield f"pod {pod['metadata']['uid']}", f"the pod {_words(pod)} is past its deadline"

    def _wrong_secrets(self) -> Iterator[tuple[str, str]]:
        known = {pod["metadata"]["uid"] for pod in self.all_pods()}
        for secret in self.cluster.store.all(SECRETS):
            owners = {owner["uid"] for owner in secret["metadata"].get("ownerReferences") or []}
            if not owners & known:
                yield f"secret {secret['metadata']['uid']}", f"the Secret {_words(secret)} outlived its pod"

    def _wrong_holds(self, slot_ids: set[str]) -> Iterator[tuple[str, str]]:
        for lease in self.cluster.store.all(LEASES):
            slot = lease["metadata"].get("labels", {}).get(manifests.SLOT, "")
            if slot not in slot_ids and past(lease, SWEEPS):
                yield f"hold {lease['metadata']['uid']}", f"the Lease object {_words(lease)} is past its deadline"

    def at_rest(self) -> list[str]:
        """Remaining objects of the cluster: unused pods disappear by themselves, with all that belongs to them."""
        return self._there()

    def _there(self) -> list[str]:
        objects = [stored for kind in (PODS, SECRETS, LEASES) for stored in self.cluster.store.all(kind)]
        return [f"in the cluster: {_words(stored)}" for stored in objects]

    def left(self) -> list[str]:
        """Leftovers after all workers had stopped."""
        return self._left

    def _stop(self) -> None:
        super()._stop()
        self._left = self._there()

    def all_pods(self) -> list[Json]:
        """Pods that there are."""
        return self.cluster.store.all(PODS)

    def has_room(self, live: Mapping[str, int], lost: str) -> bool:  # noqa: ARG002 - every worker may have every slot.
        return sum(live.values()) < PER_NODE * len(NODES)

    def pods_in_use(self) -> set[str]:
        """UIDs of the pods in which an attempt lives. Raises Unavailable."""
        with self.world.work() as session:
            query = "SELECT desktop->>'pod_uid' FROM attempt WHERE live AND desktop->>'pod_uid' IS NOT NULL"
            return set(session.scalars(text(query)))


def _task(name: str, presses: int) -> Task:
    """An agent that has pressed a key that many times has done it."""
    domain, _, short = name.partition("/")
    label = {"role": "label", "name": "inputs"}
    steps = [({"press": "a"}, {"wait": {**label, "text": str(number)}}) for number in range(1, presses + 1)]
    rule = {"xpath": f"//label[@name='inputs'][text()='{presses}']"}
    call = MetricCall(
        func="check_accessibility_tree",
        result={"type": "accessibility_tree"},
        expected={"type": "rule", "rules": [rule]},
    )
    return Task(
        key=TaskKey(domain=domain, name=short),
        dialect="starter",
        instruction=f"Press a key {presses} times.",
        evaluator=EvaluatorSpec(calls=(call,)),
        oracle=tuple(step for pair in steps for step in pair),
    )


def past(obj: Json, grace: float = 0.0) -> bool:
    """Whether an object is past its deadline, by a number of seconds."""
    deadline = (obj["metadata"].get("annotations") or {}).get(manifests.DEADLINE)
    if not deadline:
        return False
    return (datetime.now(UTC) - datetime.fromisoformat(deadline)).total_seconds() > grace


def ending(pod: Json) -> bool:
    """Whether a pod is being deleted."""
    return bool(pod["metadata"].get("deletionTimestamp"))


def _words(obj: Json) -> str:
    metadata = obj["metadata"]
    notes = metadata.get("annotations") or {}
    return f"{metadata['name']} (worker {notes.get(manifests.WORKER)}, deadline {notes.get(manifests.DEADLINE)})"
