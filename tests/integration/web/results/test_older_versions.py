"""After an import changes a benchmark, no page says that there is nothing while an older version has results."""

import html
import re

from fastapi.testclient import TestClient

from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task

PAGE = {"Accept": "text/html"}


def reimport(made: World) -> None:
    """Version 2: the same task names, other instructions."""
    keys = (("files", "a"), ("files", "b"), ("editor", "c"))
    tasks = [make_task(domain, name) for domain, name in keys]
    made.benchmark(make_benchmark(*(task.model_copy(update={"instruction": "Do it otherwise."}) for task in tasks)))


def test_pages_name_the_version_with_results(fresh: TestClient, installation: World) -> None:
    run = installation.submit("noop", tasks=("files/a",))
    installation.score(installation.must_claim(installation.worker("w2")))
    reimport(installation)

    def text(address: str) -> str:
        answer = fresh.get(address, headers=PAGE)
        assert answer.status_code == 200, address
        return html.unescape(answer.text)

    board = text("/leaderboards/starter")
    assert 'id="newer"' in board
    assert f"/runs/{run.id}" in board
    assert 'data-empty="other-version"' in text("/leaderboards/starter?version=2")
    assert fresh.get("/api/v1/leaderboards/starter?version=2").json()["with_runs"]["version"] == 1
    page = text("/benchmarks/starter")
    assert 'data-other-version="1"' in page
    assert "data-other-version" not in text("/benchmarks/starter?version=1")
    task = text(re.findall(r'href="(/tasks/[^"]+)">files/a<', page)[0])
    assert 'data-empty="other-versions"' in task
    older = task.split('data-empty="other-versions"')[1].split('href="')[1].partition('"')[0]
    assert 'data-empty="other-versions"' not in text(older)
    assert "/episodes/" in text(older)
    installation.roll_up()
    for address in ("/", "/runs", "/configurations", "/leaderboards/starter/labels"):
        assert 'data-empty="no-runs"' not in text(address), address
    # Links to other pages of the board name no version, not the service's.
    assert "version=0." not in text("/leaderboards/starter/labels")
