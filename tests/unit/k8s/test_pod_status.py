"""Readings of a pod and its events. The texts are those of real clusters."""

from typing import Any

import pytest

from worker.k8s.pod_status import HITCH_SECONDS, HITCHES, PATIENT, Cause, PodStatus, pod_status

UID = "u-1"
BEGUN = "2026-01-01T00:00:00Z"


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


def at(second: int) -> str:
    """So long after the pod's node took it."""
    return f"2026-01-01T00:{second // 60:02d}:{second % 60:02d}Z"


def creating(*conditions: dict[str, str]) -> dict[str, Any]:
    """A node has taken it, and begins no container."""
    state = waiting("ContainerCreating")
    result = pod(startTime=BEGUN, containerStatuses=state, conditions=list(conditions))
    result["spec"]["volumes"] = [{"name": "images"}, {"name": "token", "secret": {"secretName": "s"}}]
    return result


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
NO_MOUNT = 'MountVolume.SetUp failed for volume "images" : mount failed: exit status 32'
NO_SUMMARY = "Unable to attach or mount volumes: unmounted volumes=[images], unattached volumes=[]: timed out"
NO_ATTACH = 'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) other'
NO_MAP = 'MapVolume.SetUpDevice failed for volume "pvc-1" : rpc error: code = Internal'
NO_SANDBOX = 'Failed to create pod sandbox: rpc error: failed to setup network for sandbox "a1": no IP addresses'
NO_NETWORK = "network is not ready: container runtime network not ready: cni plugin not initialized"
NO_TOKEN = 'MountVolume.SetUp failed for volume "token" : secret "s" not found'
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
    *(
        (creating(), [event(reason, words, at=at(12))], cause, f"{reason}: {words}")
        for reason, words, cause in (
            ("FailedMount", NO_MOUNT, Cause.VOLUMES),
            ("FailedAttachVolume", NO_ATTACH, Cause.VOLUMES),
            ("FailedMapVolume", NO_MAP, Cause.VOLUMES),
            ("FailedCreatePodSandBox", NO_SANDBOX, Cause.NETWORK),
            ("FailedCreatePodContainer", "unable to ensure pod container exists", Cause.NETWORK),
            ("NetworkNotReady", NO_NETWORK, Cause.NETWORK),
        )
    ),
    (creating(), [event("FailedMount", NO_TOKEN, at=at(32))], Cause.ORPHANED, NO_TOKEN),
]


