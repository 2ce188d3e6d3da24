"""Celery application: `celery -A worker.app worker --pool threads`.

Celery carries wake-up messages and periodic maintenance; the work itself is taken from Postgres. The dispatcher starts
before Celery connects to its broker and does not depend on it.
"""

import gc

# Imported modules live as long as the worker: garbage collection during imports takes a fifth of the start-up time.
gc.disable()

import logging
from typing import Any

from celery import Celery
from celery.signals import worker_init, worker_shutdown, worker_shutting_down

from backend.config import settings_or_exit
from backend.domain.formats.foreign_text import make_logs_visible
from backend.services.events.worker_wakeup import tls
from worker.bootstrap.process import PROCESS

gc.freeze()
gc.enable()

TASKS = ("wake", "reap", "sweep")
# Without a broker a worker still works: it polls.
_NO_BROKER = "memory://"


def make_app(broker: str) -> Celery:
    """The application for one broker; empty = none."""
    tasks = [f"worker.tasks.{name}" for name in TASKS]
    celery = Celery("deskarena", broker=broker or _NO_BROKER, broker_use_ssl=tls(broker), include=tasks)
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


app = make_app(settings_or_exit().redis_url.get_secret_value())


make_logs_visible()
# Every guest call is an HTTP request: too many for the log.
logging.getLogger("httpx").setLevel(logging.WARNING)


@worker_init.connect
def _begin(**_: Any) -> None:
    PROCESS.start()


@worker_shutting_down.connect
def _drain(**_: Any) -> None:
    PROCESS.begin_drain()


@worker_shutdown.connect
def _end(**_: Any) -> None:
    PROCESS.stop()
