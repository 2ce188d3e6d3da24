"""State of a pod, as a pure function of the pod, its events and the expected uid."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from worker.k8s import manifests
from worker.k8s.cluster import Object

HITCH_SECONDS = 10.0
"""Seconds for normal delays during set-up: its Secret is created a moment later, a new node's network starts."""
ORPHAN_SECONDS = 30.0
"""Seconds until a pod's Secret counts as missing.

A kubelet retries with increasing delays, about 16 and 32 s after the first time.
"""
_LONGEST = 400


class Cause(StrEnum):
    """Why a pod cannot be used. The values are texts for people."""

    NONE = ""
    UNSCHEDULABLE = "no node takes the pod"
    IMAGE = "the pod's image cannot be pulled"
    CONFIGURATION = "the pod's container cannot be created"
    CRASHES = "the pod's container keeps crashing"
    VOLUMES = "the pod's volumes are not available"
    NETWORK = "the pod's sandbox or network cannot be created"
    ORPHANED = "the pod's Secret is missing"
    MEMORY = "the pod was killed for its memory"
    EVICTED = "the pod was evicted"
    NODE_LOST = "the pod's node is lost"
    REFUSED = "the pod's node refuses it"
    ENDED = "the pod ended"
    REPLACED = "another pod has its name"
    DELETED = "somebody deleted the pod"


PATIENT = frozenset(
    {Cause.UNSCHEDULABLE, Cause.IMAGE, Cause.CONFIGURATION, Cause.CRASHES, Cause.VOLUMES, Cause.NETWORK}
)
"""The cluster keeps trying: the pod may still start, for example when a node is added."""
_IMAGE = frozenset(
    {
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
        "ErrImageNeverPull",
        "RegistryUnavailable",
        "ImageInspectError",
    }
)
_CONFIGURATION = frozenset(
    {
        "CreateContainerConfigError",
        "CreateContainerError",
        "RunContainerError",
        "ContainerCannotRun",
        "PreStartHookError",
    }
)
_LOST = frozenset({"NodeLost", "NodeNotReady", "DeletionByPodGC", "NodeShutdown", "Shutdown"})
_EVICTED = frozenset(
    {
        *(
            "Evicted",
            "Preempting",
            "Preempted",
            "TerminationByKubelet",
            "EvictionByEvictionAPI",
            "PreemptionByScheduler",
        ),
        *("DeletionByTaintManager", "TaintManagerEviction", "Terminated"),
    }
)
_CLAIMS_TO_COME = (
    "waiting for ephemeral volume controller",
    "unbound immediate PersistentVolumeClaims",
    # From the previous pod of that name, which will disappear.
    "pod is not owner",
    "is being deleted",
)
_BY_EVENT = {
    "Evicted": Cause.EVICTED,
    "Preempted": Cause.EVICTED,
    "TaintManagerEviction": Cause.EVICTED,
    "NodeNotReady": Cause.NODE_LOST,
}
"""Events that explain why a pod disappeared; the newest counts."""
HITCHES = {
    "FailedMount": Cause.VOLUMES,
    "FailedAttachVolume": Cause.VOLUMES,
    "FailedMapVolume": Cause.VOLUMES,
    "FailedCreatePodSandBox": Cause.NETWORK,
    "FailedCreatePodContainer": Cause.NETWORK,
    "NetworkNotReady": Cause.NETWORK,
}
"""Events of a pod that its node cannot set up, so that no container starts. Its status does not show it."""
_SET_UP = frozenset({"Pulling", "Pulled", "Created", "Started"})
"""Events of a pod whose volumes and network are ready."""
_SUMMARY = "Unable to attach or mount volumes"
"""Prefix of a kubelet's summary every two minutes, which says which volumes are missing but not why."""


@dataclass(frozen=True)
class PodStatus:
    """State of a pod.

    Attributes:
        there: it exists with the expected uid.
        ready: it is reachable.
        cause: why it cannot be used; none while it starts.
        words: message of the cluster; for one that starts, what it waits for.
        node: its node; empty if none yet.
        address: its IP address; empty if none yet.
        leave: why no further attempt should start in it although it works: the state of its node; else empty.
    """

    there: bool
    ready: bool = False
    cause: Cause = Cause.NONE
    words: str = ""
    node: str = ""
    address: str = ""
    leave: str = ""

    @property
    def awaits_claims(self) -> bool:
        """Whether it is not scheduled because claims that are created for it do not exist yet.

        A pod whose claims are created after its node is chosen reports this until they are, however long that takes.
        """
        return self.cause is Cause.UNSCHEDULABLE and any(words in self.words for words in _CLAIMS_TO_COME)

    @property
    def why(self) -> str:
        """The problem with the cluster's message; empty if there is none."""
        if self.cause is Cause.NONE:
            return ""
        return f"{self.cause.value}: {self.words}" if self.words else self.cause.value


