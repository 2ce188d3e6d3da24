"""The recipes of docs/internals/autoscaling.md name what there is: figures, places in the API's answer, deployments."""

import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from backend.services.scheduling.autoscaling_signals import Signals, families
from backend.web.scheduling.schemas import ProviderSignals
from tests.unit.deploy.built import kind
from tools.kustomize import build

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/internals/autoscaling.md").read_text()
NOTHING = Signals({("k8s", "ready"): 1}, {}, {}, {}, {}, {}, {})
FIGURES = {family.name for family in families(NOTHING)}


def documents() -> list[dict[str, Any]]:
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    return [found for block in blocks for found in yaml.safe_load_all(block)]


def overlay(having: str, folder: Path) -> list[dict[str, Any]]:
    """The objects of the page's overlay that have such a part."""
    recipe = next(each for each in documents() if each.get("kind") == "Kustomization" and having in each)
    mine = ROOT / "deploy/k8s/overlays/mine"
    near = {
        name: [os.path.relpath(mine / path, folder) for path in recipe.get(name, [])]
        for name in ("resources", "components")
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(recipe | near))
    return build(folder)


def triggers() -> dict[str, dict[str, Any]]:
    found = [each for each in documents() if "triggers" in each or each.get("kind") == "ScaledObject"]
    listed = [trigger for each in found for trigger in each.get("triggers") or each["spec"]["triggers"]]
    return {trigger["type"]: trigger for trigger in listed}


def test_every_figure_is_on_the_page_and_no_other() -> None:
    assert set(re.findall(r"deskarena_[a-z_]+", PAGE)) == FIGURES


def test_the_trigger_reads_a_place_that_the_api_answers() -> None:
    first, provider, name = triggers()["metrics-api"]["metadata"]["valueLocation"].split(".")
    assert (first, provider) == ("providers", "k8s")
    assert name in ProviderSignals.model_fields


def test_trigger_address_is_an_allowed_host() -> None:
    address = urlsplit(triggers()["metrics-api"]["metadata"]["url"])
    name, _, namespace = (address.hostname or "").partition(".")
    service = next(each for each in kind("production", "Service") if each["metadata"]["name"] == name)
    assert service["metadata"]["namespace"] == namespace
    assert address.port in [port["port"] for port in service["spec"]["ports"]]
    settings = [each["data"] for each in kind("production", "ConfigMap") if "DESKARENA_ALLOWED_HOSTS" in each["data"]]
    assert address.hostname in json.loads(settings[0]["DESKARENA_ALLOWED_HOSTS"])


def test_token_exists_and_numbers_are_strings() -> None:
    authentication = next(each for each in documents() if each.get("kind") == "TriggerAuthentication")
    assert triggers()["metrics-api"]["authenticationRef"]["name"] == authentication["metadata"]["name"]
    assert all(isinstance(value, str) for each in triggers().values() for value in each["metadata"].values())


def test_the_autoscaler_owns_the_number_of_workers(tmp_path: Path) -> None:
    made = overlay("components", tmp_path)
    deployments = {each["metadata"]["name"]: each["spec"] for each in made if each["kind"] == "Deployment"}
    assert "replicas" not in deployments["k8s-worker"]


def test_scheduler_placement_keeps_the_right_to_read_nodes(tmp_path: Path) -> None:
    made = overlay("patches", tmp_path)
    told = next(each["data"] for each in made if each["metadata"]["name"] == "deskarena-k8s")
    assert "DESKARENA_K8S_NODES" not in told
    assert told["DESKARENA_K8S_SLOTS"].isdecimal()
    assert [each["rules"][0]["resources"] for each in made if each["kind"] == "ClusterRole"] == [["nodes"]]


def test_scaled_objects_are_deployed() -> None:
    scaled = next(each for each in documents() if each.get("kind") == "ScaledObject")
    made = [each for path in (ROOT / "deploy/k8s").rglob("*.yaml") for each in yaml.safe_load_all(path.read_text())]
    deployments = {each["metadata"]["name"] for each in made if each and each.get("kind") == "Deployment"}
    assert scaled["spec"]["scaleTargetRef"]["name"] in deployments
