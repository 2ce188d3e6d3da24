"""`worker.tasks.sweep`: removes unreferenced artifacts."""

from celery import shared_task

from backend.services.scheduling import maintenance
from worker.bootstrap.process import PROCESS


@shared_task(name="worker.tasks.sweep", ignore_result=True)
def sweep() -> int:
    """Removes artifacts unused for longer than the grace age; returns their number."""
    return maintenance.sweep(PROCESS.database.factory, PROCESS.store)
