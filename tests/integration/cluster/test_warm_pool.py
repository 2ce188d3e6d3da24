"""Pods that are kept ready ahead of work: real Postgres, provider, supervisor and guests' API; a cluster of our own."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from backend.db.models import Attempt, Run
from backend.domain import registry
from backend.domain.machines.nodes import NodeReport, NodeState
from backend.domain.model.run import Budget
from backend.services.capacity import nodes
from backend.services.scheduling import claims
from tests.factories.claims import infeasible_task
from tests.factories.fake_cluster_pods import PodCluster, light_place
from tests.factories.light_guest import SCREEN
from tests.factories.records import World, capabilities
from tests.fakes.kubernetes.behaviours import slow_start
from tests.integration.worker.in_process import InProcessWorker, attempts, benchmark_of, episodes, finished
from tests.waiting import until
from worker.base.database import Database
from worker.k8s.warm_plan import WarmPlan
from worker.k8s.warm_pool import WarmPool
from worker.providers.k8s import K8sProvider

KIND = "light 640x480"
START = 1.0
"""Seconds until a pod's process is started in these tests."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PodCluster]:
    registry.load()
    with light_place(tmp_path_factory.mktemp("warm")) as made:
        yield made


@pytest.fixture
def provider(place: PodCluster, request: pytest.FixtureRequest) -> Iterator[K8sProvider]:
    """Of a test's own installation in the cluster."""
    made = place.provider(k8s_instance_label=f"warm-{abs(hash(request.node.name)) % 10**6}", k8s_idle_seconds=60)
    yield made
    made.close()


def offer(world: World, provider: K8sProvider, **states: str) -> None:
    """Two nodes with two slots each."""
    found = [
        NodeReport(name=f"node-{n}", state=NodeState(states.get(f"node_{n}", "ready")), slots=2) for n in (1, 2)
    ]  # fmt: skip
    world.do(nodes.observe, provider.cluster, found, whole=True)


def worker_of(world: World, provider: K8sProvider, name: str = "w1") -> Any:
    images = [each.model_dump(mode="json") for each in provider.availability().images]
    said = {"ok": True, "reason": "", "programs": ["mousepad"], "cluster": provider.cluster, "images": images}
    return world.worker(name, node=name, slots_by_provider={"k8s": 9}, capabilities=capabilities(k8s=said))


def warmer_of(database: Database, provider: K8sProvider, worker: Any, ahead: int = 1, idle: float = 60.0) -> WarmPool:
    return WarmPool(database, provider, worker=lambda: worker.id, ahead=ahead, idle=idle)


def submit(world: World, number: int) -> Run:
    return world.submit(
        "noop", benchmark="light", provider="k8s", screen=SCREEN, repeats=number, budget=Budget(max_steps=1)
    )  # fmt: skip


@pytest.fixture
def work(ready: World) -> World:
    ready.benchmark(benchmark_of(infeasible_task()), name="light")
    return ready


def created(place: PodCluster) -> int:
    """Created pods, without those of trials."""
    return sum(
        each.verb == "create" and each.path.endswith("/pods") and "dryRun" not in each.query
        for each in place.cluster.asked
    )  # fmt: skip


def label_of(provider: K8sProvider) -> str:
    """The label of its installation."""
    return provider.cluster.rpartition("/")[2]


def ours(place: PodCluster, provider: K8sProvider) -> set[str]:
    """Nodes of this installation's pods."""
    owner = label_of(provider)
    labels = "deskarena.dev/owner"
    return {str(pod["spec"].get("nodeName")) for pod in place.named() if pod["metadata"]["labels"][labels] == owner}


def settle(warmer: WarmPool, provider: K8sProvider) -> dict[str, str]:
    """Looks until there is nothing left to do and nothing is in the making; kinds of desktop by slot."""
    until(lambda: not (todo := warmer.look()).prepare and not todo.remove and not provider.warming(), 20.0)
    return dict(provider.warmed() or {})


def seconds(world: World, run: Run) -> list[float]:
    """From each lease to what was seen first."""
    found: list[Attempt] = [attempt for each in episodes(world, run.id) for attempt in attempts(world, each.id)]
    return sorted(
        (attempt.first_observation_at - attempt.started_at).total_seconds()
        for attempt in found
        if attempt.first_observation_at is not None
    )


