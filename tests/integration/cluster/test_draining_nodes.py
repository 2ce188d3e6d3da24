"""Slots whose pods the scheduler places, and a node that is cordoned in mid-run: real Postgres, worker and provider."""

from collections.abc import Iterator

import pytest

from backend.domain import registry
from backend.domain.model.run import Budget
from backend.domain.registry import PluginKind
from backend.services.capacity import nodes
from tests.factories.claims import infeasible_task
from tests.factories.fake_cluster_pods import PodCluster
from tests.factories.light_guest import SCREEN
from tests.factories.records import World
from tests.fakes.patient_agent import PatientAgent
from tests.integration.worker.in_process import InProcessWorker, attempts, benchmark_of, episodes, finished
from tests.waiting import until
from worker.k8s.nodes import anywhere
from worker.providers.k8s import K8sProvider

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def patient() -> Iterator[type[PatientAgent]]:
    """Registered as `patient`."""
    registry.register(PluginKind.AGENT, "patient")(PatientAgent)
    PatientAgent.waiting.clear()
    PatientAgent.go.clear()
    yield PatientAgent
    PatientAgent.go.set()
    registry.unregister(PluginKind.AGENT, "patient")


@pytest.fixture
def provider(place: PodCluster) -> Iterator[K8sProvider]:
    made = place.provider(k8s_slots=1)
    yield made
    made.close()


def test_attempts_on_a_cordoned_node_finish_and_later_ones_run_elsewhere(
    place: PodCluster, provider: K8sProvider, ready: World, patient: type[PatientAgent]
) -> None:
    ready.benchmark(benchmark_of(infeasible_task()), name="light")
    ready.do(nodes.observe, provider.cluster, anywhere(1, {}), whole=True)
    settings = place.settings(slots=1, poll_seconds=0.1, heartbeat_seconds=0.2, lease_seconds=5.0)
    worker = InProcessWorker(settings, ready, provider)
    run = ready.submit(
        "patient", benchmark="light", provider="k8s", screen=SCREEN, repeats=3, budget=Budget(max_steps=3)
    )
    assert patient.waiting.wait(60)
    (held,) = provider.slots.all().values()
    place.cluster.cordon(held.pod.node)
    until(lambda: provider.pods().status(held.pod).leave, what="the worker has heard of it")
    patient.go.set()
    assert {each.state for each in finished(ready, run.id, 60.0)} == {"scored"}
    tries = sorted((one for each in episodes(ready, run.id) for one in attempts(ready, each.id)), key=lambda a: a.id)
    first, *later = [each.desktop["node"] for each in tries]
    assert first == held.pod.node
    assert len(later) == 2, "none was lost"
    assert held.pod.node not in later
    worker.stop()
