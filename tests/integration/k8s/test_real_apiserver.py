"""The provider on a real API server, scheduler and controllers, with the rights of deploy/k8s; only the nodes are ours.

DESKARENA_TEST_CONTROL_PLANE names the folder of its programs: docs/internals/fake-kubernetes.md.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.domain.errors import ClusterLost
from tests.error_codes import raises_code
from tests.factories.real_apiserver_pods import SECONDS, SPACE, RealPlace, real_place
from tests.factories.tiny_machine import needs_qemu, tiny_image
from tests.fakes.kubernetes.behaviours import image_pull_back_off, oom_killed
from tests.integration.k8s.conftest import SPEC, slot
from tests.integration.k8s.test_provider import name_of, pod_desktop
from tests.waiting import until
from worker.providers.k8s import K8sProvider

BUILT = os.environ.get("DESKARENA_TEST_CONTROL_PLANE", "")
pytestmark = [
    pytest.mark.desktop,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not BUILT, reason="needs a control plane of its own: python -m tools.real_apiserver build"),
]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealPlace]:
    needs_qemu()
    with real_place(Path(BUILT), tmp_path_factory.mktemp("real"), tiny_image) as made:
        yield made


@pytest.fixture(scope="module")
def worker(real: RealPlace) -> Iterator[K8sProvider]:
    made = real.provider()
    yield made
    made.close()


class TestPods:
    def test_close_removes_the_pod_and_its_secret(self, real: RealPlace) -> None:
        worker = real.provider(k8s_instance_label="short")
        opened = pod_desktop(worker.open(slot(), SPEC))
        assert opened.desktop.probe().platform == "Linux"
        pod = real.ask("GET", f"pods/{name_of(opened)}").body
        assert (opened.details["node"], pod["spec"]["nodeName"]) == ("node-1", "node-1")
        (secret,) = [each["secret"]["secretName"] for each in pod["spec"]["volumes"] if "secret" in each]
        assert real.ask("GET", f"secrets/{secret}").status == 200
        opened.close()
        worker.close()
        until(lambda: real.ask("GET", f"pods/{name_of(opened)}").status == 404, SECONDS)
        until(lambda: real.ask("GET", f"secrets/{secret}").status == 404, SECONDS, what="nobody collects the Secret")

    def test_scheduler_reports_the_missing_device(self, real: RealPlace) -> None:
        worker = real.provider(k8s_kvm_resource="example.com/none", k8s_instance_label="none")
        with raises_code(ClusterLost, "pod_not_ready", mentions=("0/2 nodes are available", "example.com/none")):
            worker.open(slot(), SPEC)
        worker.close()

    def test_unpullable_image_is_named(self, real: RealPlace) -> None:
        worker = real.provider(k8s_instance_label="pull")
        real.nodes.script(image_pull_back_off("repository does not exist"), node="node-2", times=1)
        with raises_code(
            ClusterLost, "pod_not_ready", mentions=("image cannot be pulled", "repository does not exist")
        ):
            worker.open(slot(5, "node-2"), SPEC)
        worker.close()


class TestTakenAway:
    def test_pod_killed_for_memory_revokes_the_desktop(self, real: RealPlace, worker: K8sProvider) -> None:
        opened = pod_desktop(worker.open(slot(3), SPEC))
        real.nodes.run(SPACE, name_of(opened)).follow(oom_killed())
        until(lambda: not opened.alive(), SECONDS)
        assert "the pod was killed for its memory: OOMKilled" in opened.revocation_reason()
        opened.close()
        assert worker.open(slot(3), SPEC).alive(), "the slot gets another pod"

    def test_evicted_pod_revokes_the_desktop(self, real: RealPlace, worker: K8sProvider) -> None:
        opened = pod_desktop(worker.open(slot(4), SPEC))
        name = name_of(opened)
        version = real.raw.ask("GET", "/apis/policy").body["preferredVersion"]["groupVersion"]
        body = {"apiVersion": version, "kind": "Eviction", "metadata": {"name": name, "namespace": SPACE}}
        assert real.ask("POST", f"pods/{name}/eviction", body).status == 201
        until(lambda: not opened.alive(), SECONDS)
        assert opened.revocation_reason()
        opened.close()
        assert worker.open(slot(4), SPEC).alive(), "the slot gets another pod"

    def test_lost_node_revokes_the_desktop(self, real: RealPlace, worker: K8sProvider) -> None:
        """The real node controller taints the node and marks its pods once the node's lease is not renewed."""
        opened = pod_desktop(worker.open(slot(6, "node-2"), SPEC))
        real.nodes.lose("node-2")
        until(lambda: not opened.alive(), SECONDS)
        assert "the pod's node is lost" in opened.revocation_reason()
        node = real.raw.ask("GET", "/api/v1/nodes/node-2").body
        assert "node.kubernetes.io/unreachable" in {each["key"] for each in node["spec"]["taints"]}
        real.nodes.find("node-2")
        until(lambda: not real.raw.ask("GET", "/api/v1/nodes/node-2").body["spec"].get("taints"), SECONDS)
        opened.close()
