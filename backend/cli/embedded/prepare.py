"""A short child of the embedded stack that makes the database ready: newest schema, our own benchmarks.

Runs as `python -m backend.cli.embedded.prepare` before API and workers start. Both parts may run again at any time: a
schema that is new enough and a benchmark that is known stay as they are.
"""

import sys

from backend.config import settings_or_exit
from backend.db.migrate import upgrade
from backend.db.session import make_engine, session_factory, unit_of_work
from backend.domain import registry
from backend.domain.errors import DeskarenaError
from backend.domain.registry import PluginKind
from backend.services.artifacts.stores import open_store
from backend.services.benchmarks.benchmarks import import_benchmark
from backend.starter import starters


def main() -> None:
    """Migrate, then import our own benchmarks. Exits with one line of explanation if that fails."""
    settings = settings_or_exit()
    url = settings.database_url.get_secret_value()
    upgrade(url)
    registry.load()
    sessions, store = session_factory(make_engine(url)), open_store(settings)
    for starter in starters():
        try:
            loaded = registry.lookup(PluginKind.BENCHMARK, starter.kind)().load(starter.folder)
            with unit_of_work(sessions) as session:
                import_benchmark(session, loaded, name=starter.name, title=starter.title, store=store)
        except DeskarenaError as error:
            sys.exit(f"the benchmark {starter.name} cannot be imported: {error}")


if __name__ == "__main__":
    main()
