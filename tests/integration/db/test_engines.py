"""The tests' engine leaves no connection behind, even if something still runs when a test ends."""

import gc
import warnings
from threading import Event, Thread, Timer

from sqlalchemy import text

from backend.db.session import SessionFactory, session_factory, unit_of_work
from backend.domain.errors import Unavailable
from tests.databases import engine_on
from tests.waiting import until


def test_thread_that_outlives_its_test_loses_the_database(fresh_database: str) -> None:
    at_work, go = Event(), Event()
    done: list[str] = []

    def work(factory: SessionFactory) -> None:
        with unit_of_work(factory) as session:
            session.execute(text("SELECT 1"))
            at_work.set()
            go.wait(30.0)
        done.append("finished")
        try:
            with unit_of_work(factory) as session:
                session.execute(text("SELECT 1"))
        except Unavailable as error:
            done.append(str(error.__cause__))

    def use() -> None:
        with engine_on(fresh_database) as engine:
            late = Thread(target=work, args=(session_factory(engine),))
            late.start()
            assert at_work.wait(60.0)
            Timer(0.3, go.set).start()
        late.join(60.0)

    with warnings.catch_warnings(record=True, action="always") as told:
        use()
        until(lambda: len(done) == 2, what="the thread has ended")
        gc.collect()
    assert done[0] == "finished"
    assert "the test has ended" in done[1]
    assert [str(each.message) for each in told if "still open" in str(each.message)] == []
