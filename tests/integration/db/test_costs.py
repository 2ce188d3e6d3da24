"""2.0013 adds up what the steps of scored attempts used."""

from sqlalchemy import text

from backend.db.migrate import downgrade, upgrade
from backend.db.session import make_engine
from backend.domain.model.trajectory import Usage
from tests.factories.costs import spend
from tests.factories.records import world


def test_scored_attempts_get_their_sums(fresh_database: str) -> None:
    usages = [Usage(input_tokens=1000, output_tokens=20, usd=0.01, calls=1), Usage(input_tokens=5, priced=False)]
    with world(fresh_database) as installation:
        installation.benchmark()
        worker = installation.worker()
        installation.submit()
        spend(installation, installation.must_claim(worker), usages)
    engine = make_engine(fresh_database)
    with engine.connect() as connection:
        before = connection.scalars(text("SELECT usage FROM attempt")).all()
    downgrade(fresh_database, "2.0012")
    upgrade(fresh_database, "2.0013")
    with engine.connect() as connection:
        assert connection.scalars(text("SELECT usage FROM attempt")).all() == before
    engine.dispose()
    assert before == [{"input_tokens": 1005, "output_tokens": 20, "calls": 1, "usd": 0.01, "priced": False}]
