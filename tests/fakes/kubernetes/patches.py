"""Patches: merge (RFC 7386), strategic merge as far as our objects need it, JSON patch (RFC 6902)."""

from collections.abc import Mapping
from typing import Any

from tests.fakes.kubernetes.kinds import Json, clone
from tests.fakes.kubernetes.status import Refusal, bad_request

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
STEPS = "application/json-patch+json"
APPLY = ("application/apply-patch+yaml", "application/apply-patch+cbor")
# Lists that a strategic merge joins by a key; every other list is replaced as a whole.
KEYS: Mapping[str, str] = {
    "containers": "name", "initContainers": "name", "volumes": "name", "env": "name", "volumeMounts": "mountPath",
    "ports": "containerPort", "conditions": "type", "taints": "key", "ownerReferences": "uid", "addresses": "type",
    "imagePullSecrets": "name", "hostAliases": "ip",
}  # fmt: skip


def merged(target: Any, patch: Any) -> Any:
    """RFC 7386: null takes away, objects join, everything else replaces."""
    if not isinstance(patch, dict):
        return clone(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def _joined(target: list[Json], patch: list[Json], key: str) -> list[Json]:
    result = [] if any(item.get("$patch") == "replace" for item in patch) else list(target)
    for item in patch:
        if item.get("$patch") == "replace":
            continue
        at = next((place for place, old in enumerate(result) if old.get(key) == item.get(key)), None)
        if item.get("$patch") == "delete":
            result = [old for old in result if old.get(key) != item.get(key)]
        elif at is None:
            result.append(strategic({}, item))
        else:
            result[at] = strategic(result[at], item)
    return result


def strategic(target: Any, patch: Any, name: str = "") -> Any:
    """As merged, and lists of named things are joined by their keys; finalizers are a set."""
    if isinstance(patch, list):
        if name == "finalizers":
            return [*(target or []), *[item for item in patch if item not in (target or [])]]
        key = KEYS.get(name)
        return _joined(target or [], patch, key) if key and all(isinstance(i, dict) for i in patch) else clone(patch)
    if not isinstance(patch, dict):
        return patch
    if patch.get("$patch") == "replace":
        return {key: clone(value) for key, value in patch.items() if key != "$patch"}
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            of = key.partition("/")[2]
            result[of] = [item for item in result.get(of, []) if item not in value]
        elif key.startswith("$"):
            continue
        elif value is None:
            result.pop(key, None)
        else:
            result[key] = strategic(result.get(key), value, key)
    return result


def _walk(document: Any, path: str) -> tuple[Any, str]:
    *names, last = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]
    for name in names:
        document = document[int(name)] if isinstance(document, list) else document[name]
    return document, last


def _take(document: Any, path: str) -> Any:
    place, name = _walk(document, path)
    return place[int(name)] if isinstance(place, list) else place[name]


def _remove(document: Any, path: str) -> Any:
    place, name = _walk(document, path)
    return place.pop(int(name)) if isinstance(place, list) else place.pop(name)


def _add(document: Any, path: str, value: Any) -> None:
    place, name = _walk(document, path)
    if not isinstance(place, list):
        place[name] = value
    elif name == "-":
        place.append(value)
    else:
        place.insert(int(name), value)


def _step(document: Json, step: Json) -> None:
    word, path = step.get("op"), str(step.get("path", ""))
    if word == "test":
        if _take(document, path) != step.get("value"):
            message = f"testing value {path} failed: test failed"
            raise Refusal(
                422, "Invalid", f"the server rejected our request due to an error in our request: {message}", {}
            )
    elif word == "add":
        _add(document, path, clone(step["value"]))
    elif word == "replace":
        _take(document, path)
        _remove(document, path)
        _add(document, path, clone(step["value"]))
    elif word == "remove":
        _remove(document, path)
    elif word in {"move", "copy"}:
        value = clone(_take(document, step["from"]))
        if word == "move":
            _remove(document, step["from"])
        _add(document, path, value)
    else:
        raise bad_request(f"Unexpected kind: {word}")


def stepped(target: Json, steps: list[Json]) -> Json:
    """RFC 6902: all steps or none."""
    result: Json = clone(target)
    for step in steps:
        try:
            _step(result, step)
        except (KeyError, IndexError, ValueError, TypeError) as missing:
            message = (
                f'{step.get("op")} operation does not apply: doc is missing path: "{step.get("path")}": missing value'
            )
            raise Refusal(
                422, "Invalid", f"the server rejected our request due to an error in our request: {message}"
            ) from missing
    return result


def applied(target: Json, patch: Any, media_type: str) -> Json:
    """The object after a patch of that media type."""
    if media_type == STEPS:
        if not isinstance(patch, list):
            raise bad_request("json: cannot unmarshal object into Go value of type jsonpatch.Patch")
        return stepped(target, patch)
    if not isinstance(patch, dict):
        raise bad_request("json: cannot unmarshal array into Go value of type map[string]interface {}")
    result: Json = strategic(target, patch) if media_type == STRATEGIC else merged(target, patch)
    return result
