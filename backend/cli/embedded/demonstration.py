"""Short-lived child that submits the demonstration run at the very first start.

Runs as `python -m backend.cli.embedded.demonstration` while the worker starts.
"""

import sys
import time

from backend.config import get_settings
from backend.db.models.enums import Purpose
from backend.db.session import SessionFactory, make_engine, session_factory, unit_of_work
from backend.domain.errors import DeskarenaError, Unavailable
from backend.services.accounts.projects import actor_for, default_project
from backend.services.capacity.worker_capabilities import capabilities
from backend.services.runs.runs import RunRequest, list_runs, submit_run

REQUEST = RunRequest(
    benchmark="starter", agent="oracle", name="demonstration", purpose=Purpose.DEMO, idempotency_key="first start"
)
WORKER_SECONDS = 60.0
LOOK_AGAIN_SECONDS = 0.2


def main() -> None:
    """Submits the demonstration once a worker is registered. Exits with a one-line message on failure."""
    factory = session_factory(make_engine(get_settings().database_url.get_secret_value()))
    deadline = time.monotonic() + WORKER_SECONDS
    while True:
        try:
            return submit_first(factory)
        except Unavailable as error:
            if time.monotonic() > deadline:
                sys.exit(f"The demonstration run was not started: {error.text}")
        except DeskarenaError as error:
            sys.exit(f"The demonstration run was not started: {error}")
        time.sleep(LOOK_AGAIN_SECONDS)


def submit_first(factory: SessionFactory) -> None:
    """Submits the run if there has never been one.

    Raises:
        Unavailable: No worker is registered yet.
    """
    with unit_of_work(factory) as session:
        project = default_project(session)
        capabilities(session)  # It shall say at once what cannot run here.
        if not list_runs(session, project, limit=1).items:
            submit_run(session, REQUEST, project=project, actor=actor_for(session, project))


if __name__ == "__main__":
    main()
