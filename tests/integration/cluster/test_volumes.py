"""Volumes that are a node's own: which claims pods name, and which images a worker knows."""

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import ClusterLost
from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec
from tests.error_codes import raises_code
from tests.factories.fake_cluster_pods import NAMESPACE, PodCluster
from tests.factories.light_guest import SCREEN
from tests.factories.light_pods import LightPods, write_light_image
from tests.fakes.kubernetes.behaviours import image_pull_back_off
from tests.fakes.kubernetes.kinds import PODS, Json, Resource
from tests.waiting import until
from worker.k8s import pods
from worker.k8s.client import connect
from worker.k8s.cluster import Cluster
from worker.k8s.plan import PodPlan
from worker.k8s.probe_placement import places, ready_nodes
from worker.providers import image_probe_pod
from worker.providers.k8s import K8sProvider

OWN = {"k8s_nodes": "*", "k8s_image_volume": "claim:images-{node}", "k8s_template_volume": "claim:templates-{node}"}
CLONE = {"k8s_image_volume": "clone:golden:100Gi:fast", "k8s_template_volume": "empty:1Gi"}
SPEC = DesktopSpec(screen=SCREEN)


@pytest.fixture
def made(place: PodCluster) -> list[Json]:
    """Every pod that the cluster was asked to make, trials too, in order."""
    found: list[Json] = []

    def note(resource: Resource, body: Json) -> None:
        if resource is PODS:
            found.append(body)

    place.cluster.admission.webhooks.append(note)
    return found


@pytest.fixture
def working(place: PodCluster) -> Iterator[Callable[..., K8sProvider]]:
    """Makes providers that are ready; they are closed at the end."""
    started: list[K8sProvider] = []

    def start(**settings: Any) -> K8sProvider:
        started.append(place.provider(**settings))
        return started[-1]

    yield start
    for each in started:
        each.close()


def slot(node: str) -> SlotRef:
    return SlotRef(0, node, f"slot-{node}", 1)


def claims(pod: Json) -> dict[str, str]:
    """Names of a pod's claims by volume."""
    volumes = pod["spec"]["volumes"]
    return {one["name"]: one["persistentVolumeClaim"]["claimName"] for one in volumes if "persistentVolumeClaim" in one}


def looks(found: list[Json]) -> list[Json]:
    """Those that only tell what images there are."""
    return [pod for pod in found if pod["metadata"]["labels"]["deskarena.dev/slot"] == "images"]


def names(provider: K8sProvider) -> list[str]:
    return [each.name for each in provider.availability().images]


