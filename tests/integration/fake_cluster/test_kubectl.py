"""Our manifests by the real `kubectl` against the fake cluster: built by its kustomize, checked by a server's rules."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.fakes.kubernetes.admission import ENFORCE
from tests.fakes.kubernetes.cluster import FakeCluster, fake_cluster
from tests.fakes.kubernetes.kinds import PODS, Json
from tests.fakes.kubernetes.pod_security import broken
from tests.waiting import until
from tools.kubernetes_manifests import FOLDER, KUSTOMIZATIONS, documents

# Older ones know neither components nor checks by the server.
OLDEST = 27


def _minor() -> int:
    """The second number of kubectl's version; 0 without one."""
    if shutil.which("kubectl") is None:
        return 0
    said = subprocess.run(["kubectl", "version", "--client", "-o", "json"], capture_output=True, text=True, check=False)
    return int(json.loads(said.stdout)["clientVersion"]["minor"].rstrip("+")) if said.returncode == 0 else 0


pytestmark = pytest.mark.skipif(_minor() < OLDEST, reason="needs kubectl 1.27 or newer")
OVERLAYS = sorted(
    file.parent.relative_to(FOLDER)
    for name in KUSTOMIZATIONS
    for file in FOLDER.rglob(name)
    if documents(file)[0].get("kind", "Kustomization") == "Kustomization"
)


@pytest.fixture
def cluster() -> Iterator[FakeCluster]:
    with fake_cluster(tls=True) as found:
        found.add_node("node-1", kvm=2)
        yield found


@pytest.fixture
def kubectl(cluster: FakeCluster, tmp_path: Path) -> Any:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    env["KUBECONFIG"] = str(cluster.kubeconfig(tmp_path / "kubeconfig"))

    def call(*words: str, told: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["kubectl", *words], env=env, input=told, capture_output=True, text=True, timeout=120, check=False
        )  # fmt: skip

    return call


def built(kubectl: Any, overlay: Path) -> list[Json]:
    """The objects of an overlay."""
    said = kubectl("kustomize", str(FOLDER / overlay))
    assert said.returncode == 0, said.stderr
    return [one for one in yaml.safe_load_all(said.stdout) if one]


def template(found: Json) -> Json | None:
    """The spec of the pods that a workload makes."""
    spec = found.get("spec") or {}
    spec = (spec.get("jobTemplate") or {}).get("spec") or spec
    return (spec.get("template") or {}).get("spec")


class TestOverlays:
    @pytest.mark.parametrize("overlay", OVERLAYS, ids=str)
    def test_a_dry_run_by_the_server_takes_everything(self, cluster: FakeCluster, kubectl: Any, overlay: Path) -> None:
        objects = built(kubectl, overlay)
        # As on a real cluster: what is only tried makes no namespace for the rest.
        for found in objects:
            if found["kind"] == "Namespace":
                cluster.add_namespace(found["metadata"]["name"], found["metadata"].get("labels"))
        before = cluster.store.revision
        said = kubectl("apply", "--dry-run=server", "-k", str(FOLDER / overlay))
        assert said.returncode == 0, said.stderr
        assert said.stdout.count("(server dry run)") == len(objects)
        assert cluster.store.revision == before

    @pytest.mark.parametrize("overlay", OVERLAYS, ids=str)
    def test_pods_keep_what_their_namespace_asks_for(self, kubectl: Any, overlay: Path) -> None:
        objects = built(kubectl, overlay)
        spaces = {one["metadata"]["name"]: one["metadata"] for one in objects if one["kind"] == "Namespace"}
        for found in objects:
            space = spaces.get(found["metadata"].get("namespace", ""), {})
            level = (space.get("labels") or {}).get(ENFORCE, "privileged")
            assert broken(template(found) or {}, level) == [], (found["kind"], found["metadata"]["name"], level)

    def test_a_wrong_field_is_found(self, kubectl: Any) -> None:
        wrong = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "a", "namespace": "default"},
            "dataa": {},
        }
        said = kubectl("apply", "--dry-run=server", "-f", "-", told=json.dumps(wrong))
        assert said.returncode != 0
        assert 'strict decoding error: unknown field "dataa"' in said.stderr


class TestCommands:
    """Common work of cluster operators, as our documents describe it."""

    def test_a_pod_is_made_waited_for_and_ended(self, cluster: FakeCluster, kubectl: Any) -> None:
        assert kubectl("run", "vm", "--image=vm:1", "--restart=Never").returncode == 0
        assert kubectl("wait", "--for=condition=Ready", "pod/vm", "--timeout=30s").returncode == 0
        assert "Successfully assigned default/vm to node-1" in kubectl("describe", "pod", "vm").stdout
        assert kubectl("delete", "pod", "vm", "--wait").returncode == 0
        assert cluster.pod("default", "vm") is None

    def test_a_node_is_drained_and_comes_back(self, cluster: FakeCluster, kubectl: Any) -> None:
        kubectl("run", "vm", "--image=vm:1", "--restart=Never")
        until(lambda: (cluster.pod("default", "vm") or {"status": {}})["status"].get("phase") == "Running")
        said = kubectl("drain", "node-1", "--force", "--timeout=30s")
        assert said.returncode == 0, said.stderr
        assert cluster.store.all(PODS, "default") == []
        kubectl("run", "next", "--image=vm:1", "--restart=Never")
        until(lambda: cluster.events("next", "FailedScheduling"))
        assert kubectl("uncordon", "node-1").returncode == 0
        assert kubectl("wait", "--for=condition=Ready", "pod/next", "--timeout=30s").returncode == 0

    def test_applying_twice_changes_nothing(self, cluster: FakeCluster, kubectl: Any) -> None:
        told = json.dumps(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": {}}
        )  # fmt: skip
        assert "created" in kubectl("apply", "-f", "-", told=told).stdout
        before = cluster.store.revision
        assert "unchanged" in kubectl("apply", "-f", "-", told=told).stdout
        assert cluster.store.revision == before
