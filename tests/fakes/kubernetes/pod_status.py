"""How a kubelet writes a pod's status, as pure changes of a pod."""

from tests.fakes.kubernetes.kinds import Json
from tests.fakes.kubernetes.store import now

_ORDER = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled", "DisruptionTarget")


def condition(pod: Json, kind: str, *, holds: bool, reason: str = "", message: str = "") -> None:
    """Sets one condition; the time of its last change moves only when it changes."""
    listed = pod["status"].setdefault("conditions", [])
    old: Json = next((item for item in listed if item["type"] == kind), {})
    word = "True" if holds else "False"
    row = {"type": kind, "status": word, "lastProbeTime": None}
    row["lastTransitionTime"] = old.get("lastTransitionTime", now()) if old.get("status") == word else now()
    row |= {name: text for name, text in (("reason", reason), ("message", message)) if text}
    kept = [item for item in listed if item["type"] != kind]
    order = {name: place for place, name in enumerate(_ORDER)}
    pod["status"]["conditions"] = sorted([*kept, row], key=lambda condition: order.get(condition["type"], len(order)))


def names(pod: Json) -> list[str]:
    """Its containers."""
    return [container["name"] for container in pod["spec"]["containers"]]


def _statuses(pod: Json) -> list[Json]:
    """One status for each container, as far as it is known."""
    old = {item["name"]: item for item in pod["status"].get("containerStatuses") or []}
    return [
        old.get(container["name"])
        or {
            "name": container["name"], "image": container["image"], "imageID": "", "ready": False, "restartCount": 0,
            "started": False, "state": {"waiting": {"reason": "ContainerCreating"}}, "lastState": {},
        }
        for container in pod["spec"]["containers"]
    ]  # fmt: skip


def _set(pod: Json, **fields: object) -> None:
    pod["status"]["containerStatuses"] = [{**status, **fields} for status in _statuses(pod)]


def _unready(pod: Json, reason: str = "ContainersNotReady") -> None:
    message = f"containers with unready status: [{' '.join(names(pod))}]"
    for kind in ("Ready", "ContainersReady"):
        condition(pod, kind, holds=False, reason=reason, message=message if reason == "ContainersNotReady" else "")


def creating(pod: Json, host: str) -> None:
    """A node has taken the pod."""
    pod["status"].update(phase="Pending", startTime=now(), hostIP=host, hostIPs=[{"ip": host}])
    _set(pod)
    condition(pod, "PodReadyToStartContainers", holds=False)
    condition(pod, "Initialized", holds=True)
    _unready(pod)


def waiting(pod: Json, reason: str, message: str = "") -> None:
    """No container runs, for a reason."""
    _set(
        pod,
        ready=False,
        started=False,
        state={"waiting": {"reason": reason, **({"message": message} if message else {})}},
    )
    _unready(pod)


def running(pod: Json, address: str, container_id: str, *, ready: bool) -> None:
    """All containers run."""
    pod["status"].update(phase="Running", podIP=address, podIPs=[{"ip": address}])
    started = {"running": {"startedAt": now()}}
    was = _statuses(pod)[0]["state"]
    state = was if "running" in was else started
    _set(pod, ready=ready, started=True, state=state, imageID=f"sha256:{'0' * 64}", containerID=container_id)
    condition(pod, "PodReadyToStartContainers", holds=True)
    if ready:
        for kind in ("Ready", "ContainersReady"):
            condition(pod, kind, holds=True)
    else:
        _unready(pod)


def terminated(pod: Json, code: int, reason: str, message: str = "") -> Json:
    """Status of a container that has ended."""
    status_row = _statuses(pod)[0]
    begun = status_row["state"].get("running", {}).get("startedAt", now())
    row = {"exitCode": code, "reason": reason, "startedAt": begun, "finishedAt": now()}
    row |= {"containerID": status_row["containerID"]} if status_row.get("containerID") else {}
    return {**row, **({"message": message} if message else {})}


def stopped(pod: Json, code: int, reason: str = "", message: str = "") -> None:
    """All containers have ended, and none starts again."""
    said = reason or ("Completed" if code == 0 else "Error")
    state = {"terminated": terminated(pod, code, said, message)}
    pod["status"]["phase"] = "Succeeded" if code == 0 else "Failed"
    _set(pod, ready=False, started=False, state=state)
    _unready(pod, "PodCompleted" if code == 0 else "PodFailed")


def failed(pod: Json, reason: str, message: str) -> None:
    """The pod as a whole has been ended by its node."""
    pod["status"].update(phase="Failed", reason=reason, message=message)
    if pod["status"].get("containerStatuses"):
        _set(pod, ready=False, started=False, state={"terminated": terminated(pod, 137, "Error")})
    condition(pod, "DisruptionTarget", holds=True, reason="TerminationByKubelet", message=message)
    _unready(pod, "PodFailed")


def restarting(pod: Json, code: int, reason: str, *, back_off: str = "", message: str = "") -> None:
    """A container has ended and is to be started again: at once, or after `back_off` (the kubelet's words)."""
    last = {"terminated": terminated(pod, code, reason, message)}
    state = {"waiting": {"reason": "CrashLoopBackOff", "message": back_off}} if back_off else last
    _set(pod, ready=False, started=False, state=state, lastState=last if back_off else _statuses(pod)[0]["lastState"])
    _unready(pod)


def restarted(pod: Json, container_id: str, *, ready: bool = True) -> None:
    """The container runs again: one start more; what ended it is its last state."""
    status_row = _statuses(pod)[0]
    last = status_row["state"] if "terminated" in status_row["state"] else status_row["lastState"]
    state = {"running": {"startedAt": now()}}
    number = status_row["restartCount"] + 1
    _set(pod, restartCount=number, lastState=last, state=state, ready=ready, started=True, containerID=container_id)
    pod["status"]["phase"] = "Running"
    if ready:
        for kind in ("Ready", "ContainersReady"):
            condition(pod, kind, holds=True)
