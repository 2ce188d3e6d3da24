"""Celery application: `celery -A worker.app worker --pool threads`.

Celery carries wake-up messages and periodic maintenance; the work itself is taken from Postgres. The dispatcher starts
before Celery connects to its broker and does not depend on it.
"""

import gc

# Imported modules live as long as the worker: garbage collection during imports takes a fifth of the start-up time.
gc.disable()

import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from celery import Celery
from celery.signals import (
    after_setup_logger,
    after_setup_task_logger,
    celeryd_init,
    worker_init,
    worker_shutdown,
    worker_shutting_down,
)
from kombu import Connection

from backend.config import settings_or_exit
from backend.domain.formats.foreign_text import make_logs_visible
from backend.rotating_secrets import current
from backend.services.events.broker import CurrentPassword
from backend.services.events.worker_wakeup import tls
from backend.telemetry.logs import begin_logs, use_json
from worker.bootstrap.process import PROCESS

gc.freeze()
gc.enable()

TASKS = ("wake", "reap", "sweep")
# Without a broker a worker still works: it polls.
_NO_BROKER = "memory://"


class RotatingCelery(Celery):
    """Celery whose connections are made with the password of now."""

    def __init__(self, *args: Any, address: Callable[[], str], **options: Any) -> None:
        super().__init__(*args, **options)
        self._address = address

    def connection_for_read(self, url: str | None = None, **options: Any) -> Connection:
        """Connection of consumers."""
        return self._following(super().connection_for_read(url, **options))

    def connection_for_write(self, url: str | None = None, **options: Any) -> Connection:
        """Connection of producers."""
        return self._following(super().connection_for_write(url, **options))

    def _following(self, connection: Connection) -> Connection:
        if urlsplit(self._address()).password:
            connection.credential_provider = CurrentPassword(self._address)
        return connection


def make_app(address: Callable[[], str]) -> Celery:
    """The application for the broker of that address; empty = none."""
    broker = address()
    tasks = [f"worker.tasks.{name}" for name in TASKS]
    celery = RotatingCelery(
        "deskarena", address=address, broker=broker or _NO_BROKER, broker_use_ssl=tls(broker), include=tasks
    )
    celery.conf.update(
        task_acks_late=False,
        task_ignore_result=True,
        result_backend=None,
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_hijack_root_logger=True,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_connection_timeout=2.0,
        broker_transport_options={"socket_connect_timeout": 2.0, "socket_keepalive": True},
        timezone="UTC",
        beat_schedule={
            "reap": {"task": "worker.tasks.reap", "schedule": 5.0, "options": {"expires": 10.0}},
            "sweep": {"task": "worker.tasks.sweep", "schedule": 3600.0, "options": {"expires": 3600.0}},
        },
    )
    return celery


app = make_app(current(settings_or_exit(), "redis_url"))


make_logs_visible()
begin_logs(settings_or_exit().log_format)
# Every guest call is an HTTP request: too many for the log.
logging.getLogger("httpx").setLevel(logging.WARNING)


@celeryd_init.connect
def _be_quiet(instance: Any = None, **_: Any) -> None:
    """Leaves out Celery's banner."""
    if instance is not None and settings_or_exit().log_format == "json":
        instance.quiet = True


@after_setup_logger.connect
@after_setup_task_logger.connect
def _set_format(logger: logging.Logger, **_: Any) -> None:
    if settings_or_exit().log_format == "json":
        use_json(logger)


@worker_init.connect
def _begin(**_: Any) -> None:
    PROCESS.start()


@worker_shutting_down.connect
def _drain(**_: Any) -> None:
    PROCESS.begin_drain()


@worker_shutdown.connect
def _end(**_: Any) -> None:
    PROCESS.stop()