def pod_status(pod: Object | None, events: Sequence[Object], *, uid: str, hitch: float = 0.0) -> PodStatus:
    """State of the pod with that uid.

    Args:
        pod: current pod of the name; None if there is none.
        events: of that UID, oldest first.
        uid: of the expected pod.
        hitch: seconds since the first of `HITCHES` by our own clock: some are reported only once.
    """
    if pod is None:
        return _missing_pod_status(events)
    if pod["metadata"].get("uid") != uid:
        return PodStatus(False, cause=Cause.REPLACED, words=f"UID {pod['metadata'].get('uid')} instead of {uid}")
    status: Mapping[str, Any] = pod.get("status") or {}
    node, address = str(pod.get("spec", {}).get("nodeName") or ""), str(status.get("podIP") or "")
    cause, words = _cause(pod, status, events)
    if cause is Cause.NONE and status.get("phase") != "Running":
        cause, words = _hitch(pod, status, events, hitch)
    ready = cause is Cause.NONE and _condition(status, "Ready").get("status") == "True" and bool(address)
    if cause is Cause.NONE and not ready:
        words = _newest_warning(events)
    return PodStatus(True, ready, cause, words[:_LONGEST], node, address)


def _cause(pod: Object, status: Mapping[str, Any], events: Sequence[Object]) -> tuple[Cause, str]:
    disrupted = _condition(status, "DisruptionTarget")
    if status.get("phase") in {"Failed", "Succeeded"}:
        return _failure(status, disrupted)
    if pod["metadata"].get("deletionTimestamp"):
        if disrupted.get("status") == "True":
            return _disruption(str(disrupted.get("reason")), str(disrupted.get("message") or ""), events)
        gone = _missing_pod_status(events)
        return gone.cause, gone.words
    running, ready = status.get("phase") == "Running", _condition(status, "Ready")
    lost = _last(events, {"NodeNotReady"})
    if running and ready.get("status") != "True" and lost is not None and _not_before(lost, ready):
        return Cause.NODE_LOST, _text(lost)
    if status.get("phase") != "Running":
        scheduled = _condition(status, "PodScheduled")
        if scheduled.get("status") == "False" and scheduled.get("reason") == "Unschedulable":
            # Why a claim is not created, such as a quota, is only in an event.
            unmade = _last(events, {"FailedBinding"})
            messages = [str(scheduled.get("message") or ""), *([_text(unmade)] if unmade is not None else [])]
            return Cause.UNSCHEDULABLE, "; ".join(messages)
    return _waiting(status, events)


def _waiting(status: Mapping[str, Any], events: Sequence[Object]) -> tuple[Cause, str]:
    """State of containers that do not run."""
    for container in status.get("containerStatuses") or []:
        waiting = (container.get("state") or {}).get("waiting") or {}
        reason, message = str(waiting.get("reason") or ""), str(waiting.get("message") or "")
        ended = (container.get("lastState") or {}).get("terminated") or (container.get("state") or {}).get("terminated")
        if reason in _IMAGE:
            failed = _last(events, {"Failed"}, containing="pull")
            words = str(failed.get("message") or "") if failed is not None else ""
            return Cause.IMAGE, words or f"{reason}: {message}"
        if reason in _CONFIGURATION:
            return Cause.CONFIGURATION, f"{reason}: {message}"
        if ended and ended.get("reason") == "OOMKilled":
            return Cause.MEMORY, _end_description(ended)
        if reason == "CrashLoopBackOff":
            return Cause.CRASHES, "; ".join(filter(None, (message, _end_description(ended) if ended else "")))
    return Cause.NONE, ""


