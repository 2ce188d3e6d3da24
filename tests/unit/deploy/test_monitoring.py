"""The components for Prometheus and traces: ports that there are, with a token that both sides have."""

import os
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from tests.unit.deploy.built import fits, labels
from tools.kustomize import build, pod_spec

K8S = Path(__file__).resolve().parents[3] / "deploy/k8s"


def test_scraped_ports_are_allowed_by_network_policy(tmp_path: Path) -> None:
    parts = {"resources": ["overlays/production"], "components": ["components/monitoring", "components/traces"]}
    recipe = {name: [os.path.relpath(K8S / path, tmp_path) for path in paths] for name, paths in parts.items()}
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(recipe))
    objects = build(tmp_path)
    workloads = [(labels(each), spec) for each in objects if (spec := pod_spec(each)) and each["kind"] == "Deployment"]
    wall = next(each["spec"] for each in objects if each["metadata"]["name"] == "metrics")
    for scrape in (each["spec"] for each in objects if each["kind"] == "PodMonitor"):
        end = scrape["podMetricsEndpoints"][0]
        pods = [(given, spec["containers"][0]) for given, spec in workloads if fits(scrape["selector"], given)]
        assert pods
        for given, container in pods:
            assert end["port"] in {port["name"] for port in container["ports"]} & {
                port["port"] for port in wall["ingress"][0]["ports"]
            }
            assert fits(wall["podSelector"], given)
            keys = [each.get("valueFrom", {}).get("secretKeyRef", {}).get("key") for each in container["env"]]
            assert end["authorization"]["credentials"]["key"] in keys
    (config,) = (each for each in objects if each["kind"] == "ConfigMap" and each["metadata"]["name"] == "deskarena")
    way_out = next(each["spec"] for each in objects if each["metadata"]["name"] == "traces")
    address = urlsplit(config["data"]["OTEL_EXPORTER_OTLP_ENDPOINT"])
    assert [each["port"] for each in way_out["egress"][0]["ports"]] == [address.port]
    senders = [given for given, spec in workloads if fits(way_out["podSelector"], given)]
    assert {given["app.kubernetes.io/component"] for given in senders} == {"api", "worker"}
