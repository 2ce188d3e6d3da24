"""`/deletions`: what was deleted, by whom, and what is still being removed; and the buttons that delete."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse

from backend.domain.errors import NotFound
from backend.services.deletions import deletions as service
from backend.web.dependencies import SessionDep
from backend.web.page_common import page_router, redirect
from backend.web.templating import render

router = page_router()
PAGE = 100
KINDS: dict[str, tuple[Callable[[str], Any], Callable[..., Any]]] = {
    "run": (UUID, service.delete_run),
    "study": (UUID, service.delete_study),
    "configuration": (UUID, service.delete_configuration),
    "draft": (UUID, service.delete_draft),
    "benchmark": (str, service.delete_benchmark),
}


@router.get("/deletions")
def deletions(request: Request, session: SessionDep, cursor: str | None = None) -> HTMLResponse:
    """What was deleted."""
    page = service.list_deletions(session, cursor, PAGE)
    return render(request, "deletions.html", {"page": page})


@router.post("/deletions/{kind}/{target}")
def delete(session: SessionDep, kind: str, target: str) -> RedirectResponse:
    """Deletes, from a button of a page that has asked whether it is meant."""
    if kind not in KINDS:
        raise NotFound(f"{kind!r} cannot be deleted", code="page_not_found")
    read, act = KINDS[kind]
    try:
        key = read(target)
    except ValueError:
        raise NotFound(f"there is no {kind} {target!r}", code="page_not_found") from None
    act(session, key)
    return redirect("/deletions")
