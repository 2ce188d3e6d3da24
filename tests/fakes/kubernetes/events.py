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


def about(found: Json) -> Json:
    """A reference to an object."""
    named = found["metadata"]
    reference = {
        "kind": found["kind"], "apiVersion": found["apiVersion"], "name": named["name"], "uid": named["uid"],
        "namespace": named.get("namespace", ""), "resourceVersion": named["resourceVersion"],
    }  # fmt: skip
    return {key: value for key, value in reference.items() if value}


class EventRecorder:
    """Writes events."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._seen: dict[tuple[str, str, str], tuple[str, str]] = {}

    def record(self, found: Json, said: EventText) -> None:
        """Says something of an object. What was said before is counted up."""
        named = found["metadata"]
        seen = (named["uid"], said.reason, said.message)
        if seen in self._seen and self._ground.change(EVENTS, self._seen[seen], _again) is not None:
            return
        namespace = named.get("namespace") or "default"
        try:
            made = self._ground.create(EVENTS, _event(found, said), namespace)
        except Refusal:  # nobody listens any more: the namespace ends
            return
        self._seen[seen] = (namespace, made["metadata"]["name"])


def _event(found: Json, said: EventText) -> Json:
    source = {"component": said.source, **({"host": said.host} if said.host else {})}
    return {
        "apiVersion": "v1", "kind": "Event", "metadata": {"generateName": f"{found['metadata']['name']}."},
        "involvedObject": about(found), "reason": said.reason, "message": said.message, "source": source,
        "firstTimestamp": now(), "lastTimestamp": now(), "count": 1, "type": "Warning" if said.warning else "Normal",
        "eventTime": None, "reportingComponent": said.source, "reportingInstance": said.host,
    }  # fmt: skip


def _again(event: Json) -> None:
    event["count"] = event.get("count", 1) + 1
    event["lastTimestamp"] = now()
