"""`/tasks/drafts` and `/tasks/drafts/{id}`: list of drafts, and page of one draft."""

from collections.abc import Callable
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import Depends, File, Form, Query, Request, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy.orm import Session
from starlette.datastructures import FormData

from backend.db.models import Actor
from backend.db.models.enums import RecordingKind
from backend.domain.drafts.content import read_content
from backend.domain.drafts.states import DraftState, RejectionReason
from backend.domain.errors import DeskarenaError
from backend.services.accounts.projects import LONGEST_NAME, person_or_local
from backend.services.authoring import (
    draft_forms,
    draft_publication,
    draft_recordings,
    draft_reviews,
    draft_trials,
    drafts,
)
from backend.services.authoring.views import draft_page as authoring_views
from backend.web.authoring import forms
from backend.web.dependencies import PERSON_COOKIE, AppContext, EdgeDep, PersonDep, ProjectDep, SessionDep
from backend.web.page_common import (
    Cursor,
    Id,
    OrderDep,
    Text,
    is_later_page,
    known_order,
    next_page,
    page_router,
    redirect,
)
from backend.web.templating import render

router = page_router()
LIST = "/tasks/drafts"
YEAR = 365 * 24 * 3600
FormDep = Depends(forms.read_form)
Field = Annotated[str, Form(max_length=2000)]
Do = Literal["try", "submit", "approve", "reject", "record-setup", "record-oracle"]


@router.get(LIST)
def draft_list(  # noqa: PLR0913 - what the edge gives, and the filters
    request: Request,
    session: SessionDep,
    project: ProjectDep,
    person: PersonDep,
    *,
    order: OrderDep,
    state: Annotated[Literal["", "draft", "in_review", "approved", "rejected"], Query()] = "",
    q: Text = "",
    before: Cursor = None,
) -> HTMLResponse:
    """The list, newest first or in another order."""
    return _list(request, session, project, person, state=state, q=q, before=before, order=order)


def _list(request: Request, session: Session, project: Any, person: Actor, **more: Any) -> HTMLResponse:
    error: DeskarenaError | None = more.get("error")
    before = more.get("before")
    order = known_order(more.get("order"), drafts.COLUMNS)
    page = authoring_views.draft_list(
        session,
        project,
        state=more.get("state", ""),
        words=more.get("q", ""),
        cursor=before.hex if before else None,
        order=order,
    )
    values = {
        "list": page,
        "state": more.get("state", ""),
        "q": more.get("q", ""),
        "by": drafts.COLUMNS,
        "next": next_page(order, before=page.next),
        "begun": is_later_page(order, before),
        "person": person.name,
        "states": authoring_views.STATE_WORDS,
        "error": error,
        "given": more.get("given") or {},
    }
    return render(request, "drafts.html", values, status=error.status if error else 200)


@router.post(f"{LIST}/you")
def be(
    request: Request, session: SessionDep, project: ProjectDep, name: Annotated[str, Form(max_length=LONGEST_NAME)] = ""
) -> RedirectResponse:
    """Stores the viewer's name in this browser."""
    person = person_or_local(session, project, name, path="name")
    answer = redirect(forms.own_page(request.headers.get("referer", ""), LIST))
    answer.set_cookie(PERSON_COOKIE, quote(person.name), max_age=YEAR, httponly=True, samesite="strict")
    return answer


@router.post(LIST)
def create(  # noqa: PLR0913, PLR0917 - what the edge gives, and the form
    request: Request,
    session: SessionDep,
    project: ProjectDep,
    person: PersonDep,
    domain: Field = "",
    name: Field = "",
    instruction: Annotated[str, Form(max_length=20_000)] = "",
    benchmark: Field = drafts.OWN,
) -> Response:
    """Creates a draft, or shows the form again with errors."""
    fields = {"domain": domain, "name": name, "instruction": instruction, "benchmark": benchmark}
    try:
        content = read_content({key: fields[key].strip() for key in ("domain", "name", "instruction")})
        draft = drafts.create(
            session, content, project=project, author=person, benchmark=benchmark.strip() or drafts.OWN
        )
    except DeskarenaError as error:
        session.rollback()
        return _list(request, session, project, person, error=error, given=fields)
    return redirect(f"{LIST}/{draft.id}")


@router.post(f"{LIST}/publish")
def publish(
    session: SessionDep, project: ProjectDep, edge: EdgeDep, benchmark: Annotated[str, Form(max_length=100)]
) -> RedirectResponse:
    """The next version of a benchmark, with the approved drafts."""
    draft_publication.publish(session, project, store=edge.store, benchmark=benchmark)
    return redirect(f"/benchmarks/{benchmark}")


@router.get(f"{LIST}/{{draft_id}}")
def draft(request: Request, session: SessionDep, edge: EdgeDep, person: PersonDep, draft_id: Id) -> HTMLResponse:
    """One draft: next step, forms of its parts, information for reviewers."""
    return _page(request, session, edge, person, draft_id)


