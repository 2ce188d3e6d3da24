"""Short-lived child that prepares the database: newest schema, our own benchmarks.

Runs as `python -m backend.cli.embedded.prepare` before API and workers start. Safe to repeat: a current schema and a
known benchmark are not changed.
"""

import sys

from backend.config import settings_or_exit
from backend.db.migrate import upgrade
from backend.db.session import SessionFactory, make_engine, session_factory, unit_of_work
from backend.domain import registry
from backend.domain.errors import DeskarenaError
from backend.domain.ports.storage import ArtifactStore
from backend.domain.registry import PluginKind
from backend.services.artifacts.stores import open_store
from backend.services.benchmarks.benchmarks import import_benchmark
from backend.starter import starters


def main() -> None:
    """Migrates the database, then imports our own benchmarks. Exits with a one-line message on failure."""
    settings = settings_or_exit()
    url = settings.database_url.get_secret_value()
    try:
        upgrade(url)
    except DeskarenaError as error:
        sys.exit(f"the database cannot be used: {error.text}")
    import_starters(session_factory(make_engine(url)), open_store(settings))


def import_starters(sessions: SessionFactory, store: ArtifactStore) -> None:
    """Imports our own benchmarks. Over its disk quota a project keeps the versions that it has."""
    registry.load()
    for starter in starters():
        try:
            loaded = registry.lookup(PluginKind.BENCHMARK, starter.kind)().load(starter.folder)
            with unit_of_work(sessions) as session:
                import_benchmark(session, loaded, name=starter.name, title=starter.title, store=store)
        except DeskarenaError as error:
            if error.code == "disk_quota_exceeded":
                print(f"The benchmark {starter.name} was not updated: {error}", file=sys.stderr)
                continue
            sys.exit(f"The benchmark {starter.name} cannot be imported: {error}")


if __name__ == "__main__":
    main()
