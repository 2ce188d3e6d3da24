"""Payloads of notifications: the bodies of webhooks, from which e-mails are made as well.

Form: `type`, `timestamp`, `data`, as the Standard Webhooks specification advises. `data.text` says it in one sentence.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Notification, Run, Subscription
from backend.db.models.enums import NotificationType
from backend.db.repositories.notifications import outbox as repository
from backend.domain.model.episode import ENDED_RUNS, RunState
from backend.services.read_model import short
from backend.services.results.run_summaries import summary
from backend.services.results.views.comparison import regression_of
from backend.services.results.views.comparison_models import RegressionReport
from backend.services.runs.summary import RunSummary

Payloads = dict[UUID, dict[str, Any]]
LONGEST_NAME = 200


def payloads_of(
    session: Session, notification: Notification, subscriptions: Sequence[Subscription], public_url: str
) -> Payloads:
    """Payload per subscription id. Empty if the run was deleted or continues."""
    type_ = NotificationType(notification.type)
    of_anything = {NotificationType.WORKER_GONE: _worker, NotificationType.BUDGET_REACHED: _budget}
    if type_ in of_anything:
        data = of_anything[type_](notification, public_url)
        data_by_id = {subscription.id: data for subscription in subscriptions}
    else:
        data_by_id = _about_run(session, notification, subscriptions, public_url)
    head = {"type": type_.value, "timestamp": notification.created_at.isoformat()}
    return {subscription_id: {**head, "data": data} for subscription_id, data in data_by_id.items()}


def _worker(notification: Notification, public_url: str) -> dict[str, Any]:
    name, node = (short(str(notification.data.get(key, "")), LONGEST_NAME) for key in ("name", "node"))
    return {
        "text": f"Worker {name} on {node} is gone.",
        "url": f"{public_url}/workers",
        "worker": {"id": str(notification.subject_id), **notification.data},
    }


def _budget(notification: Notification, public_url: str) -> dict[str, Any]:
    budget = {name: value for name, value in notification.data.items() if name != "text"}
    text = str(notification.data["text"])
    path = f"runs/{budget['run_id']}" if "run_id" in budget else "budgets"
    return {"text": f"{text[:1].upper()}{text[1:]}.", "url": f"{public_url}/{path}", "budget": budget}


def _about_run(
    session: Session, notification: Notification, subscriptions: Sequence[Subscription], public_url: str
) -> dict[UUID, dict[str, Any]]:
    row = repository.run_with_names(session, notification.subject_id)
    type_ = NotificationType(notification.type)
    if row is None or (type_ is not NotificationType.RUN_LOSSES and RunState(row.Run.state) not in ENDED_RUNS):
        return {}
    run_data = _run(row, public_url)
    if type_ is NotificationType.RUN_ENDED:
        data = _run_ended(run_data, summary(session, row.Run))
        return {subscription.id: data for subscription in subscriptions}
    if type_ is NotificationType.RUN_LOSSES:
        return _losses(session, row.Run, run_data, subscriptions)
    reports = {subscription.id: _regression(session, row.Run, run_data, subscription) for subscription in subscriptions}
    return {subscription_id: report for subscription_id, report in reports.items() if report}


def _run(row: Any, public_url: str) -> dict[str, Any]:
    """The part of every payload that describes its run."""
    run: Run = row.Run
    title = row.AgentConfiguration.title
    return {
        "id": str(run.id),
        "name": run.name,
        "title": short(run.name or f"{title} on {row.benchmark}", LONGEST_NAME),
        "status": run.state,
        "benchmark": row.benchmark,
        "version": row.version,
        "agent": row.AgentConfiguration.name,
        "configuration": title,
        "created_at": run.created_at.isoformat(),
        "ended_at": None if run.ended_at is None else run.ended_at.isoformat(),
        "url": f"{public_url}/runs/{run.id}",
    }


def _run_ended(run: dict[str, Any], result: RunSummary) -> dict[str, Any]:
    rate = ""
    if result.success_rate is not None and result.success_interval is not None:
        low, high = result.success_interval
        rate = f" Success rate {result.success_rate:.1%} ({low:.1%} to {high:.1%})."
    numbers = result.model_dump(
        mode="json",
        include={
            "episodes",
            "solved",
            "lost",
            "outcomes",
            "success_rate",
            "success_interval",
            "mean_score",
            "mean_interval",
        },
    )
    text = f"Run {run['title']} is {run['status']}: {result.counts_text}.{rate}"
    return {"text": text, "url": run["url"], "run": run, "result": numbers}


def _losses(
    session: Session, run: Run, run_data: dict[str, Any], subscriptions: Sequence[Subscription]
) -> dict[UUID, dict[str, Any]]:
    lost, episodes = repository.lost_episodes(session, run.id)
    share = lost / episodes if episodes else 0.0

    def data(bound: float) -> dict[str, Any]:
        text = f"Run {run_data['title']} has lost {lost} of {episodes} episodes ({share:.1%}, bound {bound:.1%})."
        numbers = {"lost": lost, "episodes": episodes, "share": share, "bound": bound}
        return {"text": text, "url": run_data["url"], "run": run_data, "losses": numbers}

    return {
        subscription.id: data(subscription.loss_bound)
        for subscription in subscriptions
        if share > subscription.loss_bound
    }


def _regression(
    session: Session, run: Run, run_data: dict[str, Any], subscription: Subscription
) -> dict[str, Any] | None:
    """None unless a completed run is worse than its baseline."""
    if RunState(run.state) is not RunState.COMPLETED:
        return None
    report = _report(session, run, subscription)
    if report is None or report.passed is not False:
        return None
    numbers = report.model_dump(
        mode="json", include={"baseline", "alpha", "p_value", "test", "difference", "common_tasks", "alike", "sentence"}
    )
    text = f"Run {run_data['title']}: {report.sentence}"
    return {"text": text, "url": run_data["url"], "run": run_data, "regression": numbers}


def _report(session: Session, run: Run, subscription: Subscription) -> RegressionReport | None:
    named = subscription.baseline_run_id
    baseline = repository.baseline_of(session, run, named) if named else repository.preceding_run(session, run)
    if baseline is None or baseline == run.id:
        return None
    return regression_of(session, run.id, baseline, subscription.alpha)
