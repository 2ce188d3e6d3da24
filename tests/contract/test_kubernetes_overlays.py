"""Every overlay by `kubectl apply --dry-run=server` on a real cluster; other tests use the fake."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.clusters import NAMESPACES, REAL
from tests.fakes.kubernetes.raw import Raw
from tests.unit.deploy.built import OVERLAYS, Json, kind, objects
from tests.waiting import until
from worker.k8s.client import connect
from worker.k8s.cluster import ObjectConflict

pytestmark = [
    pytest.mark.skipif(not REAL, reason="needs a Kubernetes cluster of one's own, which KUBECONFIG names"),
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl"),
]
OLDEST, RANGES = 27, 22
"""The oldest version that docs/deploy-kubernetes.md names."""


@pytest.fixture(scope="module")
def _spaces() -> Iterator[None]:
    """A dry run creates no namespace for the other objects: missing ones are created, and deleted afterwards."""
    port, made = connect(REAL, "default"), []
    try:
        for found in kind("production", "Namespace"):
            try:
                made.append(str(port.create(NAMESPACES, found)["metadata"]["name"]))
            except ObjectConflict:
                continue
        yield
    finally:
        for name in made:
            port.delete(NAMESPACES, name)
        until(lambda: not {one["metadata"]["name"] for one in port.list(NAMESPACES).items} & set(made), 120)
        port.close()


@pytest.fixture(scope="module")
def raw() -> Iterator[Raw]:
    found = Raw(Path(REAL))
    yield found
    found.close()


def is_served(raw: Raw, found: Json) -> bool:
    """Whether the server knows objects of that version and kind, and all their fields (ranges of ports: 1.22)."""
    version = found["apiVersion"]
    if '"endPort"' in json.dumps(found) and raw.minor() < RANGES:
        return False
    said = raw.ask("GET", f"/apis/{version}" if "/" in version else f"/api/{version}")
    return said.status == 200 and found["kind"] in {one["kind"] for one in said.body["resources"]}


def tried(found: list[Json]) -> subprocess.CompletedProcess[str]:
    """Kubectl's answer about them."""
    told = "\n".join(json.dumps(one) for one in found)
    command = ["kubectl", "apply", "--dry-run=server", "-f", "-"]
    env = {**os.environ, "KUBECONFIG": REAL}
    return subprocess.run(command, input=told, env=env, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.usefixtures("_spaces")
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_server_takes_all_that_it_serves(raw: Raw, overlay: str) -> None:
    served = [found for found in objects(overlay) if is_served(raw, found)]
    said = tried(served)
    assert said.returncode == 0, said.stderr
    assert said.stdout.count("(server dry run)") == len(served)
    if len(served) < len(objects(overlay)):
        assert raw.minor() < OLDEST, "a version that we say is served does not know one of our kinds"
