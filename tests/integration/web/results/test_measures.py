"""Measures on leaderboards: columns with intervals, sorting, cuts by capability and complexity, REST, CSV."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from tests import databases
from tests.factories.measured import graphs
from tests.factories.records import world
from tests.integration.web.conftest import client_of

PAGE = {"Accept": "text/html"}
BOARD = "/leaderboards/graphs"


@pytest.fixture(scope="module")
def board(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Two agents on twelve graphs: `cartographer` gets further, `rambler` keeps to its applications more often."""
    with databases.copied(postgres_server) as url, world(url) as made:
        graphs(made)
        yield client_of(made, tmp_path_factory.mktemp("data"))


class TestLeaderboard:
    def test_columns_definitions_and_undefined_ones(self, board: TestClient) -> None:
        text = board.get(BOARD, headers=PAGE).text
        assert "undefined for 4 tasks" in text
        assert "depths of the completed subtasks / depths of all subtasks" in text
        table = text.split('id="ranked"')[1]
        assert table.index(">CR<") < table.index("Parts, pooled") < table.index(">LC<")

    def test_the_primary_measure_ranks(self, board: TestClient) -> None:
        view = board.get("/api/v1/leaderboards/graphs").json()
        assert view["primary"] == "CR"
        assert [row["primary"] == row["measures"]["CR"] for row in view["rows"]] == [True, True]
        assert view["rows"][0]["primary"]["mean"] > view["rows"][1]["primary"]["mean"]
        assert "ranked by CR" in board.get(BOARD, headers=PAGE).text

    @pytest.mark.parametrize(
        ("sort", "first"), [("CR", "cartographer"), ("LC", "rambler"), ("nonsense", "cartographer")]
    )
    def test_sorts_by_a_column_and_keeps_the_rank(self, board: TestClient, sort: str, first: str) -> None:
        text = board.get(f"{BOARD}?sort={sort}", headers=PAGE).text
        other = {"cartographer": "rambler", "rambler": "cartographer"}[first]
        rows = text[text.index("<tbody>") :]
        assert rows.index(first) < rows.index(other)
        assert text.count('aria-sort="descending"') == 1
        assert '<b class="rank">1</b>' in rows

    def test_the_radar_is_closed_and_shows_the_papers_measure(self, board: TestClient) -> None:
        figure = board.get(f"{BOARD}/capability.json?theme=dark").json()
        (first, _) = figure["data"]
        assert first["type"] == "scatterpolar"
        assert first["theta"] == ["PP", "LRP", "LSR", "LIF", "SDK", "CDDK", "SI", "DI", "CDK", "DSK", "PP"]
        assert first["r"][0] == first["r"][-1]
        rest = board.get("/api/v1/leaderboards/graphs").json()["rows"][0]
        assert first["r"][0] == rest["measures_by"]["capability"]["PP"]["CR"]["mean"]
        scores = board.get(f"{BOARD}/capability.json?measure=mean").json()["data"][0]["r"]
        assert scores[0] == rest["by_capability"]["PP"]["mean_score"]

    def test_every_chart_can_show_a_measure(self, board: TestClient) -> None:
        rest = board.get("/api/v1/leaderboards/graphs").json()["rows"][0]
        for dimension, key in (("domain", "media"), ("complexity", "dependency/easy")):
            bars = board.get(f"{BOARD}/{dimension}.json?measure=LC").json()["data"][0]
            at = bars["x"].index(key)
            assert bars["y"][at] == rest["measures_by"][dimension][key]["LC"]["mean"]

    def test_complexities_stand_in_the_papers_order(self, board: TestClient) -> None:
        text = board.get(BOARD, headers=PAGE).text
        assert text.index('title="edges: up to 1, 2 or 3, 4 or more"') < text.index('title="width: up to 2')
        assert 'colspan="3"' in text

    def test_api_and_csv_agree(self, board: TestClient) -> None:
        found = board.get("/api/v1/leaderboards/graphs").json()
        measures = found["rows"][0]["measures"]
        assert measures["LC"]["undefined_tasks"] == 4
        assert found["measures"]["CR"]["title"] == "CR"
        lines = board.get(f"{BOARD}/measures.csv").text.splitlines()
        assert lines[0] == "configuration,agent,run,reference,measure,mean,low,high,n,tasks,undefined_tasks"
        assert str(measures["CR"]["mean"]) in lines[2]
        table = board.get(f"{BOARD}/capability.csv").text.splitlines()
        assert table[0].endswith("LC,LC_low,LC_high,LC_n,LC_tasks,LC_undefined_tasks")
        assert len(table) == 1 + 2 * 10
