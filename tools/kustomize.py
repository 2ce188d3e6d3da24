"""Replaces `kubectl kustomize`, for the few features that deploy/k8s uses, if kubectl is not installed.

Known: `resources`, `components`, `patches` (JSON patch with a `target` by kind and name), `images`. Anything else is
refused. Tests hold it to kubectl's own answer where that is installed. `build(folder)` is the whole interface.
"""

import copy
import re
from pathlib import Path
from typing import Any

import yaml

Json = dict[str, Any]
KNOWN = {"apiVersion", "kind", "resources", "components", "patches", "images"}
CONTAINERS = ("initContainers", "containers")


class BuildError(Exception):
    """A kustomization cannot be built; the message says where and why.

    Attributes:
        code: stable name of the case.
    """

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


def build(folder: Path) -> list[Json]:
    """The objects of a kustomization.

    Args:
        folder: that holds kustomization.yaml.

    Raises:
        BuildError: it refers to a missing file or object, or uses an unsupported feature.
    """
    kustomization = _read(folder / "kustomization.yaml")[0]
    if unknown := set(kustomization) - KNOWN:
        raise BuildError(f"{folder}: {', '.join(sorted(unknown))} is not known here", code="unknown_field")
    objects: list[Json] = []
    for name in kustomization.get("resources", []):
        objects += _resource(folder / name)
    for name in kustomization.get("components", []):
        objects = _component((folder / name).resolve(), objects)
    return _apply_changes(folder, kustomization, objects)


def _component(folder: Path, objects: list[Json]) -> list[Json]:
    """The objects with those of a component, which may change all of them."""
    kustomization = _read(folder / "kustomization.yaml")[0]
    if kustomization.get("kind") != "Component" or set(kustomization) - KNOWN:
        raise BuildError(f"{folder} is not a component, or uses an unsupported feature", code="invalid_component")
    added = [obj for name in kustomization.get("resources", []) for obj in _resource(folder / name)]
    return _apply_changes(folder, kustomization, objects + added)


def _apply_changes(folder: Path, kustomization: Json, objects: list[Json]) -> list[Json]:
    for patch in kustomization.get("patches", []):
        target = patch["target"]
        targets = [obj for obj in objects if _fits(obj, target)]
        if not targets:
            raise BuildError(f"{folder}: no {target} to patch", code="target_missing")
        for obj in targets:
            for change in yaml.safe_load(patch["patch"]):
                apply(obj, change)
    for image in kustomization.get("images", []):
        _retag(objects, image)
    names = [identity(obj) for obj in objects]
    if twice := {name for name in names if names.count(name) > 1}:
        raise BuildError(f"{folder}: more than one {twice}", code="object_repeated")
    return objects


def _resource(path: Path) -> list[Json]:
    return build(path.resolve()) if path.is_dir() else _read(path)


def _read(path: Path) -> list[Json]:
    try:
        read = [obj for obj in yaml.safe_load_all(path.read_text()) if obj]
    except OSError as error:
        raise BuildError(f"{path}: {error.strerror}", code="file_not_readable") from None
    if not all(isinstance(obj, dict) for obj in read):
        raise BuildError(f"{path} has something that is not an object", code="invalid_object")
    return read


def identity(obj: Json) -> tuple[str, str, str]:
    """Kind, namespace and name."""
    return obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _fits(obj: Json, target: Json) -> bool:
    kind, _, name = identity(obj)
    return kind == target["kind"] and re.fullmatch(target.get("name", ".*"), name) is not None


def apply(document: Any, change: Json) -> None:
    """One step of a JSON patch (RFC 6902): `add`, `replace` or `remove`."""
    *path, last = [part.replace("~1", "/").replace("~0", "~") for part in change["path"].split("/")[1:]]
    parent = document
    try:
        for part in path:
            parent = parent[int(part)] if isinstance(parent, list) else parent[part]
        key = len(parent) if last == "-" else int(last) if isinstance(parent, list) else last
        if change["op"] != "add":
            _ = parent[key]
    except (KeyError, IndexError, ValueError, TypeError):
        raise BuildError(
            f"nothing exists at {change['path']} of {document['metadata']['name']}", code="path_missing"
        ) from None
    if change["op"] == "remove":
        del parent[key]
    elif change["op"] == "add" and isinstance(parent, list):
        parent.insert(int(key), copy.deepcopy(change["value"]))
    elif change["op"] in {"add", "replace"}:
        parent[key] = copy.deepcopy(change["value"])
    else:
        raise BuildError(f"{change['op']} is not a supported step", code="unsupported_step")


def pod_spec(obj: Json) -> Json | None:
    """The pod's spec in a workload; None for what makes no pods."""
    spec: Json | None = obj.get("spec", {}).get("template", {}).get("spec")
    return spec


def _retag(objects: list[Json], image: Json) -> None:
    for spec in filter(None, map(pod_spec, objects)):
        for container in (container for kind in CONTAINERS for container in spec.get(kind, [])):
            name, _, tag = container["image"].partition(":")
            if name == image["name"]:
                tag = image.get("newTag", tag)
                container["image"] = image.get("newName", name) + (f":{tag}" if tag else "")
