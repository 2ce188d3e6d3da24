"""`/docs/api-reference`: every endpoint of the REST API, from its own OpenAPI document."""

from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse

from backend.web.page_common import page_router
from backend.web.templating import render

router = page_router()


@router.get("/docs/api-reference")
def api_reference(request: Request) -> HTMLResponse:
    """Every endpoint with its description."""
    document: dict[str, Any] = request.app.openapi()
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            entry = {"method": method.upper(), "path": path, **operation}
            groups.setdefault((operation.get("tags") or ["other"])[0], []).append(entry)
    return render(request, "api_reference.html", {"groups": groups, "about": document["info"].get("description", "")})
