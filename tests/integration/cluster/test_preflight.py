"""Findings of `deskarena doctor` about a cluster, each with a hint."""

import json
from pathlib import Path
from typing import Any

import pytest

from backend.cli.doctor.check import CheckState
from backend.cli.doctor.cluster import read
from backend.config import Settings
from tests.fakes.kubernetes.cluster import FakeCluster
from tests.integration.cluster.conftest import NAMESPACE
from tests.unit.deploy.built import kind
from worker.k8s.preflight import PreflightResult, examine


@pytest.fixture
def kubeconfig(fake: FakeCluster, tmp_path: Path) -> Path:
    fake.add_node("n1", kvm=3)
    return fake.kubeconfig(tmp_path / "kubeconfig")


def told(kubeconfig: Path | str, **more: Any) -> PreflightResult:
    named = {
        "k8s_namespace": NAMESPACE,
        "k8s_pod_image": "vm:1",
        "k8s_slots": 2,
        "k8s_image_volume": "image:vms:1",
        **more,
    }
    return examine(Settings(KUBECONFIG=str(kubeconfig), **named))


class TestExamine:
    def test_all_is_well(self, kubeconfig: Path) -> None:
        assert told(kubeconfig).state == "ok"
        assert told(kubeconfig, k8s_nodes="*").state == "ok"

    def test_missing_settings_are_reported(self, kubeconfig: Path) -> None:
        assert "DESKARENA_K8S_POD_IMAGE" in told(kubeconfig, k8s_pod_image="").install
        assert "KUBECONFIG" in told("").install
        assert "DESKARENA_K8S_TEMPLATE_VOLUME" in told(kubeconfig, k8s_template_volume="host:/").install
        assert "DESKARENA_K8S_SLOTS" in told(kubeconfig, k8s_slots=0).install

    def test_a_namespace_that_is_missing(self, kubeconfig: Path) -> None:
        found = told(kubeconfig, k8s_namespace="nowhere")
        assert (found.state, found.install) == ("missing", "kubectl create namespace nowhere")

    def test_rights_that_are_missing(self, fake: FakeCluster, kubeconfig: Path, tmp_path: Path) -> None:
        assert kubeconfig
        (role,) = kind("production", "Role")
        rules = [rule for rule in role["rules"] if "secrets" not in rule["resources"]]
        fake.add_token("poor", "worker", {**role, "rules": rules}, namespace=NAMESPACE)
        found = told(fake.kubeconfig(tmp_path / "poor", token="poor", namespace=NAMESPACE), k8s_nodes="*")
        assert found.detail == (
            f"this account may not create secrets, get secrets, list nodes, watch nodes in the namespace {NAMESPACE}"
        )

    def test_without_the_right_to_read_nodes_pods_can_be_made_and_it_says_what_is_not_seen(
        self, fake: FakeCluster, kubeconfig: Path, tmp_path: Path
    ) -> None:
        assert kubeconfig
        fake.add_token("poor", "worker", *kind("production", "Role"), namespace=NAMESPACE)
        found = told(fake.kubeconfig(tmp_path / "poor", token="poor", namespace=NAMESPACE))
        assert found.state == "ok"
        assert (
            "this account may not list nodes, watch nodes, so new attempts also start in existing pods on cordoned"
            in found.detail
        )
        assert "may not" not in told(kubeconfig).detail

    def test_nodes_that_do_not_fit(self, kubeconfig: Path) -> None:
        assert told(kubeconfig, k8s_nodes="vm=yes").detail == "no node matches vm=yes"
        found = told(kubeconfig, k8s_nodes="*", k8s_kvm_resource="example.com/kvm")
        assert (found.state, found.detail) == ("missing", "none of 1 nodes offers example.com/kvm")

    def test_a_claim_that_is_missing(self, kubeconfig: Path) -> None:
        assert (
            told(kubeconfig, k8s_image_volume="claim:images").detail
            == f"the claim images does not exist in {NAMESPACE}"
        )

    def test_claims_of_nodes_and_of_clones_that_are_missing(self, fake: FakeCluster, kubeconfig: Path) -> None:
        fake.add_node("n2", kvm=3)
        fake.add_node("n3")
        for name in ("images-n1", "templates"):
            claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}}
            fake.create({**claim, "metadata": {"name": name, "namespace": NAMESPACE}})
        nodes = {"k8s_nodes": "*", "k8s_image_volume": "claim:images-{node}"}
        assert told(kubeconfig, **nodes).detail == f"the claim images-n2 does not exist in {NAMESPACE}"
        assert told(kubeconfig, **nodes, k8s_template_volume="claim:templates").state == "missing"
        assert told(kubeconfig, k8s_image_volume="clone:templates:1Gi").state == "ok"
        assert (
            told(kubeconfig, k8s_image_volume="clone:golden:1Gi").detail
            == f"the claim golden does not exist in {NAMESPACE}"
        )

    def test_claims_of_nodes_where_slots_have_none(self, kubeconfig: Path) -> None:
        found = told(kubeconfig, k8s_image_volume="claim:images-{node}")
        assert (found.state, found.install) == ("broken", "correct DESKARENA_K8S_IMAGE_VOLUME (docs/settings.md)")
        assert "set DESKARENA_K8S_NODES" in found.detail

    def test_unreachable_cluster_is_broken(self, fake: FakeCluster, kubeconfig: Path) -> None:
        kubeconfig.write_text(kubeconfig.read_text().replace(fake.address, "http://127.0.0.1:1"))
        assert told(kubeconfig).state == "broken"


def test_the_doctor_reads_it() -> None:
    check = read(json.dumps({"state": "missing", "detail": "no cluster is configured", "install": "set KUBECONFIG"}))
    assert (check.state, check.detail, check.install) == (
        CheckState.MISSING,
        "no cluster is configured",
        "set KUBECONFIG",
    )
