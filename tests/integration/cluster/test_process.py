"""A real worker process that serves the fake cluster: nodes, pods, holds and their mirror, as the product starts it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from backend.db.models import Attempt, Episode, Node, Run, Slot, Worker
from backend.domain.model.run import Budget
from tests.factories.claims import infeasible_task
from tests.factories.fake_cluster_pods import NAMESPACE, PodCluster
from tests.factories.light_guest import SCREEN
from tests.factories.records import World, world
from tests.fakes.kubernetes.behaviours import slow_start
from tests.integration.worker.in_process import benchmark_of, finished
from tests.integration.worker.stack import StartedWorker
from tests.waiting import until
from worker.k8s.client import connect
from worker.k8s.cluster import LEASES, PODS, SECRETS

CLUSTER = f"{NAMESPACE}/deskarena"

pytestmark = [pytest.mark.stack, pytest.mark.timeout(400)]


@pytest.fixture
def installed(fresh_database: str) -> Iterator[World]:
    with world(fresh_database) as made:
        made.benchmark(benchmark_of(infeasible_task()), name="light")
        yield made


@pytest.fixture
def worker(place: PodCluster, fresh_database: str, tmp_path: Path) -> Iterator[StartedWorker]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", "/"),
        "DATABASE_URL": fresh_database,
        "DESKARENA_DATA_DIR": str(tmp_path / "data"),
        "DESKARENA_SLOTS": "1",
        "DESKARENA_POLL_SECONDS": "0.2",
        "DESKARENA_HEARTBEAT_SECONDS": "0.5",
        "KUBECONFIG": str(place.kubeconfig),
        "DESKARENA_K8S_POD_IMAGE": "registry.example/vm:1",
        "DESKARENA_K8S_NAMESPACE": NAMESPACE,
        "DESKARENA_K8S_NODES": "*",
    }
    (tmp_path / "data").mkdir()
    made = StartedWorker(environment, tmp_path / "worker.log")
    yield made
    made.stop(30.0)


def slots(world: World) -> set[str]:
    """Nodes whose slots may be leased."""
    query = select(Node.name).join(Slot, Slot.node_id == Node.id).where(Node.cluster == CLUSTER, Node.state == "ready")
    return set(world.do(lambda session: list(session.scalars(query))))


def play(world: World, number: int) -> Run:
    """Submits a run of this many episodes that only observe."""
    return world.submit(
        "noop", "light", provider="k8s", screen=SCREEN, repeats=number, budget=Budget(max_steps=1)
    )  # fmt: skip


def used(world: World, run: Run) -> set[str]:
    """Nodes on which a run's attempts took place."""
    query = select(Node.name).join(Slot, Slot.node_id == Node.id).join(Attempt, Attempt.slot_id == Slot.id)
    query = query.join(Episode, Episode.id == Attempt.episode_id).where(Episode.run_id == run.id)
    return set(world.do(lambda session: list(session.scalars(query))))


def lost(world: World, run: Run) -> int:
    """How many of a run's attempts were lost."""
    query = select(func.count()).select_from(Attempt).join(Episode, Episode.id == Attempt.episode_id)
    found = world.do(lambda session: session.scalar(query.where(Episode.run_id == run.id, Attempt.state == "lost")))
    return found or 0


def under_way(world: World, run: Run) -> bool:
    """Whether an attempt of a run has not ended."""
    query = select(Attempt.id).join(Episode, Episode.id == Attempt.episode_id)
    return bool(world.do(lambda session: session.scalar(query.where(Episode.run_id == run.id, Attempt.live))))


def offered(world: World) -> bool:
    """Whether a worker has said that it makes pods."""
    found = world.do(lambda session: list(session.scalars(select(Worker.capabilities))))
    return any(each["providers"]["k8s"]["ok"] for each in found)


@pytest.mark.sampled(1)
class TestWorkerProcess:
    def test_nodes_become_slots_episodes_play_on_them_and_nothing_is_left(
        self, place: PodCluster, installed: World, worker: StartedWorker
    ) -> None:
        cluster = connect(str(place.kubeconfig), NAMESPACE)
        # So long each hold lasts at least: nobody could miss it.
        place.cluster.script(slow_start(3.0, place.pods.start))
        until(lambda: slots(installed) == {"node-1", "node-2"}, 150.0, what="both nodes have slots")
        until(lambda: offered(installed), 60.0, what="a worker says that it makes pods")
        run = play(installed, 4)
        seen = until(lambda: cluster.list(LEASES).items, 30.0)
        assert {each["metadata"]["annotations"]["deskarena.dev/run"] for each in seen} == {str(run.id)}
        assert {each.state for each in finished(installed, run.id, 60.0)} == {"scored"}
        until(lambda: not cluster.list(LEASES).items, 20.0, what="holds that are over are mirrored no more")
        place.cluster.cordon("node-1")
        until(lambda: slots(installed) == {"node-2"}, 20.0)
        last = play(installed, 3)
        assert {each.state for each in finished(installed, last.id, 60.0)} == {"scored"}
        assert used(installed, last) == {"node-2"}
        assert worker.stop(30.0) == 0
        until(lambda: not any(cluster.list(kind).items for kind in (PODS, LEASES, SECRETS)), what="nothing is left")
        cluster.close()

    @pytest.mark.usefixtures("worker")
    def test_failing_api_starts_no_episode_until_it_recovers(self, place: PodCluster, installed: World) -> None:
        until(lambda: slots(installed) == {"node-1", "node-2"}, 150.0, what="both nodes have slots")
        until(lambda: offered(installed), 60.0, what="a worker says that it makes pods")
        # What is watched goes on: only by its own failures can a worker know.
        place.cluster.faults.fail("create", "patch", "update", times=-1)
        run = play(installed, 4)
        until(lambda: lost(installed, run), 30.0, what="the first attempts have failed")
        until(lambda: not offered(installed), 30.0, what="the worker says that it makes no pods now")
        until(lambda: not under_way(installed, run), 30.0, what="what had begun by then has ended")
        before, asked = lost(installed, run), place.asked(frozenset({"create"}))
        until(lambda: place.asked(frozenset({"create"})) > asked + 2, 40.0, what="it is asked whether it does it now")
        assert lost(installed, run) == before, "nothing is asked of a cluster that does not do it"
        place.cluster.faults.clear()
        assert {each.state for each in finished(installed, run.id, 60.0)} == {"scored"}
        # One attempt for each slot that was tried, and those that were on their way meanwhile.
        assert lost(installed, run) == before <= 8
