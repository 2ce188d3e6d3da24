"""Notifications: what happened, for those who are to be told."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, exists, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import (
    AgentConfiguration,
    Benchmark,
    Delivery,
    Episode,
    Membership,
    Node,
    Notification,
    Run,
    Subscription,
    TaskSet,
    UserAccount,
    Worker,
)
from backend.db.models.enums import RANKED_PURPOSES, NotificationType
from backend.domain.model.episode import EpisodeState, RunState


def add(
    session: Session, type_: NotificationType, project_id: UUID, subject_id: UUID, data: Mapping[str, Any] | None = None
) -> Notification:
    """Adds a notification."""
    row = Notification(project_id=project_id, type=type_.value, subject_id=subject_id, data=dict(data or {}))
    session.add(row)
    session.flush()  # Deliveries refer to it.
    return row


def add_if_subscribed(
    session: Session, types: Sequence[NotificationType], subject_id: UUID, data: Mapping[str, Any], project_id: UUID
) -> None:
    """Adds a notification of each type that an enabled subscription of the project asks for, unless one waits."""
    for type_ in types:
        if subscribed(session, type_, project_id) and not _waits(session, type_, subject_id):
            add(session, type_, project_id, subject_id, data)


def add_for_all(session: Session, type_: NotificationType, subject_id: UUID, data: Mapping[str, Any]) -> None:
    """Adds a notification for every project with an enabled subscription to the type."""
    enabled = (Subscription.disabled_at.is_(None), Subscription.events.contains([type_.value]))
    projects = session.scalars(select(Subscription.project_id).where(*enabled).distinct()).all()
    values = {"type": type_.value, "subject_id": subject_id, "data": dict(data)}
    rows = [{**values, "id": uuid7(), "project_id": project_id} for project_id in projects]
    if rows:
        session.execute(insert(Notification), rows)


def subscribed(session: Session, type_: NotificationType, project_id: UUID) -> bool:
    """Whether an enabled subscription of the project is about the type."""
    about = (Subscription.project_id == project_id, Subscription.events.contains([type_.value]))
    return session.scalars(select(exists().where(Subscription.disabled_at.is_(None), *about))).one()


def _waits(session: Session, type_: NotificationType, subject_id: UUID) -> bool:
    """Whether one waits. It is locked, so that no other transaction prepares it before this one commits."""
    same = (Notification.type == type_.value, Notification.subject_id == subject_id)
    query = select(Notification.id).where(Notification.prepared_at.is_(None), *same).limit(1)
    return session.scalar(query.with_for_update(skip_locked=True)) is not None


def claim(session: Session, after: UUID | None) -> Notification | None:
    """The next notification without deliveries, locked; `after`: only later ones."""
    query = select(Notification).where(Notification.prepared_at.is_(None)).order_by(Notification.id).limit(1)
    if after is not None:
        query = query.where(Notification.id > after)
    return session.scalar(query.with_for_update(skip_locked=True))


def subscriptions(session: Session, project_id: UUID, type_: str) -> Sequence[Subscription]:
    """A project's enabled subscriptions to a type, locked against their removal, the oldest first."""
    query = select(Subscription).where(Subscription.project_id == project_id, Subscription.disabled_at.is_(None))
    query = query.where(Subscription.events.contains([type_])).order_by(Subscription.id)
    return session.scalars(query.with_for_update(read=True, key_share=True)).all()


def has_delivery(session: Session, subscription_id: UUID, occasion: str) -> bool:
    """Whether a subscription has a delivery about it."""
    same = (Delivery.subscription_id == subscription_id, Delivery.occasion == occasion)
    return session.scalars(select(exists().where(*same))).one()


def run_with_names(session: Session, run_id: UUID) -> Any:
    """`Run`, `AgentConfiguration`, `benchmark` and `version`; None if the run is deleted."""
    query = (
        select(Run, AgentConfiguration, Benchmark.name.label("benchmark"), TaskSet.version)
        .join(TaskSet, TaskSet.id == Run.task_set_id)
        .join(Benchmark, Benchmark.id == TaskSet.benchmark_id)
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .where(Run.id == run_id, Run.deleted_at.is_(None))
    )
    return session.execute(query).one_or_none()


def lost_episodes(session: Session, run_id: UUID) -> tuple[int, int]:
    """Lost episodes of a run, and all that can run."""
    lost = func.count().filter(Episode.state == EpisodeState.LOST.value)
    query = select(lost, func.count()).where(Episode.run_id == run_id, Episode.state != EpisodeState.NOT_RUNNABLE.value)
    row = session.execute(query).one()
    return int(row[0]), int(row[1])


def preceding_run(session: Session, run: Run) -> UUID | None:
    """The newest completed run before this one with the same configuration, task set and conditions."""
    same = (
        Run.project_id == run.project_id,
        Run.agent_configuration_id == run.agent_configuration_id,
        Run.task_set_id == run.task_set_id,
        Run.condition_hash == run.condition_hash,
        Run.purpose == run.purpose,
    )
    query = select(Run.id).where(*same, Run.id < run.id, Run.state == RunState.COMPLETED, Run.deleted_at.is_(None))
    return session.scalar(query.order_by(Run.id.desc()).limit(1))


def baseline(session: Session, run_id: UUID, project_id: UUID) -> Run | None:
    """A run of the project that others can be compared with."""
    query = select(Run).where(Run.id == run_id, Run.project_id == project_id, Run.deleted_at.is_(None))
    return session.scalar(query.where(Run.purpose.in_(RANKED_PURPOSES)))


def baseline_of(session: Session, run: Run, baseline_id: UUID) -> UUID | None:
    """The named baseline if it is still there and of the run's benchmark."""
    benchmark = select(TaskSet.benchmark_id).where(TaskSet.id == run.task_set_id).scalar_subquery()
    query = select(Run.id).join(TaskSet, TaskSet.id == Run.task_set_id).where(TaskSet.benchmark_id == benchmark)
    return session.scalar(
        query.where(Run.id == baseline_id, Run.project_id == run.project_id, Run.deleted_at.is_(None))
    )


def may_read(session: Session, address: str, project_id: UUID) -> bool:
    """Whether mail may go to an address: not to an account that is disabled or has no role in the project."""
    account = session.scalar(select(UserAccount).where(func.lower(UserAccount.name) == address.lower()))
    if account is None or account.admin:
        return account is None or account.disabled_at is None
    member = exists().where(Membership.user_id == account.id, Membership.project_id == project_id)
    return account.disabled_at is None and session.scalars(select(member)).one()


def worker_with_node(session: Session, worker_id: UUID) -> Any:
    """`Worker` and the name of its `node`."""
    query = select(Worker, Node.name.label("node")).join(Node, Node.id == Worker.node_id).where(Worker.id == worker_id)
    return session.execute(query).one_or_none()


def prune(session: Session, before: datetime, limit: int) -> int:
    """Removes deliveries that ended before a moment, and notifications without any. Returns the number of rows."""
    old = select(Delivery.id).where(Delivery.finished_at < before).limit(limit)
    removed = session.execute(delete(Delivery).where(Delivery.id.in_(old)).execution_options(synchronize_session=False))
    unused = ~exists().where(Delivery.notification_id == Notification.id)
    left = select(Notification.id).where(Notification.prepared_at < before, unused).limit(limit)
    query = delete(Notification).where(Notification.id.in_(left)).execution_options(synchronize_session=False)
    return int(getattr(removed, "rowcount", 0)) + int(getattr(session.execute(query), "rowcount", 0))
