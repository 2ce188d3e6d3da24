"""Lists for people: what `kubectl get` asks for and prints."""

from tests.fakes.kubernetes.kinds import PODS, Json, Resource
from tests.fakes.kubernetes.requests import Request


def wanted(request: Request) -> bool:
    """Whether the client would rather have a table."""
    return "as=Table" in request.headers.get("accept", "") and "g=meta.k8s.io" in request.headers["accept"]


def _cells(resource: Resource, obj: Json) -> list[object]:
    about = obj["metadata"]
    shown = str((obj.get("status") or {}).get("phase", "")) if resource is PODS else ""
    return [about["name"], shown, about.get("creationTimestamp", "")]


def table(resource: Resource, items: list[Json], revision: int) -> Json:
    """Name, status and age of each object."""
    columns = [
        {"name": name, "type": "string", "format": "name" if name == "Name" else "", "description": "", "priority": 0}
        for name in ("Name", "Status", "Created At")
    ]
    rows = [
        {
            "cells": _cells(resource, item),
            "object": {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": item["metadata"]},
        }
        for item in items
    ]
    about = {"resourceVersion": str(revision)}
    head = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": about}
    return {**head, "columnDefinitions": columns, "rows": rows}
