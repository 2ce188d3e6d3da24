"""Bodies of requests: JSON or YAML to an object; unknown fields and wrong types as the real decoder takes them."""

import json
import re
from typing import Any

import yaml

from tests.fakes.kubernetes.kinds import Json, Resource
from tests.fakes.kubernetes.status import Refusal, bad_request
from tools.kubernetes_schema import SchemaProblem, of_model, problems

_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def parsed(body: bytes, media: str) -> Any:
    """A body's content. Raises 400 for what is neither JSON nor YAML, 415 for what this fake does not read."""
    if "protobuf" in media or "cbor" in media:
        raise Refusal(415, "UnsupportedMediaType", f"the body of the request was in an unknown format - {media}")
    try:
        return yaml.safe_load(body) if "yaml" in media else json.loads(body)
    except (ValueError, yaml.YAMLError) as wrong:
        raise bad_request(f"the object provided is unrecognized (must be of type JSON): {wrong}") from wrong


def _without(obj: Any, path: str) -> None:
    """Takes away the field at a path."""
    steps = [int(match[2]) if match[2] else match[1] for match in _STEP.finditer(path)]
    for step in steps[:-1]:
        obj = obj[step]
    obj.pop(steps[-1], None)


def _mistyped(resource: Resource, wrong: SchemaProblem) -> Refusal:
    message = f"json: cannot unmarshal {wrong.json_type} into Go struct field {resource.kind}.{wrong.path}"
    return bad_request(
        f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: {message}'
    )


def checked(resource: Resource, obj: Any, level: str, warnings: list[str]) -> Json:
    """An object as the server takes it: `Strict` refuses unknown fields, `Warn` and `Ignore` drop them.

    Raises:
        Refusal: 400 for wrong types, and for unknown fields with `Strict`.
    """
    if not isinstance(obj, dict):
        raise bad_request("the body of the request is no object")
    version, kind = obj.get("apiVersion", resource.api_version), obj.get("kind", resource.kind)
    if (version, kind) != (resource.api_version, resource.kind):
        message = (
            f"the API version in the data ({version}) does not match the expected API version ({resource.api_version})"
        )
        raise bad_request(message if version != resource.api_version else f"no kind {kind!r} is served here")
    return _settled(resource, obj, problems({**obj, "apiVersion": version, "kind": kind}), level, warnings)


def checked_patch(resource: Resource, obj: Json, patch: bytes, level: str, warnings: list[str]) -> Json:
    """The same for a patched object: the refusal is 422 and has the patch."""
    try:
        return checked(resource, obj, level, warnings)
    except Refusal as refusal:
        _, sign, rest = refusal.message.partition("strict decoding error: ")
        if not sign:
            raise
        shown = json.dumps(patch.decode(errors="replace"))
        message = f"Invalid value: {shown}: {sign}{rest}"
        details = {"causes": [{"reason": "FieldValueInvalid", "message": message, "field": "patch"}]}
        raise Refusal(422, "Invalid", f' "" is invalid: patch: {message}', details) from refusal


def checked_part(resource: Resource, obj: Json, model: str, level: str, warnings: list[str]) -> Json:
    """The same for an object of a subresource, which has its own model."""
    return _settled(resource, obj, of_model(obj, model), level, warnings)


def _settled(resource: Resource, obj: Json, wrong: list[SchemaProblem], level: str, warnings: list[str]) -> Json:
    mistyped = [item for item in wrong if item.kind == "type"]
    if mistyped:
        raise _mistyped(resource, mistyped[0])
    unknown = [f'unknown field "{item.path}"' for item in wrong if item.kind == "unknown"]
    if unknown and level == "Strict":
        message = f"strict decoding error: {', '.join(unknown)}"
        raise bad_request(
            f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: {message}'
        )
    for item in wrong:
        if item.kind == "unknown":
            _without(obj, item.path)
    if level == "Warn":
        warnings += unknown
    return obj
