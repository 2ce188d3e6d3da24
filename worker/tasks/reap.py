"""`worker.tasks.reap`: ends lost attempts and updates roll-ups."""

from celery import shared_task

from backend.services.results import rollup_jobs
from backend.services.scheduling import maintenance
from worker.bootstrap.process import PROCESS


@shared_task(name="worker.tasks.reap", ignore_result=True)
def tend() -> int:
    """Returns the number of attempts lost with their workers. Every worker does the same when it polls."""
    lost = maintenance.tend(PROCESS.database.factory)
    rollup_jobs.renew_due(PROCESS.database.factory)
    return len(lost)
