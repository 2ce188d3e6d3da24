"""The objects of an overlay, and questions about them."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from tools.kustomize import build, pod_spec
from tools.manifests import overlays

Json = dict[str, Any]
OVERLAYS = {folder.name: folder for folder in overlays()}


@cache
def objects(overlay: str) -> tuple[Json, ...]:
    """All of an overlay."""
    return tuple(build(OVERLAYS[overlay]))


def kind(overlay: str, *names: str) -> list[Json]:
    """Those of some kinds."""
    return [found for found in objects(overlay) if found["kind"] in names]


def workloads(overlay: str) -> list[tuple[Json, Json]]:
    """Objects that make pods, with the pod's spec."""
    return [(found, spec) for found in objects(overlay) if (spec := pod_spec(found)) is not None]


def containers(spec: Json) -> list[Json]:
    """All containers of a pod."""
    return [*spec.get("initContainers", []), *spec["containers"]]


def labels(workload: Json) -> Mapping[str, str]:
    """Of its pods."""
    found: Mapping[str, str] = workload["spec"]["template"]["metadata"]["labels"]
    return found


def fits(selector: Json, given: Mapping[str, str]) -> bool:
    """Whether a label selector takes a pod."""
    plain = selector.get("matchLabels", {})
    return all(given.get(name) == value for name, value in plain.items()) and all(
        given.get(rule["key"]) in rule["values"] for rule in selector.get("matchExpressions", [])
    )


def references(spec: Json) -> Iterator[tuple[str, str, str, bool]]:
    """Every (kind, name, key, optional) of ConfigMaps and Secrets that a pod reads; key may be empty: all of it."""
    for container in containers(spec):
        for one in container.get("envFrom", []):
            for what, how in (("ConfigMap", "configMapRef"), ("Secret", "secretRef")):
                if how in one:
                    yield what, one[how]["name"], "", one[how].get("optional", False)
        for variable in container.get("env", []):
            source = variable.get("valueFrom", {})
            for what, how in (("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")):
                if how in source:
                    yield what, source[how]["name"], source[how]["key"], source[how].get("optional", False)
