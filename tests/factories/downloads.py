"""Tasks that need files of the web."""

from backend.domain.model.task import SetupStep, Task
from tests.factories.tasks import make_task


def downloading(name: str, *urls: str, domain: str = "files") -> Task:
    """A task whose set-up downloads these."""
    files = [{"url": url, "path": f"/home/user/{number}"} for number, url in enumerate(urls)]
    step = SetupStep(type="download", parameters={"files": files})
    return make_task(domain, name).model_copy(update={"setup": (step,) if urls else ()})