class TestLook:
    @pytest.mark.parametrize(("found", "events", "cause", "words"), CASES)
    def test_causes_are_distinguished_with_the_clusters_message(
        self, found: dict[str, Any], events: list[dict[str, Any]], cause: Cause, words: str
    ) -> None:
        seen = pod_status(found, events, uid=UID)
        assert (seen.cause, seen.ready) == (cause, False)
        assert words in seen.words
        assert seen.why.startswith(cause.value)

    def test_an_image_that_cannot_be_had_is_told_in_the_cluster_s_words_alone(self) -> None:
        result = pod(containerStatuses=waiting("ImagePullBackOff", 'Back-off pulling image "vm:9"'))
        assert pod_status(result, [event("Failed", NOT_FOUND)], uid=UID).words == NOT_FOUND

    def test_every_cause_is_tried_here(self) -> None:
        assert {case[2] for case in CASES} == set(Cause) - {Cause.NONE, Cause.REPLACED}

    def test_ready_with_its_address(self) -> None:
        result = pod("Running", podIP="10.0.0.7", conditions=[condition("Ready", "True")])
        assert pod_status(result, [], uid=UID) == PodStatus(True, ready=True, node="node-1", address="10.0.0.7")

    def test_a_node_that_came_back_is_not_lost(self) -> None:
        result = pod("Running", podIP="10.0.0.7", conditions=[condition("Ready", "True")])
        assert pod_status(result, [event("NodeNotReady", "Node is not ready")], uid=UID).ready

    def test_unready_pod_on_a_returned_node_is_waited_for(self) -> None:
        result = pod("Running", conditions=[condition("Ready", "False")])
        early = event("NodeNotReady", "Node is not ready", at="2025-12-31T00:00:00Z")
        assert pod_status(result, [early], uid=UID).cause is Cause.NONE

    def test_starting_pod_reports_what_it_waits_for(self) -> None:
        said = 'MountVolume.SetUp failed for volume "token": secret "s" not found'
        seen = pod_status(pod(containerStatuses=waiting("ContainerCreating")), [event("FailedMount", said)], uid=UID)
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
    def test_pending_claims_differ_from_an_unschedulable_pod(self, message: str, *, awaits: bool) -> None:
        result = pod(conditions=[condition("PodScheduled", "False", "Unschedulable", message)])
        assert pod_status(result, [], uid=UID).awaits_claims is awaits

    def test_failed_claim_is_reported(self) -> None:
        message = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-images"'
        said = "ephemeral volume images: persistentvolumeclaims is forbidden: exceeded quota: storage"
        result = pod(conditions=[condition("PodScheduled", "False", "Unschedulable", message)])
        assert pod_status(result, [event("FailedBinding", said)], uid=UID).words == f"{message}; FailedBinding: {said}"

    def test_another_uid_is_another_pod(self) -> None:
        assert pod_status(pod("Running"), [], uid="u-0").cause is Cause.REPLACED

    @pytest.mark.parametrize(
        ("events", "cause"),
        [
            ([], Cause.DELETED),
            ([event("Killing", kind="Normal")], Cause.DELETED),
            ([event("Evicted", LOW)], Cause.EVICTED),
            ([event("NodeNotReady", "Node is not ready")], Cause.NODE_LOST),
        ],
    )
    def test_deleted_pod_has_the_cause_of_its_events(self, events: list[dict[str, Any]], cause: Cause) -> None:
        seen = pod_status(None, events, uid=UID)
        assert (seen.there, seen.cause) == (False, cause)

    def test_only_what_the_cluster_tries_again_is_waited_for(self) -> None:
        tried = {Cause.UNSCHEDULABLE, Cause.IMAGE, Cause.CONFIGURATION, Cause.CRASHES, Cause.VOLUMES, Cause.NETWORK}
        assert tried == PATIENT


