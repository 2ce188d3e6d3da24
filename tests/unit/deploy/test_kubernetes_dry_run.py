"""Every overlay on the fake cluster: applied for real, and by kubectl's server-side dry run where there is one."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.kubernetes.cluster import ADMIN_TOKEN, FakeCluster, fake_cluster
from tests.fakes.kubernetes.kinds import BY_KIND
from tests.unit.deploy.built import OVERLAYS, kind, labels, objects, workloads

EACH = pytest.mark.parametrize("overlay", OVERLAYS)


@pytest.fixture
def cluster() -> Iterator[FakeCluster]:
    with fake_cluster() as made:
        yield made


class TestApply:
    @EACH
    def test_the_server_takes_every_object_and_every_pod(self, cluster: FakeCluster, overlay: str) -> None:
        """Creates the pods as their controllers would, because only then is the pod security standard checked."""
        for found in sorted(objects(overlay), key=lambda found: found["kind"] != "Namespace"):
            if (found["apiVersion"], found["kind"]) in BY_KIND:
                cluster.create(found)
        for found, spec in workloads(overlay):
            namespace = found["metadata"]["namespace"]
            if account := spec.get("serviceAccountName"):
                assert any(each["metadata"]["name"] == account for each in kind(overlay, "ServiceAccount"))
            about = {"name": f"{found['metadata']['name']}-0", "labels": dict(labels(found))}
            claims = [each["metadata"]["name"] for each in found["spec"].get("volumeClaimTemplates", [])]
            volumes = [*spec.get("volumes", []), *({"name": name, "emptyDir": {}} for name in claims)]
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": {**spec, "volumes": volumes}}
            cluster.create(pod, namespace)

    @EACH
    def test_kubectl_finds_it_valid(self, cluster: FakeCluster, overlay: str, tmp_path: Path) -> None:
        if shutil.which("kubectl") is None:
            pytest.skip("needs kubectl")
        for found in kind(overlay, "Namespace"):
            cluster.create(found)
        cluster.state.users[""] = cluster.state.users[ADMIN_TOKEN]
        line = ["kubectl", "--kubeconfig", str(cluster.kubeconfig(tmp_path / "config"))]
        done = subprocess.run(
            [*line, "apply", "--dry-run=server", "--validate=false", "-k", str(OVERLAYS[overlay])],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path)},
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("(server dry run)") == len(objects(overlay))
