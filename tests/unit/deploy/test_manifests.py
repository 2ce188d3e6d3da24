import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client

ROOT = Path(__file__).resolve().parents[3]
K8S = ROOT / "deploy" / "k8s"
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
