"""Fixtures and rules that all tests share."""

import gc
import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from backend.db.session import make_engine
from backend.domain.errors import ClusterLost
from tests import databases, order
from tests.sampling import left_out, marks_left_out, runs_campaigns, runs_everything, seed, slow_of_other_seeds
from worker.qemu.plan import this_host

ROOT = Path(__file__).resolve().parent.parent

# How long an example takes tells of the machine only. `make test` can be repeated, `make test-all` looks further.
settings.register_profile(
    "deskarena", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=not runs_everything()
)
settings.load_profile("deskarena")

# A person's own server must never be what the tests write to, whatever their shell is set up for.
for name in [name for name in os.environ if name in {"DATABASE_URL", "REDIS_URL"} or name.startswith("DESKARENA_")]:
    if not name.startswith("DESKARENA_TEST_"):
        del os.environ[name]

# A shell that starts the tests in the background has them ignore interrupts, and so would everything that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_configure(config: pytest.Config) -> None:
    """Records how long the test files take, if DESKARENA_TEST_SECONDS says where."""
    gc.disable()  # What the collection makes lives as long as the process.
    path = os.environ.get("DESKARENA_TEST_SECONDS")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(order.DurationRecorder(Path(path)))


def pytest_report_header() -> list[str]:
    """Reports how to repeat this run's samples, and how its virtual machines run, measured before anything else."""
    scope = (
        f"without tests marked {' or '.join(marks_left_out())}" if marks_left_out() else "everything (make test-all)"
    )
    if not runs_campaigns():
        scope += f", every second of the slow ones (SEED={seed() + 1} runs the others)"
    try:
        machines = this_host().speed
    except ClusterLost as error:
        machines = error.message
    return [f"seed: {seed()} (repeat with make test SEED={seed()}), {scope}", f"virtual machines: {machines}"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves long tests to `make test-daily` and `make test-all`, and orders the files for the processes."""
    out = left_out(items)
    is_whole = [Path(path).resolve() for path in config.args] == [ROOT / "tests"]
    if is_whole and not (config.option.keyword or config.option.markexpr):  # Who asks for a part gets all of it.
        out += slow_of_other_seeds(set(items).difference(out), order.slow_tests())
    config.hook.pytest_deselected(items=out)  # Counted at the end, so that nobody forgets them.
    not_run = set(out)
    items[:] = [item for item in items if item not in not_run]
    if hasattr(config, "workerinput"):  # One of several processes; a person's single one keeps the order of the files.
        order.arrange(items)


def pytest_collection_finish() -> None:
    """From now on garbage is collected, but not looked for among modules and collected tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)  # As in the service: a twelfth of the time of tests of pages.
    gc.enable()


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """Every test starts from the run's seed, independent of the tests before it."""
    random.seed(seed())


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of published benchmark files beside the checkout."""
    folder = ROOT.parent / "shared"
    if not (folder / "benchmarks").is_dir():
        pytest.skip(f"needs {folder.parent.name}/shared/benchmarks: the published benchmark files, beside the checkout")
    return folder


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a private PostgreSQL of this test process; nothing is in it but the migrated template."""
    from backend.cli.embedded.postgres import start_postgres

    server = start_postgres(tmp_path_factory.mktemp("postgres"), durable=False)
    try:
        databases.make_template(server.url)
        yield server.url
    finally:
        server.stop()


@pytest.fixture(scope="session")
def postgres_url(postgres_server: str) -> Iterator[str]:
    """A migrated database of this test process, for tests that roll back what they do (see `session`)."""
    with databases.copied(postgres_server) as url:
        yield url


@pytest.fixture(scope="module")
def shared_database(postgres_server: str) -> Iterator[str]:
    """One database per file, for tests that commit and empty it afterwards (see `tests.factories.records.emptied`)."""
    with databases.copied(postgres_server) as url:
        yield url


@pytest.fixture
def fresh_database(postgres_server: str) -> Iterator[str]:
    """A migrated database of this test's own: for tests that start processes or change tables."""
    with databases.copied(postgres_server) as url:
        yield url


@pytest.fixture
def empty_database(postgres_server: str) -> Iterator[str]:
    """A database of this test's own without a table: for tests of the migrations."""
    with databases.empty(postgres_server) as url:
        yield url


@pytest.fixture(scope="session")
def db_engine(postgres_url: str) -> Iterator[Engine]:
    """An engine on the database of this test process."""
    engine = make_engine(postgres_url)
    yield engine
    engine.dispose()


@pytest.fixture
def session(db_engine: Engine) -> Iterator[Session]:
    """A session whose commits and rollbacks are real to the code under test and undone after the test."""
    with db_engine.connect() as connection:
        outer = connection.begin()
        with Session(connection, join_transaction_mode="create_savepoint", expire_on_commit=False) as inner:
            yield inner
        outer.rollback()


@pytest.fixture(scope="session", autouse=True)
def _patient_clients() -> Iterator[None]:
    """A busy machine may take longer to answer than what a step may wait for the broker."""
    from backend.services.events import broker

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(broker, "TIMEOUT", 30.0)
        yield


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a private broker of this test process; tests use keys or channels of their own."""
    from backend.cli.embedded.broker import start_broker

    server = start_broker(tmp_path_factory.mktemp("broker"))
    try:
        yield server.url
    finally:
        server.stop()
