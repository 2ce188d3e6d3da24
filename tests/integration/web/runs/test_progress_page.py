"""How far runs and episodes got, and when: the process pages, their charts and tables."""

from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient

from tests import databases
from tests.factories.measured import graphs
from tests.factories.records import World, world
from tests.integration.web.conftest import client_of

PAGE = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def both(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, list[UUID]]]:
    """Two agents' runs of twelve graphs, the better one first."""
    with databases.copied(postgres_server) as url, world(url) as made:
        runs = graphs(made)
        yield client_of(made, tmp_path_factory.mktemp("data")), runs


class TestRun:
    def test_the_curve_ends_at_the_pooled_share(self, both: tuple[TestClient, list[UUID]]) -> None:
        client, (run, _) = both
        (line,) = client.get(f"/runs/{run}/process/curve.json").json()["data"]
        board = client.get("/api/v1/leaderboards/graphs").json()["rows"]
        pooled = next(row for row in board if row["runs"] == [str(run)])["measures"]["parts"]["mean"]
        assert line["y"] == sorted(line["y"])
        assert line["y"][-1] == pytest.approx(pooled)
        rows = client.get(f"/runs/{run}/process/curve.csv").text.splitlines()
        assert rows[0] == "run,label,step,parts_reached,parts,share"
        assert len(rows) == len(line["x"])

    def test_shows_two_runs_side_by_side(self, both: tuple[TestClient, list[UUID]]) -> None:
        client, (run, other) = both
        text = client.get(f"/runs/{run}/process?with={other}&with=", headers=PAGE).text
        assert "cartographer" in text
        assert "rambler" in text
        assert f"/runs/{run}/process/curve.json?with={other}" in text
        figure = client.get(f"/runs/{run}/process/bins.json?with={other}&theme=dark").json()
        assert [sum(series["y"]) for series in figure["data"]] == [pytest.approx(1.0)] * 2
        assert client.get(f"/runs/{run}/process?with={uuid4()}", headers=PAGE).status_code == 404

    def test_every_part_of_every_episode(self, both: tuple[TestClient, list[UUID]]) -> None:
        client, (run, _) = both
        rows = client.get(f"/runs/{run}/process/parts.csv").text.splitlines()
        assert rows[0].startswith("task,repeat,episode,part,kind,app,value,step,turn_came")
        assert len(rows) == 1 + 12 * 5

    def test_the_runs_page_has_its_measures(self, both: tuple[TestClient, list[UUID]]) -> None:
        client, (run, _) = both
        text = client.get(f"/runs/{run}", headers=PAGE).text
        assert f'href="/runs/{run}/process"' in text
        assert "coverage rate" in text

    def test_run_without_checkpoints_says_so(self, installation: World, fresh: TestClient) -> None:
        run = installation.submit()
        assert "no-progress" in fresh.get(f"/runs/{run.id}/process", headers=PAGE).text


class TestEpisode:
    def test_shows_the_step_and_reason_of_each_checkpoint(self, both: tuple[TestClient, list[UUID]]) -> None:
        client, (run, _) = both
        rows = client.get(f"/runs/{run}/process/parts.csv").text.splitlines()[1:]
        first = rows[0].split(",")
        text = client.get(f"/episodes/{first[2]}", headers=PAGE).text
        assert "subtasks reached" in text
        assert "the file says so" in text
        assert f"n0 reached after step {first[7]}" in text
        assert f'href="/episodes/{first[2]}?step={first[7]}"' in text
