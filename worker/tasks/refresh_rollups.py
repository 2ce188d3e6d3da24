"""`worker.tasks.refresh_rollups`: recomputes what is out of date."""

from celery import shared_task

from backend.services import rollups
from worker import process


@shared_task(name="worker.tasks.refresh_rollups", ignore_result=True)
def refresh_rollups() -> int:
    """Recomputes the cubes of runs in which something has changed; returns how many."""
    return process.database().once(rollups.refresh_stale)
