"""Discovery: /version, /api, /apis, the resources of each group, and a table for people's eyes."""

from collections.abc import Iterable

from tests.fakes.kubernetes import openapi
from tests.fakes.kubernetes.kinds import RESOURCES, Json, Resource

VERSION = {
    "major": "1", "minor": "36", "gitVersion": "v1.36.0+fake", "gitCommit": "0" * 40, "gitTreeState": "clean",
    "buildDate": "2026-01-01T00:00:00Z", "goVersion": "go1.25", "compiler": "gc", "platform": "linux/amd64",
}  # fmt: skip
_ALL = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]


def _listed(resource: Resource) -> list[Json]:
    row: Json = {
        "name": resource.plural, "singularName": resource.kind.lower(), "namespaced": resource.namespaced,
        "kind": resource.kind, "verbs": _ALL, "shortNames": list(resource.short),
    }  # fmt: skip
    subs = (["status"] if resource.status else []) + list(resource.subresources)
    kinds = {"eviction": ("Eviction", "policy"), "binding": ("Binding", "")}
    rows = [row]
    for sub in subs:
        kind, group = kinds.get(sub, (resource.kind, resource.group))
        verbs = ["get", "patch", "update"] if sub == "status" else ["get"] if sub == "log" else ["create"]
        resource_row: Json = {"name": f"{resource.plural}/{sub}", "singularName": "", "namespaced": resource.namespaced}
        rows.append(
            {**resource_row, "kind": kind, "verbs": verbs, **({"group": group, "version": "v1"} if group else {})}
        )
    return rows


def resource_list(group: str, version: str) -> Json | None:
    """The resources of one group and version; None when it is not served."""
    resources = [resource for resource in RESOURCES if (resource.group, resource.version) == (group, version)]
    if not resources:
        return None
    named = f"{group}/{version}" if group else version
    rows = [row for resource in resources for row in _listed(resource)]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": named, "resources": rows}


def _groups() -> Iterable[tuple[str, str]]:
    return dict.fromkeys((resource.group, resource.version) for resource in RESOURCES if resource.group)


def group_list() -> Json:
    """All groups."""
    rows = []
    for group, version in _groups():
        named = {"groupVersion": f"{group}/{version}", "version": version}
        rows.append({"name": group, "versions": [named], "preferredVersion": named})
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": rows}


def _group(name: str) -> Json | None:
    group_row = next((row for row in group_list()["groups"] if row["name"] == name), None)
    return {"kind": "APIGroup", "apiVersion": "v1", **group_row} if group_row else None


def page(path: str) -> Json | str | None:
    """Answer for a path that is not an object's; None if there is none."""
    match [word for word in path.split("/") if word]:
        case ["healthz" | "livez" | "readyz"]:
            page_body: Json | str | None = "ok"
        case ["version"]:
            page_body = VERSION
        case ["api"]:
            page_body = {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
        case ["api", "v1"]:
            page_body = resource_list("", "v1")
        case ["apis"]:
            page_body = group_list()
        case ["apis", group]:
            page_body = _group(group)
        case ["apis", group, version]:
            page_body = resource_list(group, version)
        case ["openapi", "v3"]:
            page_body = openapi.index()
        case ["openapi", "v3", *rest]:
            page_body = openapi.group("/".join(rest))
        case _:
            page_body = None
    return page_body