@pytest.mark.sampled(3)
class TestWarm:
    def test_an_episode_on_a_warm_node_makes_no_pod_and_nothing_is_left(
        self, place: PodCluster, provider: K8sProvider, work: World, database: Database
    ) -> None:
        place.cluster.script(slow_start(START, place.pods.start))
        offer(work, provider)
        settings = place.settings(slots=2, poll_seconds=0.1, heartbeat_seconds=0.2, lease_seconds=5.0)
        worker = InProcessWorker(settings, work, provider)
        warmer = WarmPool(
            database, provider, worker=lambda: worker.dispatcher.identity[0], ahead=1, idle=60.0  # type: ignore[index]
        )  # fmt: skip
        cold = submit(work, 1)
        finished(work, cold.id)
        assert ours(place, provider) == {"node-1"}
        assert set(settle(warmer, provider).values()) == {KIND}
        assert ours(place, provider) == {"node-1", "node-2"}, "what was used last is ready on each node"
        before = created(place)
        warm = submit(work, 2)
        assert {each.state for each in finished(work, warm.id)} == {"scored"}
        assert created(place) == before
        (slow,), (*_, last) = seconds(work, cold), seconds(work, warm)
        print(f"from lease to first observation: cold {slow:.2f} s, warm {last:.2f} s")  # noqa: T201 - what it measures.
        assert last < slow - START / 2
        worker.stop()
        assert ours(place, provider) == set()
        place.cluster.script(slow_start(0.02, place.pods.start))

    def test_warms_waiting_desktops_within_limits_and_not_on_leased_slots(
        self, place: PodCluster, provider: K8sProvider, work: World, database: Database
    ) -> None:
        offer(work, provider)
        worker = worker_of(work, provider)
        run = submit(work, 3)
        claim = work.claim(worker, "k8s")
        assert claim is not None
        made = settle(warmer_of(database, provider, worker), provider)
        assert set(made.values()) == {KIND}
        assert len(made) == 2
        assert claim.slot.id not in made
        assert {each.state for each in episodes(work, run.id)} == {"running", "waiting"}

    def test_a_cordoned_node_is_cooled_and_gets_none(
        self, place: PodCluster, provider: K8sProvider, work: World, database: Database
    ) -> None:
        offer(work, provider)
        warmer = warmer_of(database, provider, worker_of(work, provider))
        submit(work, 3)
        settle(warmer, provider)
        assert ours(place, provider) == {"node-1", "node-2"}
        offer(work, provider, node_1="draining")
        settle(warmer, provider)
        until(lambda: ours(place, provider) == {"node-2"})

    def test_idle_pool_is_emptied(
        self, place: PodCluster, provider: K8sProvider, work: World, database: Database
    ) -> None:
        offer(work, provider)
        worker = worker_of(work, provider)
        run = submit(work, 1)
        settle(warmer_of(database, provider, worker), provider)
        claim = work.claim(worker, "k8s")
        assert claim is not None
        work.score(claim)
        assert [each.state for each in episodes(work, run.id)] == ["scored"]
        kept = settle(warmer_of(database, provider, worker), provider)
        assert len(kept) == 2, "it was used just now"
        assert len(settle(warmer_of(database, provider, worker, idle=0.0), provider)) <= 2
        until(lambda: ours(place, provider) == set())

    def test_one_worker_warms_for_the_cluster(self, provider: K8sProvider, work: World, database: Database) -> None:
        offer(work, provider)
        first, second = worker_of(work, provider), worker_of(work, provider, "w2")
        submit(work, 2)
        assert warmer_of(database, provider, second).look() == WarmPlan()
        work.do(claims.drain, first.id)
        assert len(warmer_of(database, provider, second).look().prepare) == 2

    def test_a_pod_that_is_being_made_when_the_worker_stops_is_not_left(
        self, place: PodCluster, provider: K8sProvider, work: World, database: Database
    ) -> None:
        script = place.cluster.script(slow_start(30.0, place.pods.start), times=2)
        offer(work, provider)
        warmer = warmer_of(database, provider, worker_of(work, provider))
        submit(work, 2)
        warmer.look()
        until(lambda: ours(place, provider) == {"node-1", "node-2"})
        provider.close()
        script.times = 0
        until(lambda: ours(place, provider) == set())

    def test_a_worker_that_was_killed_leaves_its_pods_to_the_sweep_of_the_others(
        self, place: PodCluster, work: World, database: Database
    ) -> None:
        killed, other = (
            place.provider(k8s_instance_label="killed", k8s_idle_seconds=60, KUBECONFIG=place.own_kubeconfig(name))
            for name in ("killed", "other")
        )
        offer(work, killed)
        warmer = warmer_of(database, killed, worker_of(work, killed))
        submit(work, 2)
        settle(warmer, killed)
        place.cluster.remove_token("killed")
        pods = other.pods()
        until(lambda: len(pods.desktops()) == 2)
        pods.sweep()
        pods.plan = replace(pods.plan, idle=0.0)
        pods.now = lambda: time.time() + 3600
        assert len(pods.sweep()) == 2
        until(lambda: ours(place, other) == set())
        other.close()
        killed.close()