def _page(  # noqa: PLR0913, PLR0917 - what a page needs
    request: Request,
    session: Session,
    edge: AppContext,
    person: Actor,
    draft_id: Any,
    error: DeskarenaError | None = None,
    form: FormData | None = None,
    part: str = "",
) -> HTMLResponse:
    """The page; after an error with what was typed into the form `part`."""
    row = drafts.get_draft(session, draft_id)
    page = authoring_views.draft_page(session, row, person, edge.store)
    values = {
        "page": page,
        "draft": page.draft,
        "content": page.content,
        "person": person.name,
        "states": authoring_views.STATE_WORDS,
        "State": DraftState,
        "verbs": draft_forms.VERBS,
        "error": error,
        "part": part,
        "given": form or FormData(),
        "recordings": RecordingKind,
    }
    return render(request, "draft.html", values, status=error.status if error else 200)


def _apply_and_show(  # noqa: PLR0913, PLR0917 - what an answer needs
    request: Request,
    session: Session,
    edge: AppContext,
    person: Actor,
    draft_id: Any,
    work: Callable[[], object],
    place: str = "",
    form: FormData | None = None,
) -> Response:
    """Applies a change and shows the page again; on errors with the submitted values."""
    try:
        work()
    except DeskarenaError as error:
        session.rollback()
        return _page(request, session, edge, person, draft_id, error, form, place.removeprefix("#"))
    return redirect(f"{LIST}/{draft_id}{place}")


@router.post(f"{LIST}/{{draft_id}}/edit/{{part}}")
def edit(  # noqa: PLR0913, PLR0917 - what the edge gives, and the form
    request: Request,
    session: SessionDep,
    edge: EdgeDep,
    person: PersonDep,
    draft_id: Id,
    part: Literal["basics", "setup", "checks", "oracle", "json"],
    *,
    form: FormData = FormDep,
) -> Response:
    """A new version, from one of the page's forms."""

    def work() -> None:
        content = drafts.content_of(session, drafts.get_draft(session, draft_id))
        changes = forms.PARTS[part](content, forms.typed_of(form))
        drafts.change(session, draft_id, changes, by=person, note=forms.NOTES[part])

    return _apply_and_show(request, session, edge, person, draft_id, work, f"#{part}", form)


@router.post(f"{LIST}/{{draft_id}}/files")
def add_file(  # noqa: PLR0913, PLR0917 - what the edge gives, and the form
    request: Request,
    session: SessionDep,
    edge: EdgeDep,
    person: PersonDep,
    draft_id: Id,
    file: Annotated[UploadFile, File()],
    name: Annotated[str, Form(max_length=151)] = "",
) -> Response:
    """A file that steps and getters name."""
    data = file.file.read(drafts.MOST_FILE + 1)
    named = name.strip() or (file.filename or "")

    def work() -> None:
        drafts.add_file(session, draft_id, named, data, by=person, store=edge.store)

    return _apply_and_show(request, session, edge, person, draft_id, work, "#files")


@router.post(f"{LIST}/{{draft_id}}/{{do}}")
def act(  # noqa: PLR0913, PLR0917 - what the edge gives, and the forms' fields
    request: Request,
    session: SessionDep,
    project: ProjectDep,
    edge: EdgeDep,
    person: PersonDep,
    draft_id: Id,
    do: Do,
    comment: Field = "",
    noop_justification: Field = "",
    version: Annotated[int, Form(ge=0, le=2**31)] = 0,
    reason: Annotated[RejectionReason, Form()] = RejectionReason.AMBIGUOUS_INSTRUCTION,
) -> Response:
    """The page's buttons. A recording leads to the page on which to act."""
    if do.startswith("record-"):
        kind = RecordingKind(do.removeprefix("record-"))
        episodes: list[Any] = []
        answer = _apply_and_show(
            request, session, edge, person, draft_id,
            lambda: episodes.append(
                draft_recordings.begin(
                    session, draft_id, kind, project=project, actor=person, store=edge.store
                )
            ),
        )  # fmt: skip
        return redirect(f"/episodes/{episodes[0].id}") if episodes else answer
    works: dict[str, Callable[[], object]] = {
        "try": lambda: draft_trials.start_try(session, draft_id, project=project, actor=person, store=edge.store),
        "submit": lambda: draft_reviews.submit(session, draft_id, noop_justification=noop_justification),
        "approve": lambda: draft_reviews.approve(session, draft_id, version, by=person, comment=comment),
        "reject": lambda: draft_reviews.reject(session, draft_id, version, by=person, reason=reason, comment=comment),
    }
    return _apply_and_show(request, session, edge, person, draft_id, works[do])


@router.post(f"{LIST}/{{draft_id}}/recordings/{{recording_id}}/apply")
def use(  # noqa: PLR0913, PLR0917 - what the edge gives
    request: Request, session: SessionDep, edge: EdgeDep, person: PersonDep, draft_id: Id, recording_id: Id
) -> Response:
    """A recording becomes set-up or solution."""
    return _apply_and_show(
        request, session, edge, person, draft_id,
        lambda: draft_recordings.use(session, draft_id, recording_id, by=person, store=edge.store), "#recordings",
    )  # fmt: skip
