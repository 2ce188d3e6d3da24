"""A short child of the embedded stack that makes the database ready: newest schema, our own benchmark.

Runs as `python -m backend.cli.embedded.prepare` before API and workers start. Both parts may run again at any time: a
schema that is new enough and a benchmark that is known stay as they are.
"""

import sys
from pathlib import Path

import backend
from backend.config import get_settings
from backend.db.migrate import upgrade
from backend.db.session import make_engine, session_factory, unit_of_work
from backend.domain import registry
from backend.domain.errors import DeskarenaError
from backend.domain.registry import Kind
from backend.services.artifacts import LocalStore
from backend.services.benchmarks import import_benchmark

STARTER = "starter"
TASKS = Path(backend.__file__).parent / "starter" / "tasks"


def main() -> None:
    """Migrate, then import the starter benchmark. Exits with one line of explanation if that fails."""
    settings = get_settings()
    url = settings.database_url.get_secret_value()
    upgrade(url)
    registry.load()
    reader = registry.lookup(Kind.BENCHMARK, STARTER)()
    try:
        loaded = reader.load(TASKS)
        with unit_of_work(session_factory(make_engine(url))) as session:
            import_benchmark(
                session, loaded, name=STARTER, title="Starter", store=LocalStore(settings.data / "artifacts")
            )
    except DeskarenaError as error:
        sys.exit(f"the starter benchmark cannot be imported: {error}")


if __name__ == "__main__":
    main()
