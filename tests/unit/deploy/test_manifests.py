import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client

ROOT = Path(__file__).resolve().parents[3]
K8S = ROOT / "deploy" / "k8s"
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
GROUPS = {
    "v1": "V1",
    "apps/v1": "V1",
    "batch/v1": "V1",
    "networking.k8s.io/v1": "V1",
}
KUSTOMIZATION = yaml.safe_load((K8S / "kustomization.yaml").read_text())
DOCUMENTS = [
    (path.name, document)
    for path in sorted(K8S.glob("*.yaml"))
    if path.name != "kustomization.yaml"
    for document in yaml.safe_load_all(path.read_text())
]
IDS = [f"{name}:{document['kind']}" for name, document in DOCUMENTS]


def as_the_api_knows_it(document: dict[str, Any]) -> Any:
    """The document with everything dropped that the Kubernetes API has no field for."""
    with client.ApiClient() as api:
        kind = f"{GROUPS[document['apiVersion']]}{document['kind']}"
        return api.sanitize_for_serialization(api.deserialize(json.dumps(document), kind, "application/json"))


def containers(document: dict[str, Any]) -> list[dict[str, Any]]:
    template = document.get("spec", {}).get("template", {})
    return list(template.get("spec", {}).get("containers", []))


class TestManifests:
    @pytest.mark.parametrize(("name", "document"), DOCUMENTS, ids=IDS)
    def test_has_no_field_that_the_api_does_not_know(self, name: str, document: dict[str, Any]) -> None:
        assert as_the_api_knows_it(document) == document, name

    def test_the_check_finds_a_wrong_field(self) -> None:
        document = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"portz": []}}
        assert as_the_api_knows_it(document) != document

    @pytest.mark.parametrize(("name", "document"), DOCUMENTS, ids=IDS)
    def test_every_container_says_what_it_needs_and_at_most_gets(self, name: str, document: dict[str, Any]) -> None:
        for container in containers(document):
            assert {"requests", "limits"} <= set(container["resources"]), name
            assert container["securityContext"], name

    def test_kustomization_lists_every_file(self) -> None:
        present = {path.name for path in K8S.glob("*.yaml")} - {"kustomization.yaml"}
        assert set(KUSTOMIZATION["resources"]) == present

    def test_every_selector_finds_its_pods(self) -> None:
        labels = [
            document["spec"]["template"]["metadata"]["labels"] for _, document in DOCUMENTS if containers(document)
        ]
        selectors = [document["spec"]["selector"] for _, document in DOCUMENTS if document["kind"] == "Service"]
        assert selectors
        assert [selector for selector in selectors if selector not in labels] == []


class TestCompose:
    def test_nothing_is_published_beyond_this_machine(self) -> None:
        ports = [port for service in COMPOSE["services"].values() for port in service.get("ports", [])]
        assert ports
        assert all(port.startswith("127.0.0.1:") for port in ports)

    def test_no_password_is_written_down(self) -> None:
        text = (ROOT / "docker-compose.yml").read_text()
        values = re.findall(r"(?:PASSWORD|TOKEN): (.*)", text)
        assert values
        assert all(value.startswith('"${') for value in values)

    def test_everything_waits_for_the_migrations(self) -> None:
        for name in ("api", "worker"):
            waits = COMPOSE["services"][name]["depends_on"]["migrations"]
            assert waits == {"condition": "service_completed_successfully"}


class TestDockerfile:
    def test_copies_only_what_is_there_and_not_ignored(self) -> None:
        lines = (ROOT / "deploy" / "compose" / "Dockerfile").read_text().splitlines()
        sources = [word for line in lines if line.startswith("COPY ") for word in line.split()[1:-1]]
        allowed = re.findall(r"^!(.*)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
        assert sources
        assert [source for source in sources if not list(ROOT.glob(source))] == []
        assert [source for source in sources if source.split("/")[0] not in allowed] == []
