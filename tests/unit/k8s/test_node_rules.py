"""Readings of a node object: slots, state, why its pods leave, tolerated taints."""

from typing import Any

import pytest

from backend.domain.machines.nodes import NodeReport, NodeState
from backend.domain.machines.slots import DesktopNeeds
from backend.domain.model.units import GIB
from worker.k8s.cluster import Object
from worker.k8s.node_rules import NodeRequirements, emulated_words, leave, node_report, tolerated

KVM = "devices.kubevirt.io/kvm"
NEED = DesktopNeeds(memory=4 * GIB, cores=2, disk=10 * GIB)
WANTS = NodeRequirements(NEED, device=KVM)
NOT_READY = {"type": "Ready", "status": "Unknown", "message": "Kubelet stopped posting node status."}


def node(taints: list[dict[str, str]] | None = None, **changes: Any) -> Object:
    """A node of 32 GiB and 8 cores with 4 devices."""
    allocatable = {"cpu": "7900m", "memory": "30Gi", "ephemeral-storage": "200Gi", "pods": "110", KVM: "4"}
    return {
        "metadata": {"name": "n1", "labels": changes.pop("labels", {}), **changes.pop("metadata", {})},
        "spec": {**({"taints": taints} if taints else {}), **changes.pop("spec", {})},
        "status": {
            "allocatable": allocatable | changes.pop("allocatable", {}),
            "conditions": changes.pop("conditions", [{"type": "Ready", "status": "True"}]),
        },
    }


def taint(key: str, effect: str = "NoSchedule", value: str = "") -> dict[str, str]:
    return {"key": key, "effect": effect, **({"value": value} if value else {})}


def seen(found: Object, wants: NodeRequirements = WANTS, **more: Any) -> NodeReport:
    result = node_report(found, wants, **more)
    assert result is not None
    return result


class TestSlots:
    def test_a_healthy_node_whole(self) -> None:
        assert seen(node(labels={"topology.kubernetes.io/zone": "a", "private": "x"})) == NodeReport(
            name="n1",
            state=NodeState.READY,
            reason="",
            slots=3,
            labels={"topology.kubernetes.io/zone": "a"},
            capacity={"memory": 30 * GIB, "cpu": 7900, "disk": 200 * GIB, "devices": 4},
        )

    @pytest.mark.parametrize(
        ("changes", "slots"),
        [
            ({"cpu": "64", "memory": "512Gi", "ephemeral-storage": "1Ti"}, 4),
            ({KVM: "1k", "cpu": "64", "memory": "17Gi"}, 4),
            ({KVM: "1k", "cpu": "64", "memory": "512Gi", "ephemeral-storage": "25Gi"}, 2),
            ({KVM: "110", "cpu": "64", "memory": "512Gi", "pods": "3"}, 3),
        ],
    )
    def test_the_scarcest_decides(self, changes: dict[str, str], slots: int) -> None:
        assert seen(node(allocatable=changes)).slots == slots

    def test_a_device_that_boots_no_machine_is_reported_and_the_node_is_used_after_all_others(self) -> None:
        result = seen(node(), emulated="a machine did not boot")
        assert (result.state, result.slots) == (NodeState.READY, 3)
        assert result.reason == emulated_words("a machine did not boot")

    def test_other_problems_of_a_node_are_named_first(self) -> None:
        result = seen(node(conditions=[NOT_READY]), emulated="a machine did not boot")
        assert result.reason.startswith("not ready: ")
        assert result.reason.endswith(emulated_words("a machine did not boot"))

    def test_without_a_device_the_rest_decides(self) -> None:
        assert seen(node(allocatable={KVM: "0"}), NodeRequirements(NEED)).slots == 3

    def test_a_label_lowers_the_number(self) -> None:
        assert seen(node(labels={"deskarena.dev/slots": "1"})).slots == 1
        assert seen(node(labels={"deskarena.dev/slots": "9"})).slots == 3

    def test_a_label_that_is_not_a_number_is_reported_and_left_out(self) -> None:
        result = seen(node(labels={"deskarena.dev/slots": "two"}))
        assert (result.slots, result.reason) == (3, "its label deskarena.dev/slots is not a number: 'two'")

    def test_missing_capacity_is_reported(self) -> None:
        result = seen(node(allocatable={"memory": "2Gi", KVM: "0"}))
        assert (result.slots, result.reason) == (0, f"no room for a desktop: memory and {KVM}")

    def test_unselected_node_without_the_device_is_ignored(self) -> None:
        assert node_report(node(allocatable={KVM: "0"}), NodeRequirements(NEED, device=KVM, selected=False)) is None
        assert node_report(node(), NodeRequirements(NEED, device=KVM, selected=False)) is not None

    def test_an_object_without_anything_runs_nothing(self) -> None:
        result = seen({})
        assert (result.slots, result.state) == (0, NodeState.UNREADY)


