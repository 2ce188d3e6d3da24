"""Studies over HTTP: the API and the pages."""

import csv
import io
import re
from collections.abc import Iterator
from html import unescape
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi.testclient import TestClient

from tests import databases
from tests.factories.records import world
from tests.integration.web.conftest import lent

API = "/api/v1/studies"
BODY: dict[str, Any] = {
    "name": "scale",
    "base": {"benchmark": "starter", "agent": "random", "seed": 3},
    "factors": {"image.scale": [1, 0.5], "perturbation": [None, "moved"]},
}


def submit(client: TestClient) -> dict[str, Any]:
    """A study of three cells with three tasks each."""
    answer = client.post(API, json=BODY)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.fixture
def submitted(fresh: TestClient) -> dict[str, Any]:
    """One that has not begun."""
    return submit(fresh)


class Scored(NamedTuple):
    """One with every episode scored, and a client of its service."""

    id: str
    client: TestClient


@pytest.fixture(scope="module")
def scored(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scored]:
    """For all tests that only look."""
    with (
        databases.copied(postgres_server) as url,
        world(url) as made,
        lent(made, tmp_path_factory.mktemp("d")) as client,
    ):
        made.benchmark()
        worker = made.worker(slots=9)
        study = submit(client)
        for number in range(9):
            made.score(made.must_claim(worker), float(number % 2), steps=number % 4 + 1)
        yield Scored(study["id"], client)


class TestApi:
    def test_submitted_study_is_returned(self, fresh: TestClient, submitted: dict[str, Any]) -> None:
        assert submitted["factors"] == [
            {"name": "image.scale", "levels": [1, 0.5]},
            {"name": "perturbation", "levels": [None, "moved"]},
        ]
        assert (submitted["cells"], submitted["episodes"], submitted["ended"]) == (3, 9, 0)
        assert (submitted["agents"], submitted["design"]) == (["random"], "one_at_a_time")
        assert fresh.get(f"{API}/{submitted['id']}").json() == submitted

    def test_the_same_key_gives_the_same_study(self, fresh: TestClient) -> None:
        both = [fresh.post(API, json=BODY, headers={"Idempotency-Key": "k"}) for _ in range(2)]
        assert both[0].json()["id"] == both[1].json()["id"]
        other = fresh.post(API, json={**BODY, "name": "x"}, headers={"Idempotency-Key": "k"})
        assert other.status_code == 422

    @pytest.mark.parametrize(
        ("change", "path"),
        [
            ({"factors": {"image.scale": [1, 5]}}, "factors.image.scale.1"),
            ({"factors": {"colour": [1, 2]}}, "factors.colour"),
            ({"factors": {"agent": ["random", "nobody"]}}, "agent"),
            ({"factors": {}}, "factors"),
            ({"design": "round"}, "design"),
            ({"sample": 0}, "sample"),
            ({"base": {"benchmark": "starter", "agent": "random", "colour": 1}}, "base.colour"),
        ],
    )
    def test_problems_are_named(self, fresh: TestClient, change: dict[str, Any], path: str) -> None:
        answer = fresh.post(API, json={**BODY, **change})
        assert answer.status_code == 422
        said = answer.json()
        assert path in {said["path"], *(field["path"] for field in said["errors"])}
        assert fresh.get(API).json()["items"] == []

    def test_the_list_goes_part_by_part(self, fresh: TestClient) -> None:
        for number in range(3):
            assert fresh.post(API, json={**BODY, "name": str(number)}).status_code == 201
        first = fresh.get(API, params={"limit": 2}).json()
        second = fresh.get(first["next"]).json()
        assert [item["name"] for item in [*first["items"], *second["items"]]] == ["2", "1", "0"]
        assert second["next"] is None

    def test_results_are_stable(self, scored: Scored) -> None:
        found = scored.client.get(f"{API}/{scored.id}/results").json()
        assert len(found["cells"]) == 3
        assert [row["level"] for row in found["comparisons"]] == [0.5, "moved"]
        for row in found["comparisons"]:
            assert (row["pairs"], row["excluded"]) == (3, {})
            low, high = row["success_rate"]["interval"]
            assert low <= row["success_rate"]["difference"] <= high
            assert 0 <= row["p_value"] <= row["p_adjusted"] <= 1
        assert sum(sum(cell["by_steps"]) for cell in found["cells"]) == 9
        assert "Holm over 2 levels" in found["methods"]
        assert scored.client.get(f"{API}/{scored.id}/results").json() == found

    def test_unknown_study_is_404(self, fresh: TestClient) -> None:
        address = f"{API}/018f0000-0000-7000-8000-000000000000"
        assert [fresh.get(address).status_code, fresh.get(f"{address}/results").status_code] == [404, 404]


