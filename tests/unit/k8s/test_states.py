"""What is read out of a pod and its events. The texts are those of real clusters."""

from typing import Any

import pytest

from worker.k8s.states import PATIENT, Cause, Seen, look

UID = "u-1"


def pod(phase: str = "Pending", **status: Any) -> dict[str, Any]:
    about: dict[str, Any] = {"name": "p", "uid": UID}
    if status.pop("ending", False):
        about["deletionTimestamp"] = "2026-01-01T00:00:09Z"
    return {"metadata": about, "spec": {"nodeName": "node-1"}, "status": {"phase": phase, **status}}


def event(reason: str, message: str = "", *, kind: str = "Warning", at: str = "2026-01-01T00:00:05Z") -> dict[str, Any]:
    return {
        "metadata": {"name": f"p.{reason}"},
        "reason": reason,
        "message": message,
        "type": kind,
        "lastTimestamp": at,
    }


def condition(kind: str, status: str, reason: str = "", message: str = "") -> dict[str, str]:
    changed = "2026-01-01T00:00:05Z"
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": changed}


def waiting(reason: str, message: str = "", **last: Any) -> list[dict[str, Any]]:
    return [{"state": {"waiting": {"reason": reason, "message": message}}, "lastState": last}]


def ended(reason: str, code: int) -> dict[str, Any]:
    return {"terminated": {"reason": reason, "exitCode": code}}


NO_ROOM = "0/3 nodes are available: 3 Insufficient devices.kubevirt.io/kvm."
NOT_FOUND = 'Failed to pull image "vm:9": rpc error: code = NotFound desc = vm:9: not found'
LOW = "The node was low on resource: ephemeral-storage."
CASES = [
    (pod(conditions=[condition("PodScheduled", "False", "Unschedulable", NO_ROOM)]), [], Cause.UNSCHEDULABLE, NO_ROOM),
    (
        pod(containerStatuses=waiting("ImagePullBackOff", 'Back-off pulling image "vm:9"')),
        [event("Failed", NOT_FOUND), event("Failed", "Error: ImagePullBackOff")],
        Cause.IMAGE,
        NOT_FOUND,
    ),
    (pod(containerStatuses=waiting("ErrImagePull", "no such host")), [], Cause.IMAGE, "ErrImagePull: no such host"),
    (
        pod(containerStatuses=waiting("CreateContainerConfigError", 'secret "s" not found')),
        [],
        Cause.CONFIGURATION,
        'secret "s" not found',
    ),
    (
        pod("Running", containerStatuses=waiting("CrashLoopBackOff", "back-off 10s", **ended("Error", 1))),
        [],
        Cause.CRASHES,
        "back-off 10s; Error, exit code 1",
    ),
    (
        pod("Running", containerStatuses=waiting("CrashLoopBackOff", "back-off 10s", **ended("OOMKilled", 137))),
        [],
        Cause.MEMORY,
        "OOMKilled, exit code 137",
    ),
    (pod("Failed", containerStatuses=[{"state": ended("OOMKilled", 137)}]), [], Cause.MEMORY, "OOMKilled"),
    (pod("Failed", reason="Evicted", message=LOW), [event("Evicted", LOW)], Cause.EVICTED, LOW),
    (
        pod(
            "Failed",
            conditions=[
                condition("DisruptionTarget", "True", "PreemptionByScheduler", "default-scheduler: preempting")
            ],
        ),
        [],
        Cause.EVICTED,
        "preempting",
    ),
    (
        pod("Failed", reason="UnexpectedAdmissionError", message="no healthy devices present"),
        [],
        Cause.REFUSED,
        "UnexpectedAdmissionError: no healthy devices present",
    ),
    (pod("Failed", containerStatuses=[{"state": ended("Error", 78)}]), [], Cause.ENDED, "Error, exit code 78"),
    (
        pod(
            "Failed",
            conditions=[condition("DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists")],
        ),
        [],
        Cause.NODE_LOST,
        "node no longer exists",
    ),
    (
        pod("Running", conditions=[condition("Ready", "False")]),
        [event("NodeNotReady", "Node is not ready")],
        Cause.NODE_LOST,
        "NodeNotReady: Node is not ready",
    ),
    (
        pod(
            "Running",
            ending=True,
            conditions=[
                condition("DisruptionTarget", "True", "DeletionByTaintManager", "deleting due to NoExecute taint")
            ],
        ),
        [event("NodeNotReady", "Node is not ready")],
        Cause.NODE_LOST,
        "NoExecute",
    ),
    (
        pod(
            "Running",
            ending=True,
            conditions=[condition("DisruptionTarget", "True", "EvictionByEvictionAPI", "drained")],
        ),
        [],
        Cause.EVICTED,
        "drained",
    ),
    (pod("Running", ending=True), [], Cause.DELETED, ""),
]