def _hitch(pod: Object, status: Mapping[str, Any], events: Sequence[Object], heard: float) -> tuple[Cause, str]:
    """Problem that prevents a node from setting up a scheduled pod whose containers have not started.

    Whether it is permanent is decided by time since the node took the pod, by the cluster's clocks or ours. The count
    of an event means nothing: a kubelet retries after half a second, and stops reporting after 25 events.
    """
    passed = _last(events, _SET_UP)
    hitches = [event for event in events if event.get("reason") in HITCHES and _is_later(event, passed)]
    if not hitches or _condition(status, "PodReadyToStartContainers").get("status") == "True":
        return Cause.NONE, ""
    words = [hitch for hitch in hitches if not str(hitch.get("message") or "").startswith(_SUMMARY)] or hitches
    start = _moment(status.get("startTime") or hitches[0].get("firstTimestamp") or when(hitches[0]))
    lasts, newest = _moment(when(hitches[-1])) - start, words[-1]
    if f'secret "{manifests.secret_of(pod)}" not found' in str(newest.get("message")):
        # The slot's next holder creates a missing Secret, so it says nothing about the slot. Once the kubelet retries
        # rarely, a new pod is faster.
        return (Cause.ORPHANED, _text(newest)) if lasts >= ORPHAN_SECONDS else (Cause.NONE, "")
    if max(lasts, heard) < HITCH_SECONDS:
        return Cause.NONE, ""
    return HITCHES[newest["reason"]], _text(newest)


def _failure(status: Mapping[str, Any], disrupted: Mapping[str, Any]) -> tuple[Cause, str]:
    reason, message = str(status.get("reason") or ""), str(status.get("message") or "")
    ended = [
        (container.get("state") or {}).get("terminated") or {} for container in status.get("containerStatuses") or []
    ]
    killed = [state for state in ended if state.get("reason") == "OOMKilled"]
    if killed:
        return Cause.MEMORY, _end_description(killed[0])
    if reason in _LOST or str(disrupted.get("reason")) in _LOST:
        return Cause.NODE_LOST, message or str(disrupted.get("message") or reason)
    if reason in _EVICTED:
        return Cause.EVICTED, message or reason
    if disrupted.get("status") == "True":
        return Cause.EVICTED, str(disrupted.get("message") or disrupted.get("reason") or "")
    if reason:
        return Cause.REFUSED, f"{reason}: {message}"
    return Cause.ENDED, "; ".join(_end_description(state) for state in ended if state)


def _disruption(reason: str, message: str, events: Sequence[Object]) -> tuple[Cause, str]:
    if reason in _LOST or (reason == "DeletionByTaintManager" and _last(events, {"NodeNotReady"}) is not None):
        return Cause.NODE_LOST, message
    return Cause.EVICTED, message or reason


def _missing_pod_status(events: Sequence[Object]) -> PodStatus:
    """State of a pod that no longer exists, from its last events."""
    event = _last(events, set(_BY_EVENT))
    if event is None:
        return PodStatus(False, cause=Cause.DELETED)
    return PodStatus(False, cause=_BY_EVENT[event["reason"]], words=_text(event)[:_LONGEST])


def _condition(status: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    listed: Sequence[Mapping[str, Any]] = status.get("conditions") or []
    return next((condition for condition in listed if condition.get("type") == kind), {})


def _last(events: Sequence[Object], reasons: Collection[str], *, containing: str = "") -> Object | None:
    matches = [event for event in events if event.get("reason") in reasons and containing in str(event.get("message"))]
    return matches[-1] if matches else None


def _newest_warning(events: Sequence[Object]) -> str:
    warnings = [event for event in events if event.get("type") == "Warning"]
    return _text(warnings[-1]) if warnings else ""


def _text(event: Object) -> str:
    return f"{event.get('reason')}: {event.get('message') or ''}".strip()


def _end_description(ended: Mapping[str, Any]) -> str:
    """Reason, exit code and the last line of what the container said, which its error is."""
    message = str(ended.get("message") or "").strip()
    words = (str(ended.get("reason") or ""), f"exit code {ended.get('exitCode')}", *message.splitlines()[-1:])
    return ", ".join(filter(None, words))


def when(event: Object) -> str:
    """When an event was last seen, as the cluster writes it; comparable as text to the second."""
    series = event.get("series") or {}
    timestamp = event.get("lastTimestamp") or series.get("lastObservedTime") or event.get("eventTime")
    return str(timestamp or event["metadata"].get("creationTimestamp") or "")


def _not_before(event: Object, condition: Mapping[str, Any]) -> bool:
    """Whether it was reported no earlier than the condition last changed."""
    changed = str(condition.get("lastTransitionTime") or "")
    return when(event)[:19] >= changed[:19]


def _is_later(event: Object, other: Object | None) -> bool:
    """Whether it was reported after the other one, which is about the better state and wins in the same second."""
    return other is None or when(event)[:19] > when(other)[:19]


def _moment(text: object) -> float:
    """Seconds since 1970; 0 if invalid."""
    return manifests.seconds_of(str(text)) or 0.0
