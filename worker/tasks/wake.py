"""`worker.tasks.wake`: wakes the dispatcher."""

from celery import shared_task

from worker.bootstrap.process import PROCESS


@shared_task(name="worker.tasks.wake", ignore_result=True)
def wake() -> None:
    """Wakes this process's dispatcher. It polls anyway, so a lost message costs two seconds."""
    PROCESS.wake()