class TestState:
    @pytest.mark.parametrize(
        ("found", "state", "words"),
        [
            (node(spec={"unschedulable": True}), "draining", "cordoned: no new pods are scheduled on it"),
            (
                node([taint("node.kubernetes.io/unschedulable")]),
                "draining",
                "cordoned: no new pods are scheduled on it",
            ),
            (
                node([taint("ToBeDeletedByClusterAutoscaler", value="1700000000")], spec={"unschedulable": True}),
                "draining",
                "the cluster autoscaler is about to remove it",
            ),
            (node([taint("node.kubernetes.io/disk-pressure")]), "draining", "its disk is nearly full"),
            (node([taint("karpenter.sh/disrupted")]), "draining", "Karpenter is about to remove it"),
            (node([taint("team", value="ml")]), "draining", "taint team=ml:NoSchedule"),
            (node([taint("team", "NoExecute", "ml")]), "lost", "it evicts its pods: taint team=ml:NoExecute"),
            (
                node([taint("DeletionCandidateOfClusterAutoscaler", "PreferNoSchedule")]),
                "ready",
                "the cluster autoscaler may remove it: used after all others",
            ),
            (
                node(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
                "draining",
                "it is being removed from the cluster",
            ),
        ],
    )
    def test_state_has_a_reason(self, found: Object, state: str, words: str) -> None:
        assert (seen(found).state.value, seen(found).reason) == (state, words)

    def test_silent_node_is_lost_after_the_grace_period(self) -> None:
        away = node(
            [taint("node.kubernetes.io/unreachable", "NoExecute"), taint("node.kubernetes.io/unreachable")],
            conditions=[NOT_READY],
        )
        words = "not ready: Kubelet stopped posting node status."
        assert (seen(away).state, seen(away).reason) == (NodeState.UNREADY, words)
        assert seen(away, silent=29.9, grace=30.0).state is NodeState.UNREADY
        assert seen(away, silent=30.0, grace=30.0).state is NodeState.LOST
        assert seen(away, silent=30.0, grace=30.0).reason == words

    def test_returned_node_is_ready(self) -> None:
        assert seen(node(), silent=99.0).state is NodeState.READY

    def test_tolerated_taints_are_ignored(self) -> None:
        wants = NodeRequirements(NEED, device=KVM, tolerations=({"key": "vm", "operator": "Exists"},))
        assert seen(node([taint("vm", "NoExecute")]), wants).state is NodeState.READY
        assert seen(node([taint("vm", "NoExecute"), taint("other")]), wants).state is NodeState.DRAINING

    def test_a_long_message_is_cut(self) -> None:
        assert len(seen(node(conditions=[NOT_READY | {"message": "x" * 5000}])).reason) == 300


class TestLeave:
    @pytest.mark.parametrize(
        ("found", "words"),
        [
            (node(), ""),
            (node(spec={"unschedulable": True}), "cordoned: no new pods are scheduled on it"),
            (node([taint("node.kubernetes.io/unschedulable")]), "cordoned: no new pods are scheduled on it"),
            (
                node([taint("ToBeDeletedByClusterAutoscaler", value="1700000000")], spec={"unschedulable": True}),
                "the cluster autoscaler is about to remove it",
            ),
            (node([taint("karpenter.sh/disrupted")]), "Karpenter is about to remove it"),
            (node([taint("node.kubernetes.io/disk-pressure")]), "its disk is nearly full"),
            (node([taint("team", "NoExecute", "ml")]), "taint team=ml:NoExecute"),
            (node([taint("DeletionCandidateOfClusterAutoscaler", "PreferNoSchedule")]), ""),
            (node(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}), "it is being removed from the cluster"),
            ({}, ""),
        ],
    )
    def test_reason_to_leave_is_reported(self, found: Object, words: str) -> None:
        assert leave(found, ()) == words

    def test_unreachable_node_is_left_to_its_pods(self) -> None:
        away = [taint("node.kubernetes.io/unreachable", effect) for effect in ("NoSchedule", "NoExecute")]
        assert not leave(node(away, conditions=[NOT_READY]), ())

    def test_node_is_not_left_if_the_pod_would_return(self) -> None:
        mine = {"key": "vm", "operator": "Exists"}
        assert not leave(node([taint("vm")]), (mine,))
        assert leave(node([taint("vm"), taint("other")]), (mine,)) == "taint other:NoSchedule"
        assert leave(node(spec={"unschedulable": True}), (mine,))
        assert not leave(node(spec={"unschedulable": True}), ({"operator": "Exists"},))


class TestTolerated:
    @pytest.mark.parametrize(
        ("toleration", "expected"),
        [
            ({"operator": "Exists"}, True),
            ({"key": "vm", "operator": "Exists", "effect": "NoSchedule"}, True),
            ({"key": "vm", "operator": "Exists", "effect": "NoExecute"}, False),
            ({"key": "vm", "value": "yes"}, True),
            ({"key": "vm", "operator": "Equal", "value": "no"}, False),
            ({"key": "other", "operator": "Exists"}, False),
            ({"key": "vm", "operator": "Exists", "tolerationSeconds": 300}, False),
        ],
    )
    def test_by_the_rules_of_kubernetes(self, toleration: dict[str, Any], expected: object) -> None:
        assert tolerated(taint("vm", value="yes"), [toleration]) is expected
