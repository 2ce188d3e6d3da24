"""Configurations: one name everywhere, search, rename, and a page with runs, definition, prompts and trend."""

import csv
import io
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from backend.db.models import Task
from backend.services.benchmarks.quarantine import quarantine_task
from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task

PAGE = {"Accept": "text/html"}
API = "/api/v1/configurations"


@pytest.fixture
def runs(installation: World) -> list[str]:
    """Two runs of one configuration, one of another one."""
    worker = installation.worker(slots=1)
    ids = [installation.submit("random").id, installation.submit("random", seed=3, provider="local").id]
    ids.append(installation.submit("random", image={"scale": 0.5}).id)
    while (claim := installation.claim(worker)) is not None:
        installation.score(claim, 1.0)
    installation.roll_up()
    return [str(each) for each in ids]


class TestConfigurations:
    def test_runs_that_differ_in_seed_share_one(self, fresh: TestClient, runs: list[str]) -> None:
        found = [fresh.get(f"/api/v1/runs/{run}").json()["configuration"] for run in runs]
        assert found[0] == found[1]
        assert [each["name"] for each in found[1:]] == ["random", "random · image x0.5"]
        items = fresh.get(API).json()["items"]
        assert {item["name"]: item["runs"] for item in items} == {"random": 2, "random · image x0.5": 1}

    def test_searches_by_name(self, fresh: TestClient, runs: list[str]) -> None:
        assert [item["name"] for item in fresh.get(f"{API}?q=X0.5").json()["items"]] == ["random · image x0.5"]
        assert fresh.get(f"{API}?q=nobody").json()["items"] == []
        assert 'data-empty="no-matches"' in fresh.get("/configurations?q=nobody", headers=PAGE).text
        listed = fresh.get("/runs?q=x0.5", headers=PAGE).text
        assert (runs[2] in listed, runs[0] in listed) == (True, False)
        assert [
            run["id"] for run in fresh.get(f"/api/v1/runs?configuration={self.of(fresh, runs[2])}").json()["items"]
        ] == [runs[2]]

    def of(self, client: TestClient, run: str) -> str:
        configuration: str = client.get(f"/api/v1/runs/{run}").json()["configuration"]["id"]
        return configuration

    def test_a_new_name_is_on_every_page(self, fresh: TestClient, runs: list[str]) -> None:
        configuration = self.of(fresh, runs[0])
        answer = fresh.patch(f"{API}/{configuration}", json={"name": " nightly "}, headers={"If-Match": "*"})
        assert (answer.json()["name"], answer.json()["default_name"]) == ("nightly", "random")
        task = fresh.get(f"/api/v1/runs/{runs[0]}?include=episodes").json()["episodes"][0]
        addresses = (
            "/runs", f"/runs/{runs[0]}", "/configurations", f"/configurations/{configuration}", "/leaderboards/starter",
            f"/tasks/{task['task_id']}", f"/episodes/{task['id']}", "/leaderboards/starter/domain.csv",
            "/leaderboards/starter/measures.csv",
        )  # fmt: skip
        assert [path for path in addresses if "nightly" not in fresh.get(path, headers=PAGE).text] == []
        rows = fresh.get("/api/v1/leaderboards/starter").json()["rows"]
        assert {row["configuration"]["name"] for row in rows} == {"nightly", "random · image x0.5"}
        assert (
            fresh.patch(f"{API}/{configuration}", json={"name": ""}, headers={"If-Match": "*"}).json()["name"]
            == "random"
        )

    def test_names_are_unique(self, fresh: TestClient, runs: list[str]) -> None:
        answer = fresh.patch(
            f"{API}/{self.of(fresh, runs[0])}", json={"name": "random · image x0.5"}, headers={"If-Match": "*"}
        )
        assert (answer.status_code, answer.json()["code"]) == (409, "name_already_used")
        page = fresh.post(f"/configurations/{self.of(fresh, runs[0])}/name", data={"name": "random · image x0.5"})
        assert page.status_code == 409
        wrong = fresh.patch(f"{API}/{self.of(fresh, runs[0])}", json={"name": "two\nlines"}, headers={"If-Match": "*"})
        assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid_name")

    def test_the_page_has_runs_definition_and_trend(self, fresh: TestClient, runs: list[str]) -> None:
        configuration = self.of(fresh, runs[0])
        text = fresh.get(f"/configurations/{configuration}", headers=PAGE).text
        listed = text.split('aria-label="Runs"')[1]
        assert all(f"/runs/{run}" in listed for run in runs[:2])
        assert runs[2] not in listed
        assert text.count('class="point"') >= 2
        assert 'id="definition"' in text
        assert f"/runs/{runs[0]}" in text.split('id="agent-trend"')[1].split("</section>")[0]
        assert runs[2] in text.split('id="agent-trend"')[1].split("</section>")[0]
        moved = fresh.post(f"/configurations/{configuration}/name", data={"name": "mine"})
        assert moved.headers["location"] == f"/configurations/{configuration}"
        assert "<h1>mine</h1>" in fresh.get(f"/configurations/{configuration}", headers=PAGE).text

    def test_tasks_in_quarantine_are_not_missing_from_the_trend(
        self, installation: World, fresh: TestClient, runs: list[str]
    ) -> None:
        with installation.work() as session:
            _, actor = installation.who(session)
            quarantine_task(session, session.scalars(select(Task.id).limit(1)).one(), "its check is wrong", actor)
        installation.roll_up()
        table = fresh.get(f"/configurations/{self.of(fresh, runs[0])}/trend.csv").text
        rows = list(csv.DictReader(io.StringIO(table)))
        assert [(row["scored_tasks"], row["tasks"], row["partial"]) for row in rows] == [("2", "2", "False")] * 2

    def test_unknown_configuration_is_404(self, fresh: TestClient) -> None:
        answer = fresh.get(f"{API}/018f0000-0000-7000-8000-000000000000")
        assert (answer.status_code, answer.json()["code"]) == (404, "configuration_not_found")