class TestClaimsOfNodes:
    def test_pods_of_two_nodes_name_their_own(self, place: PodCluster, working: Callable[..., K8sProvider]) -> None:
        worker = working(**OWN)
        for node in ("node-1", "node-2"):
            opened = worker.open(slot(node), SPEC)
            pod = place.cluster.pod(NAMESPACE, str(opened.details["pod"]))
            assert pod is not None
            assert pod["spec"]["nodeName"] == node
            assert claims(pod) == {"images": f"images-{node}", "templates": f"templates-{node}"}
            opened.close()

    def test_the_images_are_read_on_a_node_by_a_pod_that_is_small(
        self, made: list[Json], working: Callable[..., K8sProvider]
    ) -> None:
        working(**OWN)
        (look,) = looks(made)
        assert claims(look) == {"images": "images-node-1"}
        requests = look["spec"]["containers"][0]["resources"]["requests"]
        assert requests == {"cpu": "50m", "memory": "256Mi", "ephemeral-storage": "128Mi"}

    def test_second_node_is_probed_when_the_first_fails(
        self, place: PodCluster, made: list[Json], monkeypatch: pytest.MonkeyPatch, working: Callable[..., K8sProvider]
    ) -> None:
        monkeypatch.setattr(pods, "PATIENCE_SECONDS", 0.2)
        place.cluster.script(image_pull_back_off("repository does not exist"), node="node-1", times=1)
        worker = working(**OWN)
        assert [claims(each)["images"] for each in looks(made)] == ["images-node-1", "images-node-2"]
        assert worker.availability().ok

    def test_a_missing_node_is_reported(self, place: PodCluster) -> None:
        for node in ("node-1", "node-2"):
            place.cluster.cordon(node)
        worker = K8sProvider(place.settings(**OWN))
        until(lambda: "none of the nodes with slots" in worker.availability().reason, 30)
        worker.close()

    def test_images_of_all_nodes_are_offered_and_each_slot_uses_its_own(
        self, place: PodCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, working: Callable[..., K8sProvider]
    ) -> None:
        assert isinstance(place.pods, LightPods)
        for node, image in (("node-1", "one"), ("node-2", "two")):
            write_light_image(tmp_path / node, image)
            place.pods.claims[f"images-{node}"] = tmp_path / node
        monkeypatch.setattr(image_probe_pod, "AGAIN_SECONDS", 0.2)
        worker = working(**OWN)
        until(lambda: names(worker) == ["one", "two"], 30)
        two = SPEC.model_copy(update={"image": "two"})
        with raises_code(ClusterLost, "image_not_available", mentions=("image two", "one")):
            worker.open(slot("node-1"), two)
        worker.open(slot("node-2"), two).close()

    def test_a_node_that_is_gone_has_no_images(
        self, place: PodCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, working: Callable[..., K8sProvider]
    ) -> None:
        assert isinstance(place.pods, LightPods)
        write_light_image(tmp_path / "node-1", "one")
        place.pods.claims["images-node-1"] = tmp_path / "node-1"
        monkeypatch.setattr(image_probe_pod, "AGAIN_SECONDS", 0.2)
        monkeypatch.setattr(image_probe_pod, "FRESH_SECONDS", 0.2)
        worker = working(**OWN)
        until(lambda: names(worker) == ["light", "one"], 30)
        place.cluster.delete_node("node-1")
        until(lambda: names(worker) == ["light"], 30)

    def test_node_claims_need_slots_on_nodes(self, place: PodCluster, made: list[Json]) -> None:
        worker = K8sProvider(place.settings(**{**OWN, "k8s_nodes": "", "k8s_slots": 8}))
        assert "DESKARENA_K8S_IMAGE_VOLUME: {node} needs slots with a node" in worker.availability().reason
        assert made == []
        worker.close()


class TestClones:
    def test_each_pod_and_probe_has_its_own_clone(
        self, place: PodCluster, made: list[Json], working: Callable[..., K8sProvider]
    ) -> None:
        opened = working(**CLONE).open(slot("node-1"), SPEC)
        pod = place.cluster.pod(NAMESPACE, str(opened.details["pod"]))
        (look,) = looks(made)
        assert pod is not None
        assert pod["spec"]["volumes"][0] == look["spec"]["volumes"][0]
        wanted = pod["spec"]["volumes"][0]["ephemeral"]["volumeClaimTemplate"]["spec"]
        assert wanted["dataSource"] == {"kind": "PersistentVolumeClaim", "name": "golden"}
        assert pod["spec"]["containers"][0]["volumeMounts"][0]["readOnly"] is True

    def test_an_image_that_was_added_is_read_from_another_clone(
        self, place: PodCluster, monkeypatch: pytest.MonkeyPatch, working: Callable[..., K8sProvider]
    ) -> None:
        monkeypatch.setattr(image_probe_pod, "FRESH_CLONE_SECONDS", 0.2)
        worker = working(**CLONE)
        write_light_image(place.pods.images, "new")
        until(lambda: names(worker) == ["light", "new"], 30)


class TestPlaces:
    @pytest.fixture
    def cluster(self, place: PodCluster) -> Iterator[Cluster]:
        found = connect(str(place.kubeconfig), NAMESPACE)
        yield found
        found.close()

    def test_are_nodes_that_desktops_may_begin_on(self, place: PodCluster, cluster: Cluster) -> None:
        place.cluster.add_node("plain")
        place.cluster.add_node("tainted", kvm=1, taints=[{"key": "gpu", "effect": "NoSchedule"}])
        place.cluster.add_node("labelled", kvm=1, labels={"vm": "yes"})
        place.cluster.cordon("node-1")
        plan = PodPlan.from_settings(place.settings(**OWN))
        assert ready_nodes(cluster, plan) == ["labelled", "node-2"]
        assert ready_nodes(cluster, dataclasses.replace(plan, nodes="vm=yes")) == ["labelled"]

    def test_are_any_where_all_pods_have_the_same_images(self, place: PodCluster, cluster: Cluster) -> None:
        assert places(cluster, PodPlan.from_settings(place.settings(k8s_nodes="*"))) == [""]
