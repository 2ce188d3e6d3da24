"""`worker.tasks.collect_artifacts`: removes bytes that nothing refers to."""

from celery import shared_task

from backend.services import artifacts
from worker import process


@shared_task(name="worker.tasks.collect_artifacts", ignore_result=True)
def collect_artifacts() -> int:
    """Removes what has been unused for longer than the grace age; returns how many."""
    store = process.store()
    return process.database().once(lambda session: artifacts.collect_garbage(session, store))
