"""`/studies/offline` and `/demonstrations`: results of offline studies, single answers, sets of demonstrations."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import File, Form, Query, Request, UploadFile
from fastapi.responses import HTMLResponse, Response
from sqlalchemy.orm import Session

from backend.domain.errors import DeskarenaError, Invalid
from backend.domain.model.demonstration import SetForm
from backend.domain.model.sort_order import SortOrder
from backend.domain.studies.offline_results import OfflineProtocol, protocol_of
from backend.domain.studies.study import cell_label
from backend.services.studies import demonstrations
from backend.services.studies import offline_studies as service
from backend.services.studies.demonstrations import NewSet
from backend.services.studies.offline_studies import OfflineStudyDetail
from backend.services.studies.views.offline_answer import AnswerView, answer_page, answer_view
from backend.services.studies.views.offline_study import metric_rows, offline_results, set_view
from backend.web.benchmarks.uploads import unpack_archive
from backend.web.dependencies import ActorDep, EdgeDep, ProjectDep, SessionDep
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
from backend.web.studies.offline_api import set_root
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()
ON_PAGE = 50
FORMS = {
    SetForm.DESKARENA: "Deskarena (demonstrations.jsonl)",
    SetForm.MIND2WEB: "Mind2Web",
    SetForm.ANDROID_CONTROL: "AndroidControl",
    SetForm.OMNIACT: "OmniACT",
}
PROTOCOLS = {
    OfflineProtocol.MIND2WEB: "Mind2Web",
    OfflineProtocol.ANDROID_CONTROL: "AndroidControl",
    OfflineProtocol.OMNIACT: "OmniACT",
}
Show = Literal["wrong", "right", "unanswered", "all"]
Start = Annotated[int, Query(ge=0, le=1_000_000)]
Cell = Annotated[int, Query(ge=0, le=1000)]


def _protocol(study: OfflineStudyDetail, protocol: OfflineProtocol | None) -> OfflineProtocol:
    return protocol or protocol_of(SetForm(study.demonstration_set.form))


@router.get("/studies/offline/{study_id}")
def offline_study(  # noqa: PLR0913, PLR0917 - the page's whole state is in its address
    request: Request,
    session: SessionDep,
    study_id: Id,
    protocol: OfflineProtocol | None = None,
    label: Text = "",
    cell: Cell = 0,
    show: Show = "wrong",
    start: Start = 0,
) -> HTMLResponse:
    """One study: metrics by cell, by action and by label, and the answers of a cell."""
    study = service.get_offline_study(session, study_id)
    answers = service.study_answers(session, study_id)
    results = offline_results(study, answers, protocol=protocol, label=label)
    own = [answer_view(study, detail, results.protocol) for detail in answers]
    listed = [row for row in own if row.cell == cell and _is_shown(row, show)]
    values = {
        "results": results,
        "study": results.study,
        "protocols": PROTOCOLS,
        "cell_label": cell_label,
        "cell": cell,
        "show": show,
        "start": start,
        "answers": listed[start : start + ON_PAGE],
        "number": len(listed),
        "more": start + ON_PAGE if start + ON_PAGE < len(listed) else None,
    }
    return render(request, "offline_study.html", values)


def _is_shown(answer: AnswerView, show: Show) -> bool:
    if show == "all":
        return True
    if show == "unanswered":
        return answer.state != "answered"
    return answer.state == "answered" and answer.success is (show == "right")


@router.post("/studies/offline/{study_id}/cancel")
def cancel(session: SessionDep, study_id: Id) -> Response:
    """Stops asking."""
    service.cancel_offline_study(session, study_id)
    return redirect(f"/studies/offline/{study_id}")


@router.post("/studies/offline/{study_id}/retry")
def retry(session: SessionDep, study_id: Id) -> Response:
    """Asks again at steps without an answer."""
    service.retry_offline_study(session, study_id)
    return redirect(f"/studies/offline/{study_id}")


@router.get("/studies/offline/{study_id}/answers/{answer_id}")
def answer(
    request: Request, session: SessionDep, study_id: Id, answer_id: Id, protocol: OfflineProtocol | None = None
) -> HTMLResponse:
    """One answer beside what is right, on the recorded picture."""
    study = service.get_offline_study(session, study_id)
    page = answer_page(study, service.get_answer(session, study_id, answer_id), _protocol(study, protocol))
    return render(request, "offline_answer.html", {"page": page, "cell_label": cell_label})


@router.get("/studies/offline/{study_id}/{table}.csv")
def table(  # noqa: PLR0913, PLR0917 - as the page
    session: SessionDep,
    write: TableDep,
    study_id: Id,
    table: Literal["metrics", "answers"],
    protocol: OfflineProtocol | None = None,
    label: Text = "",
) -> Response:
    """The numbers of the page."""
    study, answers = service.get_offline_study(session, study_id), service.study_answers(session, study_id)
    if table == "metrics":
        rows = list(metric_rows(offline_results(study, answers, protocol=protocol, label=label)))
    else:
        used = _protocol(study, protocol)
        rows = [answer_view(study, detail, used).model_dump(exclude={"id", "url"}) for detail in answers]
    head = list(rows[0]) if rows else []
    return write(f"offline-study-{study_id}-{table}", head, [list(row.values()) for row in rows])


@router.get("/demonstrations")
def sets(
    request: Request, session: SessionDep, project: ProjectDep, order: OrderDep, before: Cursor = None
) -> HTMLResponse:
    """Sets of demonstrations, newest first or in another order, and the form to add one."""
    return _sets(request, session, project, before=before, order=order)


def _sets(  # noqa: PLR0913 - the list's state, and what is wrong
    request: Request,
    session: Session,
    project: ProjectDep,
    *,
    before: UUID | None = None,
    order: SortOrder | None = None,
    error: DeskarenaError | None = None,
) -> HTMLResponse:
    order = known_order(order, demonstrations.COLUMNS)
    page = demonstrations.list_sets(session, project, cursor=before.hex if before else None, order=order)
    values = {
        "sets": list(map(set_view, page.items)),
        "by": demonstrations.COLUMNS,
        "next": next_page(order, before=page.next),
        "begun": is_later_page(order, before),
        "forms": FORMS,
        "error": error,
    }
    return render(request, "demonstrations.html", values, status=error.status if error else 200)


@router.post("/demonstrations")
def add(  # noqa: PLR0913 - what the edge gives, and the form
    request: Request,
    session: SessionDep,
    project: ProjectDep,
    actor: ActorDep,
    edge: EdgeDep,
    *,
    file: Annotated[UploadFile, File()],
    name: Annotated[str, Form(max_length=100)] = "",
    form: Annotated[SetForm, Form()] = SetForm.DESKARENA,
    source: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """Adds a set from a zip; shows the page again with the error."""
    new = NewSet(name.strip(), source.strip(), project, actor)
    try:
        with unpack_archive(file.file) as folder:
            demonstrations.import_set(session, new, form, set_root(folder), edge.store)
    except DeskarenaError as error:
        session.rollback()
        return _sets(request, session, project, error=error)
    return redirect("/demonstrations")


@router.post("/demonstrations/from-run")
def add_from_run(  # noqa: PLR0913 - what the edge gives, and the form
    request: Request,
    session: SessionDep,
    project: ProjectDep,
    actor: ActorDep,
    edge: EdgeDep,
    *,
    run: Annotated[str, Form(max_length=100)] = "",
    name: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    """Adds a set of a run's solved episodes; shows the page again with the error."""
    try:
        run_id = UUID(run.strip().rpartition("/")[2])
    except ValueError:
        error = Invalid("expected a run's id or address", code="invalid_request", path="run")
        return _sets(request, session, project, error=error)
    try:
        demonstrations.set_from_run(session, NewSet(name.strip(), "", project, actor), run_id, edge.store)
    except DeskarenaError as error:
        session.rollback()
        return _sets(request, session, project, error=error)
    return redirect("/demonstrations")
