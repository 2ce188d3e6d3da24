"""Common points of all ways to deploy: pinned images, and proxies that wait as long as the API may."""

import re
from pathlib import Path

import pytest

from backend.web.runs.api import LONGEST_WAIT

ROOT = Path(__file__).resolve().parents[3]
PLACES = [
    ROOT / "docker-compose.yml",
    *sorted(path for path in (ROOT / "deploy").rglob("*") if path.suffix in {".yaml", ".yml"}),
    *sorted(path for folder in ("deploy", "vm_images") for path in (ROOT / folder).rglob("*file") if path.is_file()),
]
NAMED = re.compile(
    r"^(?:\s*(?:- )?image:|ARG DEBIAN=|FROM)\s*([^\s#]+)(?:\s+AS\s+(\S+))?", re.MULTILINE | re.IGNORECASE
)
PINNED = re.compile(r".+(:v?\d+\.\d+\S*|@sha256:[0-9a-f]{64})")


def foreign(path: Path) -> set[str]:
    """Images that a file names and that are not our own: neither deskarena's nor a stage of the same file."""
    found = NAMED.findall(path.read_text())
    stages = {stage for _, stage in found}
    return {image for image, _ in found if not image.startswith(("deskarena", "$")) and image not in stages}


def test_every_image_of_others_is_pinned() -> None:
    images = {image for path in PLACES for image in foreign(path)}
    assert {image.split(":")[0] for image in images} >= {"postgres", "valkey/valkey", "nginx", "debian"}
    assert {image for image in images if not PINNED.fullmatch(image)} == set()


@pytest.mark.parametrize("name", ["compose/nginx.conf", "proxy/nginx.conf", "k8s/components/ingress/ingress.yaml"])
def test_a_proxy_waits_longer_than_the_api_may_take(name: str) -> None:
    found = re.findall(r"proxy[-_]read[-_]timeout:?\s+\"?(\d+)", (ROOT / "deploy" / name).read_text())
    assert found
    assert all(int(seconds) > LONGEST_WAIT for seconds in found)