class TestPages:
    def test_empty_list_shows_the_command(self, fresh: TestClient) -> None:
        assert "deskarena study submit" in fresh.get("/studies").text

    def test_the_list_leads_to_the_study(self, fresh: TestClient, submitted: dict[str, Any]) -> None:
        page = fresh.get("/studies").text
        assert f'href="/studies/{submitted["id"]}"' in page
        assert "0 of 9 episodes finished" in page

    def test_page_of_a_study_that_has_not_started(self, fresh: TestClient, submitted: dict[str, Any]) -> None:
        page = fresh.get(f"/studies/{submitted['id']}")
        assert page.status_code == 200
        assert "No pair of episodes counts yet" in page.text
        assert "base: waiting 3" in page.text

    def test_page_shows_the_paired_table(self, scored: Scored) -> None:
        page = scored.client.get(f"/studies/{scored.id}").text
        assert "of 2 levels" in page
        assert "exact McNemar test" in page
        assert page.count("points</b>") == 4 + 2  # Two rates and one measure of two levels.
        assert 'id="sensitivity"' in page
        assert page.count('data-controller="chart"') == 2

    def test_the_tables_of_a_comparison(self, scored: Scored) -> None:
        results = scored.client.get(f"{API}/{scored.id}/results").json()
        runs = [cell["run"] for cell in results["cells"]]
        compared = scored.client.get("/api/v1/compare", params={"run": runs, "label": "domain"}).json()
        page = scored.client.get(f"/studies/{scored.id}", params={"label": "domain"}).text
        for section in ("discordant", "costs", "cut", "flipped"):
            assert f'<section class="panel" id="{section}"' in page, section
        flipped = [row["task"] for row in compared["tasks"] if row["flipped"]]
        assert re.findall(r'data-task="([^"]*)"', page) == flipped
        assert compared["cuts"]
        for cut in compared["cuts"]:
            assert f'value={cut["value"]}#tasks">{cut["value"]}</a>' in page
        (every_task,) = re.findall(r'href="(/compare[^"]*)#tasks">All tasks', page)
        assert parse_qs(urlsplit(unescape(every_task)).query) == {"run": runs}
        assert scored.client.get(unescape(every_task)).status_code == 200

    @pytest.mark.parametrize("chart", ["steps", "ended"])
    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_charts_have_the_tables_numbers(self, scored: Scored, chart: str, theme: str) -> None:
        figure = scored.client.get(f"/studies/{scored.id}/{chart}.json", params={"theme": theme}).json()
        assert len(figure["data"]) == 3
        assert all(sum(bars["y"]) == pytest.approx(1) for bars in figure["data"])

    @pytest.mark.parametrize(("table", "rows"), [("differences", 2), ("cells", 3), ("steps", 15)])
    def test_csv_tables_have_all_rows(self, scored: Scored, table: str, rows: int) -> None:
        answer = scored.client.get(f"/studies/{scored.id}/{table}.csv")
        assert answer.headers["content-type"].startswith("text/csv")
        assert len(list(csv.DictReader(io.StringIO(answer.text)))) == rows

    def test_a_name_is_shown_as_text(self, fresh: TestClient) -> None:
        made = fresh.post(API, json={**BODY, "name": "<script>alert(1)</script>"}).json()
        for address in ("/studies", f"/studies/{made['id']}"):
            assert "<script>alert" not in fresh.get(address).text
