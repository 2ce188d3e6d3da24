"""The leaderboard by core operation, as page, table and JSON."""

from fastapi.testclient import TestClient

from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task

PAGE = {"Accept": "text/html"}


def test_page_table_and_api(fresh: TestClient, installation: World) -> None:
    tasks = [
        make_task(name="crop", level="L1", extra={"operations": ["crop <b>"]}),
        make_task(name="long", level="L3", extra={"operations": ["crop <b>"]}),
    ]
    installation.benchmark(make_benchmark(*tasks), "crops")
    worker = installation.worker()
    installation.submit(benchmark="crops")
    installation.score(installation.must_claim(worker), 1.0)
    text = fresh.get("/leaderboards/crops/operations", headers=PAGE).text
    assert "crop &lt;b&gt;" in text
    assert "1 task alone, 1 longer" in text
    assert "no scored episodes" in text
    table = fresh.get("/leaderboards/crops/operations.csv")
    assert table.headers["content-disposition"] == 'attachment; filename="crops-operations.csv"'
    assert table.text.splitlines()[1].startswith("noop,")
    found = fresh.get("/api/v1/leaderboards/crops/operations").json()
    assert found["operations"] == [{"name": "crop <b>", "alone": 1, "within": 1}]
    cell = found["rows"][0]["cells"][0]
    assert (cell["alone"]["success_rate"], cell["within"]["success_rate"]) == (1.0, None)


def test_page_without_operations_says_so(fresh: TestClient, installation: World) -> None:
    installation.benchmark()
    assert "no-operations" in fresh.get("/leaderboards/starter/operations", headers=PAGE).text
    assert fresh.get("/leaderboards/starter/domain.csv").status_code == 200