class TestHitch:
    """Only events tell why a node cannot set a pod up; some of them are normal at first."""

    def test_every_one_is_tried_here(self) -> None:
        assert {event["reason"] for _, events, cause, _ in CASES for event in events if cause in PATIENT} >= {*HITCHES}

    @pytest.mark.parametrize("second", [0, 9])
    def test_an_early_one_is_what_the_pod_waits_for(self, second: int) -> None:
        seen = pod_status(creating(), [event("FailedMount", NO_MOUNT, at=at(second))], uid=UID)
        assert (seen.why, seen.words) == ("", f"FailedMount: {NO_MOUNT}")

    def test_single_event_lasts_by_the_local_clock(self) -> None:
        told = [event("FailedAttachVolume", NO_ATTACH, at=at(1))]
        assert pod_status(creating(), told, uid=UID, hitch=HITCH_SECONDS - 1).cause is Cause.NONE
        assert pod_status(creating(), told, uid=UID, hitch=HITCH_SECONDS).cause is Cause.VOLUMES

    def test_first_event_replaces_a_missing_start_time(self) -> None:
        result = creating()
        del result["status"]["startTime"]
        told = {**event("FailedMount", NO_MOUNT, at=at(12)), "firstTimestamp": at(1), "count": 5}
        assert pod_status(result, [told], uid=UID).cause is Cause.VOLUMES
        assert pod_status(result, [{**told, "firstTimestamp": at(11)}], uid=UID).cause is Cause.NONE

    def test_a_series_counts_by_its_last_moment(self) -> None:
        told = event("NetworkNotReady", NO_NETWORK)
        told |= {"lastTimestamp": None, "eventTime": f"{at(1)[:-1]}.250000Z"}
        told["series"] = {"count": 9, "lastObservedTime": f"{at(14)[:-1]}.750000Z"}
        assert pod_status(creating(), [told], uid=UID).cause is Cause.NETWORK

    def test_tries_that_differ_in_words_are_one_trouble_in_the_newest_words(self) -> None:
        told = [event("FailedCreatePodSandBox", f'sandbox "{each}": no IP', at=at(each)) for each in (1, 7, 13)]
        seen = pod_status(creating(), told, uid=UID)
        assert seen.why == f'{Cause.NETWORK.value}: FailedCreatePodSandBox: sandbox "13": no IP'

    def test_reasons_are_preferred_to_bare_names(self) -> None:
        summary = event("FailedMount", NO_SUMMARY, at=at(123))
        seen = pod_status(creating(), [event("FailedMount", NO_MOUNT, at=at(63)), summary], uid=UID)
        assert seen.words == f"FailedMount: {NO_MOUNT}"
        assert pod_status(creating(), [summary], uid=UID).words == f"FailedMount: {NO_SUMMARY}"

    @pytest.mark.parametrize("reason", ["Pulling", "Pulled", "Created", "Started"])
    def test_mount_problem_ends_when_a_container_starts(self, reason: str) -> None:
        told = [event("FailedMount", NO_MOUNT, at=at(15)), event(reason, kind="Normal", at=at(15))]
        assert pod_status(creating(), told, uid=UID, hitch=60).cause is Cause.NONE

    def test_network_problem_ends_with_the_sandbox(self) -> None:
        result = creating(condition("PodReadyToStartContainers", "True"))
        assert pod_status(result, [event("FailedMount", NO_MOUNT, at=at(15))], uid=UID, hitch=60).cause is Cause.NONE

    def test_problem_ends_when_a_container_runs(self) -> None:
        ready = pod("Running", podIP="10.0.0.7", startTime=BEGUN, conditions=[condition("Ready", "True")])
        seen = pod_status(ready, [event("FailedMount", NO_MOUNT, at=at(15))], uid=UID, hitch=60)
        assert (seen.ready, seen.why) == (True, "")
        unready = pod("Running", startTime=BEGUN, conditions=[condition("Ready", "False")])
        assert pod_status(unready, [event("FailedMount", NO_MOUNT, at=at(15))], uid=UID, hitch=60).cause is Cause.NONE

    def test_problem_after_an_image_pull_counts(self) -> None:
        told = [event("Pulled", kind="Normal", at=at(11)), event("FailedCreatePodSandBox", NO_SANDBOX, at=at(20))]
        assert pod_status(creating(), told, uid=UID).cause is Cause.NETWORK

    def test_an_image_that_cannot_be_had_is_told_first(self) -> None:
        result = {**creating(), "status": {**creating()["status"], "containerStatuses": waiting("ErrImagePull", "no")}}
        assert pod_status(result, [event("FailedMount", NO_MOUNT, at=at(15))], uid=UID).cause is Cause.IMAGE

    def test_the_pod_s_own_secret_is_made_a_moment_later(self) -> None:
        told = [event("FailedMount", NO_TOKEN, at=at(16))]
        assert pod_status(creating(), told, uid=UID, hitch=120).why == "", "whoever has the slot next makes it"

    def test_a_secret_that_was_never_made_is_not_a_reason_to_keep_the_pod(self) -> None:
        told = [event("FailedMount", NO_TOKEN, at=at(63)), event("FailedMount", NO_SUMMARY, at=at(123))]
        seen = pod_status(creating(), told, uid=UID)
        assert (seen.cause, seen.cause in PATIENT) == (Cause.ORPHANED, False)

    def test_missing_foreign_secret_is_a_volume_problem(self) -> None:
        told = [event("FailedMount", NO_TOKEN.replace('"s"', '"other"'), at=at(16))]
        assert pod_status(creating(), told, uid=UID).cause is Cause.VOLUMES

    def test_a_cluster_s_words_are_bounded(self) -> None:
        told = [event("FailedMount", "x" * 5000, at=at(16))]
        assert len(pod_status(creating(), told, uid=UID).words) <= 400

    def test_invalid_timestamps_are_ignored(self) -> None:
        told = [event("FailedMount", NO_MOUNT, at="soon")]
        assert pod_status(creating(), told, uid=UID).cause is Cause.NONE
        assert pod_status(creating(), told, uid=UID, hitch=60).cause is Cause.VOLUMES
