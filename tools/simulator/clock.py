"""A clock that the simulator sets, in the place of the database's: an hour of a cluster passes in seconds.

Everything that the scheduler measures time by is the database's clock (`now()`, `clock_timestamp()`, defaults of
columns). In a simulated database these names refer to functions of the schema `simulator`, which precedes PostgreSQL's
own in the search path. They return the simulator's time, which is set at the start of every transaction. The product is
unchanged. Timestamps by Python's clock (ids) stay in order.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text

START = datetime(2040, 1, 1, tzinfo=UTC)
"""Later than any start of the database server, which the reaper checks."""
_FUNCTION = """
    CREATE FUNCTION simulator.{name}() RETURNS timestamptz LANGUAGE sql STABLE AS
    $$ SELECT coalesce(nullif(current_setting('simulator.now', true), '')::timestamptz, pg_catalog.{name}()) $$
"""
_DEFAULTS = """
    SELECT table_name, column_name FROM information_schema.columns
    WHERE table_schema = 'public' AND column_default = 'now()'
"""


class SimulationClock:
    """Seconds since the simulation began; only the simulator moves it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.jumped = 0.0
        """By how much the database's clock is wrong since somebody set it."""

    @property
    def at(self) -> datetime:
        """The moment as the database has it."""
        return START + timedelta(seconds=self.seconds + self.jumped)


def replace_clock(url: str) -> None:
    """Makes the database at `url` ask the simulator for the time, in every later connection."""
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            defaults = connection.execute(text(_DEFAULTS)).all()
            connection.execute(text("CREATE SCHEMA simulator"))
            for name in ("now", "clock_timestamp"):
                connection.execute(text(_FUNCTION.format(name=name)))
            database = make_url(url).database
            connection.execute(text(f'ALTER DATABASE "{database}" SET search_path = simulator, pg_catalog, public'))
            connection.execute(text("SET LOCAL search_path = simulator, pg_catalog, public"))
            for table, column in defaults:
                connection.execute(text(f'ALTER TABLE "{table}" ALTER COLUMN "{column}" SET DEFAULT now()'))
    finally:
        engine.dispose()


@contextmanager
def simulated_time(engine: Engine, clock: SimulationClock) -> Iterator[None]:
    """Sets the simulator's time at the start of every transaction of this engine."""

    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("SELECT set_config('simulator.now', %s, true)", (clock.at.isoformat(),))

    event.listen(engine, "begin", begin)
    try:
        yield
    finally:
        event.remove(engine, "begin", begin)
