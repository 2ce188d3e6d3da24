"""`worker.tasks.reap`: ends what died."""

from celery import shared_task

from backend.services import claims
from worker import process


@shared_task(name="worker.tasks.reap", ignore_result=True)
def reap() -> int:
    """Takes silent leases away; returns how many attempts were lost by it."""
    return len(process.database().once(claims.reap))
