"""`worker.tasks.sweep`: removes artifacts that nothing refers to."""

from celery import shared_task

from backend.services.scheduling import maintenance
from worker.bootstrap import process


@shared_task(name="worker.tasks.sweep", ignore_result=True)
def sweep() -> int:
    """Removes what has been unused for longer than the grace age; returns how many."""
    return maintenance.sweep(process.database().factory, process.store())