class TestLook:
    @pytest.mark.parametrize(("found", "events", "cause", "words"), CASES)
    def test_causes_are_told_apart_in_the_cluster_s_words(
        self, found: dict[str, Any], events: list[dict[str, Any]], cause: Cause, words: str
    ) -> None:
        seen = look(found, events, uid=UID)
        assert (seen.cause, seen.ready) == (cause, False)
        assert words in seen.words
        assert seen.why.startswith(cause.value)

    def test_an_image_that_cannot_be_had_is_told_in_the_cluster_s_words_alone(self) -> None:
        found = pod(containerStatuses=waiting("ImagePullBackOff", 'Back-off pulling image "vm:9"'))
        assert look(found, [event("Failed", NOT_FOUND)], uid=UID).words == NOT_FOUND

    def test_every_cause_is_tried_here(self) -> None:
        assert {case[2] for case in CASES} == set(Cause) - {Cause.NONE, Cause.REPLACED}

    def test_ready_with_its_address(self) -> None:
        found = pod("Running", podIP="10.0.0.7", conditions=[condition("Ready", "True")])
        assert look(found, [], uid=UID) == Seen(True, ready=True, node="node-1", address="10.0.0.7")

    def test_a_node_that_came_back_is_not_lost(self) -> None:
        found = pod("Running", podIP="10.0.0.7", conditions=[condition("Ready", "True")])
        assert look(found, [event("NodeNotReady", "Node is not ready")], uid=UID).ready

    def test_one_that_is_unready_for_another_reason_than_its_node_s_earlier_absence_is_waited_for(self) -> None:
        found = pod("Running", conditions=[condition("Ready", "False")])
        early = event("NodeNotReady", "Node is not ready", at="2025-12-31T00:00:00Z")
        assert look(found, [early], uid=UID).cause is Cause.NONE

    def test_one_that_starts_says_what_it_waits_for(self) -> None:
        said = 'MountVolume.SetUp failed for volume "token": secret "s" not found'
        seen = look(pod(containerStatuses=waiting("ContainerCreating")), [event("FailedMount", said)], uid=UID)
        assert (seen.there, seen.ready, seen.why) == (True, False, "")
        assert said in seen.words

    @pytest.mark.parametrize(
        ("message", "awaits"),
        [
            ('waiting for ephemeral volume controller to create the persistentvolumeclaim "p-images"', True),
            ("0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.", True),
            ("PVC desks/p-images was not created for pod desks/p (pod is not owner)", True),
            ('persistentvolumeclaim "p-images" is being deleted', True),
            ('persistentvolumeclaim "images-node-1" not found', False),
            (NO_ROOM, False),
        ],
    )
    def test_one_whose_claims_are_being_made_is_told_from_one_that_has_no_node(
        self, message: str, *, awaits: bool
    ) -> None:
        found = pod(conditions=[condition("PodScheduled", "False", "Unschedulable", message)])
        assert look(found, [], uid=UID).awaits_claims is awaits

    def test_why_a_claim_is_not_made_is_told(self) -> None:
        message = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-images"'
        said = "ephemeral volume images: persistentvolumeclaims is forbidden: exceeded quota: storage"
        found = pod(conditions=[condition("PodScheduled", "False", "Unschedulable", message)])
        assert look(found, [event("FailedBinding", said)], uid=UID).words == f"{message}; FailedBinding: {said}"

    def test_another_uid_is_another_pod(self) -> None:
        assert look(pod("Running"), [], uid="u-0").cause is Cause.REPLACED

    @pytest.mark.parametrize(
        ("events", "cause"),
        [
            ([], Cause.DELETED),
            ([event("Killing", kind="Normal")], Cause.DELETED),
            ([event("Evicted", LOW)], Cause.EVICTED),
            ([event("NodeNotReady", "Node is not ready")], Cause.NODE_LOST),
        ],
    )
    def test_one_that_is_gone_went_for_what_was_said_of_it(self, events: list[dict[str, Any]], cause: Cause) -> None:
        seen = look(None, events, uid=UID)
        assert (seen.there, seen.cause) == (False, cause)

    def test_only_what_the_cluster_tries_again_is_waited_for(self) -> None:
        assert {Cause.UNSCHEDULABLE, Cause.IMAGE, Cause.CONFIGURATION, Cause.CRASHES} == PATIENT
