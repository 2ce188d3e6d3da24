"""Events: what controllers say of an object, counted where they repeat themselves."""

from dataclasses import dataclass

from tests.fakes.kubernetes.ground import Ground
from tests.fakes.kubernetes.kinds import EVENTS, Json
from tests.fakes.kubernetes.status import Refusal
from tests.fakes.kubernetes.store import now

KUBELET, SCHEDULER = "kubelet", "default-scheduler"
NODE_CONTROLLER, TAINTS = "node-controller", "taint-eviction-controller"
ATTACHER = "attachdetach-controller"


@dataclass(frozen=True)
class EventText:
    """One event's words."""

    reason: str
    message: str
    source: str = KUBELET
    warning: bool = False
    host: str = ""


def about(obj: Json) -> Json:
    """A reference to an object."""
    named = obj["metadata"]
    reference = {
        "kind": obj["kind"], "apiVersion": obj["apiVersion"], "name": named["name"], "uid": named["uid"],
        "namespace": named.get("namespace", ""), "resourceVersion": named["resourceVersion"],
    }  # fmt: skip
    return {key: value for key, value in reference.items() if value}


class EventRecorder:
    """Writes events."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._seen: dict[tuple[str, str, str], tuple[str, str]] = {}

    def record(self, obj: Json, text: EventText) -> None:
        """Says something of an object. What was said before is counted up."""
        named = obj["metadata"]
        event_key = (named["uid"], text.reason, text.message)
        if event_key in self._seen and self._ground.change(EVENTS, self._seen[event_key], _again) is not None:
            return
        namespace = named.get("namespace") or "default"
        try:
            event = self._ground.create(EVENTS, _event(obj, text), namespace)
        except Refusal:  # nobody listens any more: the namespace ends
            return
        self._seen[event_key] = (namespace, event["metadata"]["name"])


def _event(obj: Json, text: EventText) -> Json:
    source = {"component": text.source, **({"host": text.host} if text.host else {})}
    return {
        "apiVersion": "v1", "kind": "Event", "metadata": {"generateName": f"{obj['metadata']['name']}."},
        "involvedObject": about(obj), "reason": text.reason, "message": text.message, "source": source,
        "firstTimestamp": now(), "lastTimestamp": now(), "count": 1, "type": "Warning" if text.warning else "Normal",
        "eventTime": None, "reportingComponent": text.source, "reportingInstance": text.host,
    }  # fmt: skip


def _again(event: Json) -> None:
    event["count"] = event.get("count", 1) + 1
    event["lastTimestamp"] = now()
