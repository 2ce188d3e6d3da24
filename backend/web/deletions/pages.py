"""`/deletions`, `/retention`: what was deleted and is being removed; how long data are kept."""

from collections.abc import Callable
from typing import Annotated, Any
from uuid import UUID

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from backend.domain.errors import Invalid, NotFound
from backend.services.deletions import deletions as service
from backend.services.deletions import retention
from backend.web.dependencies import ProjectDep, SessionDep
from backend.web.page_common import (
    Cursor,
    OrderDep,
    changed_fields,
    is_later_page,
    known_order,
    next_page,
    page_router,
    redirect,
)
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
def deletions(request: Request, session: SessionDep, order: OrderDep, before: Cursor = None) -> HTMLResponse:
    """Deleted objects, newest first or in another order."""
    order = known_order(order, service.COLUMNS)
    page = service.list_deletions(session, before.hex if before else None, PAGE, order)
    values = {"rows": page.items, "by": service.COLUMNS, "next": next_page(order, before=page.next)}
    return render(request, "deletions.html", {**values, "begun": is_later_page(order, before)})


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


@router.get("/retention")
def show_retention(request: Request, session: SessionDep, project: ProjectDep) -> HTMLResponse:
    """How long the project's data are kept, and what the rules would remove now."""
    values = {"rules": retention.get_retention(session, project), "preview": retention.preview(session, project)}
    return render(request, "retention.html", {**values, "project": project.name})


@router.post("/retention")
def change_retention(  # noqa: PLR0913 - the form's fields
    session: SessionDep,
    project: ProjectDep,
    *,
    run_days: Annotated[str, Form()] = "",
    draft_days: Annotated[str, Form()] = "",
    screen_days: Annotated[str, Form()] = "",
    disk_quota_mib: Annotated[str, Form()] = "",
    shown: Annotated[str, Form()] = "",
) -> RedirectResponse:
    """Changes rules; an empty field removes one, and unchanged ones stay."""
    fields = {
        "run_days": run_days,
        "draft_days": draft_days,
        "screen_days": screen_days,
        "disk_quota_mib": disk_quota_mib,
    }
    before = dict(zip(fields, [*shown.split(","), "", "", "", ""], strict=False))
    changes = changed_fields(fields, before)
    retention.set_retention(session, project, {name: _number(name, value) for name, value in changes.items()})
    return redirect("/retention")


def _number(name: str, value: str) -> int | None:
    if value and not (value.isascii() and value.isdigit() and len(value) < 10):  # noqa: PLR2004 - digits
        raise Invalid("expected a whole number, or nothing", code="invalid_request", path=name)
    return int(value) if value else None
