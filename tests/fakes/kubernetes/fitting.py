"""Which node a pod fits on, and why not the others: the scheduler's filters as pure functions, in its own words."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.fakes.kubernetes.kinds import Json
from tests.fakes.kubernetes.quantities import amount
from tests.fakes.kubernetes.selectors import expression

UNSCHEDULABLE = "node(s) were unschedulable"
TAINTED = "node(s) had untolerated taint(s)"
AFFINITY = "node(s) didn't match Pod's node affinity/selector"
_WITHOUT = {"node.kubernetes.io/unschedulable"}
# Only lack of resources can be cured by putting other pods out.
_HELPLESS = (UNSCHEDULABLE, TAINTED, AFFINITY)


def tolerates(tolerations: list[Json], taint: Json) -> bool:
    """Whether any toleration is for a taint."""
    return any(_meets(toleration, taint) for toleration in tolerations)


def _meets(toleration: Json, taint: Json) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if not toleration.get("key"):
        return toleration.get("operator") == "Exists"
    if toleration["key"] != taint["key"]:
        return False
    return toleration.get("operator") == "Exists" or toleration.get("value", "") == taint.get("value", "")


def _term(term: Json, node: Json) -> bool:
    labels = node["metadata"].get("labels") or {}
    fields = {"metadata.name": node["metadata"]["name"]}
    listed = [expression(item, labels) for item in term.get("matchExpressions") or []]
    listed += [expression(item, fields) for item in term.get("matchFields") or []]
    return bool(listed) and all(listed)


def selected(spec: Json, node: Json) -> bool:
    """Whether node selector and required node affinity take the node."""
    labels = node["metadata"].get("labels") or {}
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    affinity: Any = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or any(_term(term, node) for term in required.get("nodeSelectorTerms") or [])


def obstacles(spec: Json, wanted: Mapping[str, float], node: Json, used: Mapping[str, float]) -> list[str]:
    """Why a pod cannot go to a node; empty when it can. The first filter that says no is the one that is heard."""
    tolerations = spec.get("tolerations") or []
    unscheduled = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    if node["spec"].get("unschedulable") and not tolerates(tolerations, unscheduled):
        return [UNSCHEDULABLE]
    hard = [taint for taint in node["spec"].get("taints") or [] if taint["effect"] in {"NoSchedule", "NoExecute"}]
    if any(toleration["key"] not in _WITHOUT and not tolerates(tolerations, toleration) for toleration in hard):
        return [TAINTED]
    if not selected(spec, node):
        return [AFFINITY]
    return _lacking(wanted, node, used)


def _lacking(wanted: Mapping[str, float], node: Json, used: Mapping[str, float]) -> list[str]:
    there = (node.get("status") or {}).get("allocatable") or {}
    return [
        "Too many pods" if name == "pods" else f"Insufficient {name}"
        for name, value in wanted.items()
        if used.get(name, 0.0) + value > amount(str(there.get(name, "110" if name == "pods" else "0")))
    ]


def sentence(nodes: int, reasons: Counter[str], helpless: int) -> str:
    """The event's text: every reason with its number of nodes, in order, and that nobody can be put out."""
    if not nodes:
        return "no nodes available to schedule pods"
    listed = ", ".join(sorted(f"{number} {reason}" for reason, number in reasons.items()))
    victims = nodes - helpless
    outs = [f"{helpless} Preemption is not helpful for scheduling"] if helpless else []
    outs += [f"{victims} No preemption victims found for incoming pod"] if victims else []
    message = f"0/{nodes} nodes are available: {listed}."
    return f"{message} preemption: 0/{nodes} nodes are available: {', '.join(sorted(outs))}."


def is_helpless(reasons: list[str]) -> bool:
    """Whether putting other pods out would change nothing."""
    return any(reason in _HELPLESS for reason in reasons)