class TestCompare:
    """Ticked configurations are compared where all of them have runs."""

    def test_on_the_benchmark_that_they_share(self, fresh: TestClient, runs: list[str]) -> None:
        ids = [item["id"] for item in fresh.get(API).json()["items"]]
        text = fresh.get("/configurations", headers=PAGE).text
        assert all(f'name="configuration" value="{each}"' in text for each in ids)
        first = fresh.get("/compare", params={"configuration": ids, "order": "oldest"}, headers=PAGE)
        second = fresh.get(first.headers["location"], headers=PAGE)
        assert parse_qs(urlsplit(second.headers["location"]).query) == {
            "configuration": sorted(ids), "benchmark": ["starter"], "version": ["1"],
        }  # fmt: skip
        page = fresh.get(second.headers["location"], headers=PAGE)
        assert (page.status_code, page.text.count('class="answer"')) == (200, 1)
        compared = fresh.get("/api/v1/compare", params={"configuration": sorted(ids)}).json()
        assert [run["runs"] for run in compared["runs"]] == [runs[1::-1], runs[2:]]

    def test_under_the_conditions_that_they_share(
        self, installation: World, fresh: TestClient, runs: list[str]
    ) -> None:
        worker = installation.worker(slots=1)
        more = [str(installation.submit("random", budget={"max_steps": 9}, seed=seed).id) for seed in (0, 5)]
        more.append(str(installation.submit("random", budget={"max_steps": 9}, image={"scale": 0.7}).id))
        while (claim := installation.claim(worker)) is not None:
            installation.score(claim, 1.0)
        installation.roll_up()
        ids = [fresh.get(f"/api/v1/runs/{run}").json()["configuration"]["id"] for run in (more[0], more[2])]
        compared = fresh.get("/api/v1/compare", params={"configuration": ids}).json()
        assert [sorted(run["runs"]) for run in compared["runs"]] == [sorted(more[:2]), more[2:]]
        assert compared["alike"]

    def test_no_common_benchmark_is_a_conflict(self, installation: World, fresh: TestClient, runs: list[str]) -> None:
        installation.benchmark(make_benchmark(make_task("files", "z")), name="other")
        other = installation.submit("random", "other", image={"scale": 0.4})
        ids = [fresh.get(f"/api/v1/runs/{run}").json()["configuration"]["id"] for run in (runs[0], other.id)]
        answer = fresh.get("/api/v1/compare", params={"configuration": ids})
        assert (answer.status_code, answer.json()["code"]) == (409, "no_common_benchmark")
