"""Wakes workers through Celery, after the commit. Optional: workers also poll."""

import logging
import ssl
from functools import lru_cache
from typing import Any

from celery import Celery
from kombu.exceptions import OperationalError
from sqlalchemy.orm import Session

from backend.config import get_settings
from backend.db.session import after_commit
from backend.rotating_secrets import current
from backend.services.events import broker

logger = logging.getLogger(__name__)
WAKE = "worker.tasks.wake"
_KEY = "queue:wake"


def tls(url: str) -> dict[str, Any] | bool:
    """Certificate options for Celery: by default it accepts any certificate for `rediss://`, and sends the password.

    Args:
        url: of the broker. Its query (`ssl_ca_certs`, `ssl_cert_reqs`) takes precedence.

    Returns:
        Celery's `broker_use_ssl`.
    """
    return {"ssl_cert_reqs": ssl.CERT_REQUIRED} if url.startswith("rediss://") else False


@lru_cache(maxsize=4)
def client_app(url: str) -> Celery:
    """Sends tasks through that broker."""
    app = Celery("deskarena-client", broker=url, broker_use_ssl=tls(url), set_as_current=False)
    app.conf.update(
        task_ignore_result=True,
        broker_connection_timeout=broker.TIMEOUT,
        broker_connection_retry=False,
        broker_transport_options={
            "socket_timeout": broker.TIMEOUT,
            "socket_connect_timeout": broker.TIMEOUT,
            "max_retries": 0,
        },
    )
    return app


def wake_workers(session: Session) -> None:
    """Sends one wake-up after this transaction's commit, however often it is called."""
    after_commit(session, _KEY, send_wake)


def send_wake() -> None:
    """Sends the wake-up now. A failure is only logged: workers poll Postgres in any case."""
    url = current(get_settings(), "redis_url")()
    if not url:
        return
    try:
        client_app(url).send_task(WAKE, ignore_result=True, retry=False, expires=30)
    except (OperationalError, OSError) as error:
        logger.warning("workers could not be woken (%s); they find the work by themselves", error)
