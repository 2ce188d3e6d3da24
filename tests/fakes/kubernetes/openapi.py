"""As much of /openapi/v3 as kubectl reads: every PATCH takes `fieldValidation`, so it leaves checking to the server."""

from tests.fakes.kubernetes.kinds import RESOURCES, Json, Resource

_PARAMETERS = [
    {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
    for name in ("dryRun", "fieldManager", "fieldValidation", "force")
]


def _path(resource: Resource) -> str:
    root = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
    inside = "/namespaces/{namespace}" if resource.namespaced else ""
    return f"{root}{inside}/{resource.plural}/{{name}}"


def _operation(resource: Resource) -> Json:
    kind = {"group": resource.group, "kind": resource.kind, "version": resource.version}
    answer = {"200": {"description": "OK"}}
    return {"parameters": _PARAMETERS, "responses": answer, "x-kubernetes-group-version-kind": kind}


def index() -> Json:
    """Which groups there are."""
    names = dict.fromkeys(
        f"apis/{resource.api_version}" if resource.group else f"api/{resource.version}" for resource in RESOURCES
    )
    return {"paths": {name: {"serverRelativeURL": f"/openapi/v3/{name}?hash=0"} for name in names}}


def group(name: str) -> Json | None:
    """The document of one group, by its name in the index."""
    version = name.partition("/")[2]
    paths = {
        _path(resource): {"patch": _operation(resource)} for resource in RESOURCES if resource.api_version == version
    }
    if not paths:
        return None
    about = {"title": "Kubernetes", "version": "v1.36.0+fake"}
    return {"openapi": "3.0.0", "info": about, "paths": paths, "components": {"schemas": {}}}
