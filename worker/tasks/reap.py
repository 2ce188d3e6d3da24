"""`worker.tasks.tend`: ends what died and brings roll-ups up to date."""

from celery import shared_task

from backend.services import rollup_turns, upkeep
from worker import process


@shared_task(name="worker.tasks.tend", ignore_result=True)
def tend() -> int:
    """Returns how many attempts were lost with their workers. Every worker does the same as it polls."""
    lost = upkeep.tend(process.database().factory)
    rollup_turns.renew_due(process.database().factory)
    return len(lost)
