"""`/notifications`: subscriptions of the project, and deliveries."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from backend.db.models.enums import NotificationType, SubscriptionKind
from backend.domain.errors import Conflict, Invalid, NotFound
from backend.services.notifications import deliveries, subscriptions
from backend.services.notifications.read_models import SubscriptionSettings, SubscriptionView
from backend.services.notifications.subscriptions import ALPHA, LOSS_BOUND, TYPES, Transports
from backend.web.dependencies import EdgeDep, SessionDep
from backend.web.page_common import Id, Text, page_router, redirect
from backend.web.preconditions import ChangedMeanwhile, MatchNeeded, check_match, tag_of_state
from backend.web.templating import render

router = page_router()
PAGE = 50
LATEST = 10
WORDS = {
    NotificationType.RUN_ENDED: "Run ended",
    NotificationType.RUN_REGRESSION: "Regression",
    NotificationType.RUN_LOSSES: "Losses over a bound",
    NotificationType.WORKER_GONE: "Worker gone",
    NotificationType.BUDGET_REACHED: "Budget reached",
    NotificationType.TEST: "Test",
}
Line = Annotated[str, Form(max_length=2000)]
Short = Annotated[str, Form(max_length=100)]
Events = Annotated[list[NotificationType], Form()]


@router.get("/notifications")
def notifications(request: Request, session: SessionDep, edge: EdgeDep) -> HTMLResponse:
    """Subscriptions and recent deliveries."""
    return _list_page(request, session, edge)


@router.post("/notifications")
def create(  # noqa: PLR0913 - the form's fields
    request: Request,
    session: SessionDep,
    edge: EdgeDep,
    *,
    kind: Annotated[SubscriptionKind, Form()] = SubscriptionKind.WEBHOOK,
    address: Line = "",
    events: Events = [],  # noqa: B006 - FastAPI's own form of it
    loss_bound: Short = "",
    alpha: Short = "",
    baseline: Short = "",
) -> Response:
    """Creates a subscription; the answer shows a webhook's secret, once."""
    try:
        fields = _fields(events, loss_bound, alpha, baseline)
        created = subscriptions.create(
            session, Transports.from_settings(edge.settings), kind=kind, address=address, **fields
        )
    except (Invalid, Conflict) as error:
        return _list_page(request, session, edge, problem=error.text)
    return _detail_page(request, session, created, secret=created.secret)


@router.get("/notifications/{subscription_id}")
def subscription(request: Request, session: SessionDep, subscription_id: Id, cursor: Text = "") -> HTMLResponse:
    """A subscription with its settings and deliveries."""
    return _detail_page(request, session, subscriptions.get_subscription(session, subscription_id), cursor=cursor)


@router.post("/notifications/deliveries/{delivery_id}/redeliver")
def redeliver(session: SessionDep, delivery_id: Id) -> RedirectResponse:
    """Sends an ended delivery again."""
    row = deliveries.redeliver(session, delivery_id)
    return redirect(f"/notifications/{row.subscription_id}#deliveries")


@router.post("/notifications/{subscription_id}")
def change(  # noqa: PLR0913 - the form's fields
    request: Request,
    session: SessionDep,
    subscription_id: Id,
    *,
    events: Events = [],  # noqa: B006 - FastAPI's own form of it
    loss_bound: Short = "",
    alpha: Short = "",
    baseline: Short = "",
    if_match: Annotated[str | None, Form(max_length=500)] = None,
) -> Response:
    """Changes events and bounds, unless somebody else has changed them since the form was shown."""
    try:
        check_match(if_match, lambda: _settings(subscriptions.get_subscription(session, subscription_id, lock=True)))
        subscriptions.change(session, subscription_id, _fields(events, loss_bound, alpha, baseline))
    except (Invalid, MatchNeeded, ChangedMeanwhile) as error:
        row = subscriptions.get_subscription(session, subscription_id)
        problem = "Somebody has changed the settings meanwhile: these are the present ones."
        problem = problem if isinstance(error, ChangedMeanwhile) else error.text
        return _detail_page(request, session, row, problem=problem, status=error.status)
    return redirect(f"/notifications/{subscription_id}")


@router.post("/notifications/{subscription_id}/{action}")
def act(request: Request, session: SessionDep, subscription_id: Id, action: str) -> Response:
    """Tests, disables, enables or deletes a subscription, or replaces its secret."""
    if action == "rotate-secret":
        row = subscriptions.rotate_secret(session, subscription_id)
        return _detail_page(request, session, row, secret=row.secret)
    if action == "test":
        deliveries.send_test(session, subscription_id)
    elif action in {"enable", "disable"}:
        subscriptions.change(session, subscription_id, {"enabled": action == "enable"})
    elif action == "delete":
        subscriptions.remove(session, subscription_id)
        return redirect("/notifications")
    else:
        raise NotFound(f"{action!r} is not an action of a subscription", code="page_not_found")
    return redirect(f"/notifications/{subscription_id}#deliveries")


def _fields(events: list[NotificationType], loss_bound: str, alpha: str, baseline: str) -> dict[str, Any]:
    """The form's fields. Raises Invalid."""
    try:
        baseline_run_id = UUID(baseline.strip()) if baseline.strip() else None
    except ValueError:
        raise Invalid("expected the id of a run, or nothing", code="invalid_request", path="baseline") from None
    return {
        "events": events,
        "loss_bound": _number(loss_bound, LOSS_BOUND * 100, "loss_bound") / 100,
        "alpha": _number(alpha, ALPHA, "alpha"),
        "baseline_run_id": baseline_run_id,
    }


def _number(text: str, default: float, path: str) -> float:
    try:
        return float(text) if text.strip() else default
    except ValueError:
        raise Invalid("expected a number", code="invalid_request", path=path) from None


def _list_page(request: Request, session: SessionDep, edge: EdgeDep, problem: str = "") -> HTMLResponse:
    page = {
        "subscriptions": subscriptions.list_subscriptions(session),
        "deliveries": deliveries.list_deliveries(session, None, None, LATEST).items,
        "email": bool(edge.settings.smtp_host),
        "problem": problem,
        **_words(),
    }
    return render(request, "notifications.html", page, status=422 if problem else 200)


def _detail_page(  # noqa: PLR0913 - what the page says
    request: Request,
    session: SessionDep,
    row: SubscriptionView,
    *,
    cursor: str = "",
    secret: str | None = None,
    problem: str = "",
    status: int = 200,
) -> HTMLResponse:
    listed = deliveries.list_deliveries(session, row.id, cursor or None, PAGE)
    values = {
        "row": row,
        "page": listed,
        "secret": secret,
        "problem": problem,
        "if_match": tag_of_state(_settings(row)),
    }
    page = render(request, "subscription.html", values | _words(), status=status)
    if secret:
        page.headers["Cache-Control"] = "no-store"
    return page


def _settings(row: SubscriptionView) -> SubscriptionSettings:
    return SubscriptionSettings.model_validate(row)


def _words() -> dict[str, Any]:
    return {"types": TYPES, "words": WORDS, "alpha": ALPHA, "loss_bound": LOSS_BOUND}
