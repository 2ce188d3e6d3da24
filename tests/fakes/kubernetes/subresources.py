"""Subresources of a pod: its log, its eviction, its binding to a node."""

import time
from collections.abc import Iterator

from tests.fakes.kubernetes import decoding, lifecycle, status
from tests.fakes.kubernetes.kinds import BUDGETS, PODS, Json
from tests.fakes.kubernetes.requests import Request
from tests.fakes.kubernetes.selectors import fits
from tests.fakes.kubernetes.state import State
from tests.fakes.kubernetes.store import Key

SUCCESS: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def _container(pod: Json, asked: str) -> str:
    names = [container["name"] for container in pod["spec"]["containers"]]
    names += [item["name"] for item in pod["spec"].get("initContainers") or []]
    if asked and asked not in names:
        raise status.bad_request(f"container {asked} is not valid for pod {pod['metadata']['name']}")
    if not asked and len(names) > 1:
        message = (
            f"a container name must be specified for pod {pod['metadata']['name']}, choose one of: [{' '.join(names)}]"
        )
        raise status.bad_request(message)
    return asked or names[0]


def _waiting(pod: Json, container: str) -> str:
    """Why a container has nothing to say yet; empty when it has run."""
    for status_row in (pod.get("status") or {}).get("containerStatuses") or []:
        if (
            status_row["name"] == container
            and "waiting" in (status_row.get("state") or {})
            and not status_row.get("lastState")
        ):
            return str(status_row["state"]["waiting"].get("reason", "ContainerCreating"))
    return ""


def cut(text: str, query: dict[str, str]) -> bytes:
    """The requested part of a log."""
    lines = text.splitlines(keepends=True)
    if "tailLines" in query:
        lines = lines[-int(query["tailLines"]) :] if int(query["tailLines"]) else []
    data = "".join(lines).encode()
    return data[: int(query["limitBytes"])] if "limitBytes" in query else data


def log(state: State, request: Request) -> bytes | Iterator[bytes]:
    """A container's output; a stream where it is to be followed. Raises 400 while it has not run."""
    key = (request.namespace, request.name)
    pod = state.verbs.get(PODS, key).data
    container = _container(pod, request.query.get("container", ""))
    name, query = request.name, dict(request.query)
    if not pod["spec"].get("nodeName"):
        return b""
    if reason := _waiting(pod, container):
        message = f'container "{container}" in pod "{name}" is waiting to start: {reason}'
        raise status.bad_request(message)
    text = state.logs(pod, container, request.flag("previous"))
    if request.flag("previous") and not text:
        raise status.bad_request(f'previous terminated container "{container}" in pod "{name}" not found')
    if request.flag("follow"):
        return _follow(state, pod, container, cut(text, query), len(text))
    return cut(text, query)


def _follow(state: State, pod: Json, container: str, first: bytes, sent: int) -> Iterator[bytes]:
    yield first
    key, uid = (pod["metadata"]["namespace"], pod["metadata"]["name"]), pod["metadata"]["uid"]
    while not state.ended():
        obj = state.store.get(PODS, key)
        text = state.logs(pod, container, False)
        yield text[sent:].encode()
        sent = len(text)
        if obj is None or obj["metadata"]["uid"] != uid or obj["status"].get("phase") in {"Succeeded", "Failed"}:
            return
        time.sleep(0.05)


def evict(state: State, request: Request) -> Json:
    """Deletes a pod as far as its disruption budgets allow it. Raises 429 where they do not."""
    body = decoding.parsed(request.body, request.headers.get("content-type", "application/json"))
    wanted = decoding.checked_part(PODS, body, "V1Eviction", "Strict", request.warnings)
    tried: Json = {"dryRun": ["All"]} if request.dry else {}
    evict_pod(state, (request.namespace, request.name), {**(wanted.get("deleteOptions") or {}), **tried})
    return SUCCESS


def evict_pod(state: State, key: Key, options: Json | None = None) -> None:
    """The same without a request. Raises 404, 429."""
    with state.store.lock:
        pod = state.verbs.get(PODS, key).data
        ends = pod["metadata"].get("deletionTimestamp")
        if not ends and (pod.get("status") or {}).get("phase") not in {"Succeeded", "Failed", "Pending"}:
            _spend(state, pod)
        if not (options or {}).get("dryRun"):
            state.verbs.change(PODS, key, _evicted)
        lifecycle.delete(state.store, PODS, key, options)


def _evicted(pod: Json) -> None:
    condition = {
        "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }  # fmt: skip
    others = [old for old in pod["status"].get("conditions") or [] if old["type"] != condition["type"]]
    pod["status"]["conditions"] = [*others, condition]


def _spend(state: State, pod: Json) -> None:
    labels, namespace = pod["metadata"].get("labels") or {}, pod["metadata"]["namespace"]
    for budget in state.store.all(BUDGETS, namespace):
        if fits(budget["spec"].get("selector"), labels):
            healthy, wanted = _healthy(state, namespace, budget), _wanted(state, namespace, budget)
            if healthy - 1 < wanted:
                name = budget["metadata"]["name"]
                message = f"The disruption budget {name} needs {wanted} healthy pods and has {healthy} currently"
                details = {"causes": [{"reason": "DisruptionBudget", "message": message}]}
                why = "Cannot evict pod as it would violate the pod's disruption budget."
                raise status.Refusal(429, "TooManyRequests", why, details)


def _covered(state: State, namespace: str, budget: Json) -> list[Json]:
    selector = budget["spec"].get("selector")
    return [pod for pod in state.store.all(PODS, namespace) if fits(selector, pod["metadata"].get("labels") or {})]


def _healthy(state: State, namespace: str, budget: Json) -> int:
    def well(pod: Json) -> bool:
        conditions = (pod.get("status") or {}).get("conditions") or []
        ready = any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)
        return ready and not pod["metadata"].get("deletionTimestamp")

    return sum(well(pod) for pod in _covered(state, namespace, budget))


def _wanted(state: State, namespace: str, budget: Json) -> int:
    """How many have to stay: a number, or a part of all in per cent, rounded up."""
    spec, number = budget["spec"], len(_covered(state, namespace, budget))

    def count(value: int | str) -> int:
        return -(-number * int(str(value)[:-1]) // 100) if str(value).endswith("%") else int(value)

    return count(spec["minAvailable"]) if "minAvailable" in spec else number - count(spec.get("maxUnavailable", 1))


def bind(state: State, request: Request) -> Json:
    """Gives a pod its node. Raises 409 when it has one."""
    node = decoding.parsed(request.body, "application/json")["target"]["name"]
    assign(state, (request.namespace, request.name), node)
    return SUCCESS


def assign(state: State, key: tuple[str, str], node: str, uid: str = "") -> bool:
    """The same for a scheduler; whether the pod was still there."""

    def change(pod: Json) -> None:
        if pod["spec"].get("nodeName"):
            message = f'pod {key[1]} is already assigned to node "{pod["spec"]["nodeName"]}"'
            raise status.conflict(PODS, key[1], message)
        pod["spec"]["nodeName"] = node
        scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": _now()}
        kept = [condition for condition in pod["status"].get("conditions") or [] if condition["type"] != "PodScheduled"]
        pod["status"]["conditions"] = [*kept, scheduled]

    return state.verbs.change(PODS, key, change, uid) is not None


def _now() -> str:
    from tests.fakes.kubernetes.store import now

    return now()
