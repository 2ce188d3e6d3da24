from typing import Any

import pytest

from tools.kubernetes_schema import KINDS, WORDS, fields_of, model_of, of_model, problems


def pod(**spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "x:1"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": containers, **spec}}


def said(document: Any) -> list[str]:
    return [str(one) for one in problems(document)]


class TestProblems:
    def test_a_good_one_has_none(self) -> None:
        limits = {"cpu": "500m", "memory": "4Gi", "devices.kubevirt.io/kvm": 1, "x": "1e3", "y": 0.5}
        volumes = [{"name": "a", "emptyDir": {"sizeLimit": "1Gi", "medium": "Memory"}}]
        document = pod(volumes=volumes, priority=None)
        document["spec"]["containers"][0] |= {
            "resources": {"limits": limits},
            "livenessProbe": {"httpGet": {"port": 80}},
            "readinessProbe": {"httpGet": {"port": "http"}},
            "lifecycle": {"preStop": {"exec": {"command": ["true"]}}},
        }
        assert said(document) == []

    @pytest.mark.parametrize(
        ("document", "expected"),
        [
            (pod(nodeSelektor={}), "spec.nodeSelektor: unknown field, PodSpec has none of this name"),
            (pod(containers=[{"name": "a", "imagee": "x"}]), "spec.containers[0].imagee: unknown field, Container has"),
            (pod(hostNetwork="yes"), "spec.hostNetwork: should be true or false, is 'yes' (string)"),
            (pod(terminationGracePeriodSeconds="5"), "should be a whole number, is '5' (string)"),
            (pod(terminationGracePeriodSeconds=True), "should be a whole number, is True (bool)"),
            (pod(nodeSelector={"a": 1}), "spec.nodeSelector.a: should be a text, is 1 (number)"),
            (pod(nodeSelector=["a"]), "spec.nodeSelector: should be an object, is ['a'] (array)"),
            (pod(containers={}), "spec.containers: should be a list, is {} (object)"),
            (pod(containers=["a"]), "spec.containers[0]: should be an object, is 'a' (string)"),
            (pod(containers=None), "spec.containers: is required"),
            (pod(containers=[{"image": "x"}]), "spec.containers[0].name: is required"),
            (pod(restartPolicy="Sometimes"), "'Sometimes' is none of Always, OnFailure, Never"),
            (pod(overhead={"cpu": "much"}), "spec.overhead.cpu: 'much' is no quantity, as 500m, 2 or 4Gi are"),
            (pod(overhead={"cpu": True}), "spec.overhead.cpu: should be a quantity, is True (bool)"),
            ({**pod(), "kind": "Pot"}, ": no kind Pot in version v1 is known here"),
            ({**pod(), "apiVersion": "v2"}, ": no kind Pod in version v2 is known here"),
            ({}, ": no kind (none) in version (none) is known here"),
            ([], ": is not an object"),
        ],
    )
    def test_problem_of_a_document_is_found(self, document: Any, expected: str) -> None:
        assert len(said(document)) == 1
        assert expected in said(document)[0]

    def test_finds_all_of_them(self) -> None:
        wrong = pod(hostNetwork=1, x=2, restartPolicy="no", containers=[{}])
        assert [one.kind for one in problems(wrong)] == ["missing", "type", "unknown", "word"]

    def test_words_in_lists(self) -> None:
        spec = {"accessModes": ["ReadWriteOnce", "ReadSometimes"]}
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "a"}, "spec": spec}
        assert ["ReadSometimes" in one for one in said(claim)] == [True]

    def test_malformed_time_is_found(self) -> None:
        spec = {"renewTime": "2026-01-01T00:00:00.000000Z", "acquireTime": "yesterday"}
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a"}, "spec": spec}
        assert said(lease) == ["spec.acquireTime: should be a time (RFC 3339), is 'yesterday' (string)"]

    def test_kinds_of_others_need_a_name_and_a_spec(self) -> None:
        scaled = {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "a"}, "spec": {"x": 1}}
        assert said(scaled) == []
        assert said({**scaled, "metadata": {}, "spec": None}) == ["metadata.name: is required", "spec: is required"]

    def test_events_of_both_groups(self) -> None:
        event = {"kind": "Event", "metadata": {"name": "a"}}
        assert said({**event, "apiVersion": "v1"}) == ["involvedObject: is required"]
        assert said({**event, "apiVersion": "events.k8s.io/v1"}) == ["eventTime: is required"]


class TestOfModel:
    def test_checks_a_part(self) -> None:
        assert [one.path for one in of_model({"containers": [{"label": "x"}]}, "V1PodSpec", "template.spec")] == [
            "template.spec.containers[0].label", "template.spec.containers[0].name",
        ]  # fmt: skip


class TestTables:
    @pytest.mark.parametrize(("version", "kind"), [(version, kind) for version in KINDS for kind in KINDS[version]])
    def test_every_kind_has_a_model(self, version: str, kind: str) -> None:
        assert "metadata" in fields_of(model_of(version, kind))

    @pytest.mark.parametrize(("model", "field"), list(WORDS))
    def test_every_listed_field_exists(self, model: str, field: str) -> None:
        assert field in fields_of(model)
