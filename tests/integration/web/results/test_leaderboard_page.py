"""A team lead's board as page, JSON and CSV: what is ranked, what is not, and why."""

import csv
import html
import io
import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient

from tests.factories.records import World
from tests.factories.team_board import team_installation
from tests.integration.web.conftest import client_of

PAGE = {"Accept": "text/html"}
BOARD = "/leaderboards/starter"


@pytest.fixture(scope="module")
def board(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with team_installation(postgres_server) as installation:
        yield client_of(installation, tmp_path_factory.mktemp("data"))


def sections(text: str) -> tuple[str, str]:
    """The ranked table and the other one."""
    ranked, rest = text.split('id="not-ranked"')
    return ranked.split('id="ranked"')[1].split("</section>")[0], rest.split("</section>")[0]


class TestPage:
    def test_ranked_and_not_ranked_rows_stand_apart(self, board: TestClient) -> None:
        ranked, rest = sections(board.get(BOARD, headers=PAGE).text)
        assert re.findall(r'<b class="rank">(\d)</b>', ranked) == ["1", "2"]
        assert sorted(re.findall(r'data-reason="(\w+)">', rest)) == sorted(
            ["lost", *["partial"] * 4, *["conditions"] * 4]
        )
        assert 'class="rank"' not in rest
        assert ranked.count("data-k=") == 3
        assert ranked.count(">run 3</a>") == 1

    def test_conditions_are_named_and_chosen(self, board: TestClient) -> None:
        text = board.get(BOARD, headers=PAGE).text
        choices = dict(re.findall(r'<option value="(\w+)"(?: selected)?>(\d+ steps, [^(]+1920x1080) ', text))
        other = next(key for key, words in choices.items() if words.startswith("50 steps"))
        ranked, rest = sections(board.get(f"{BOARD}?conditions={other}", headers=PAGE).text)
        assert ranked.count('class="rank"') == 1
        assert "15 steps, this board has 50 steps" in rest
        assert board.get(f"{BOARD}?conditions=nothing", headers=PAGE).status_code == 404

    def test_common_tasks_are_a_switch(self, board: TestClient) -> None:
        ranked, _ = sections(board.get(f"{BOARD}?common=true", headers=PAGE).text)
        assert ranked.count('class="rank"') == 4
        rest = board.get(f"/api/v1{BOARD}?common=true").json()
        assert rest["common_tasks"] == 8
        assert all(row["passes"]["rates"] == [] for row in rest["rows"])
        chosen = [row["configuration"]["id"] for row in rest["rows"] if row["rank"]][:2]
        query = "&".join(f"configuration={each}" for each in chosen)
        text = board.get(f"{BOARD}?common=true&{query}&sort=success", headers=PAGE).text
        assert sections(text)[0].count('class="rank"') == 2
        assert all(text.count(f"configuration={each}") > 1 for each in chosen)  # Links keep the choice.


class TestNothingRanked:
    def test_leaves_no_empty_part(
        self, fresh: TestClient, installation: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("backend.services.results.leaderboards.FLOORS", frozenset())
        worker = installation.worker("w2", node="n2")
        installation.submit("random")
        installation.score(installation.must_claim(worker))
        installation.roll_up()
        text = fresh.get(BOARD, headers=PAGE).text
        assert 'data-empty="nothing-ranked"' in text
        own = text.partition("<dialog")[0] + text.rpartition("</dialog>")[2]  # A dialog is filled when it is opened.
        assert re.findall(r"<(footer|p|dl|nav|div)(?: [^>]*)?>\s*</", own) == []
        assert 'data-controller="choice"' not in text  # One row: there is nothing to compare it with.


class TestRest:
    def test_rows_have_passes_and_reasons(self, board: TestClient) -> None:
        found = board.get(f"/api/v1{BOARD}").json()
        assert [(row["rank"], row["lower_rank"], row["passes"]["number"]) for row in found["rows"] if row["rank"]] == [
            (1, 1, 1),
            (2, 2, 3),
        ]
        assert [rate["k"] for rate in found["rows"][1]["passes"]["rates"]] == [1, 2, 3]
        assert (found["tasks"], found["not_runnable"], found["orders_differ"]) == (25, 0, False)
        assert all(row["rank"] or row["reasons"] for row in found["rows"])

    def test_figures_are_those_of_all_passes(self, board: TestClient) -> None:
        figure = board.get(f"{BOARD}/domain.json").json()["data"]
        rows = board.get(f"/api/v1{BOARD}").json()["rows"]
        assert figure[1]["y"] == [pytest.approx(rows[1]["by_domain"]["files"]["mean_score"])]


class TestOtherTables:
    """The board by label has the same rows, with the same reasons."""

    def test_unranked_rows_are_marked(self, board: TestClient) -> None:
        rows = board.get(f"/api/v1{BOARD}").json()["rows"]
        reasons = sorted(reason["code"] for row in rows for reason in row["reasons"])
        cut = board.get(f"/api/v1{BOARD}/cut").json()
        assert sorted(reason["code"] for row in cut["rows"] for reason in row["reasons"]) == reasons
        text = board.get(f"{BOARD}/labels", headers=PAGE).text
        assert sorted(re.findall(r'data-reason="(\w+)"', text)) == reasons
        table = csv.DictReader(io.StringIO(board.get(f"{BOARD}/labels.csv").text))
        assert sorted(code for row in table for code in row["not_ranked"].split()) == reasons


class TestColumns:
    def test_columns_and_order_are_in_the_query(self, board: TestClient) -> None:
        usual = sections(board.get(BOARD, headers=PAGE).text)[0]
        assert (">Success rate</a>" in usual, ">Steps" in usual) == (True, False)
        chosen = sections(board.get(f"{BOARD}?column=steps&column=run&sort=steps", headers=PAGE).text)[0]
        assert (">Success rate</a>" in chosen, ">Steps ↓" in chosen) == (False, True)
        assert "column=steps&amp;column=run" in chosen

    def test_pareto_front_is_drawn_and_listed(self, board: TestClient) -> None:
        text = board.get(f"{BOARD}?cost=steps", headers=PAGE).text
        section = text.split('id="pareto"')[1].split("</section>")[0]
        assert section.count('class="point"') == 2
        assert section.count("<td>yes</td>") + section.count("<td>no</td>") == 2
        assert 'aria-current="true">Steps' in section

    def test_the_chart_is_a_table_to_download(self, board: TestClient) -> None:
        table = list(csv.DictReader(io.StringIO(board.get(f"{BOARD}/pareto.csv?cost=steps").text)))
        assert [(row["configuration"], row["steps"], row["score"], row["front"]) for row in table] == [
            ("alpha", "5.0", "0.48", "True"),
            ("beta", "9.0", "0.68", "True"),
        ]

    def test_pass_rates_are_columns_that_sort(self, board: TestClient) -> None:
        text = board.get(f"{BOARD}?column=pass_at_3&column=pass_hat_3&sort=pass_hat_3", headers=PAGE).text
        assert re.findall(r'data-column="(\w+)"><div>([^<]*)<span class="sub">([^<]*)<', sections(text)[0]) == [
            ("pass_at_3", "56.0\xa0%", "37.1 to 73.3 %, n = 25"),
            ("pass_hat_3", "40.0\xa0%", "23.4 to 59.3 %, n = 25"),
            ("pass_at_3", "–", "fewer than 3 passes"),
            ("pass_hat_3", "–", "fewer than 3 passes"),
        ]
        table = list(csv.DictReader(io.StringIO(board.get(f"{BOARD}/costs.csv").text)))
        assert {row["value"] for row in table if row["column"] == "pass_at_2" and row["value"]} == {
            str(rate["at"])
            for row in board.get(f"/api/v1{BOARD}").json()["rows"]
            for rate in row["passes"]["rates"]
            if rate["k"] == 2
        }

    def test_unknown_cost_is_empty_with_a_reason(self, board: TestClient) -> None:
        address = f"{BOARD}?column=usd&column=nodes&column=lost&cost=usd&sort=usd"
        text = board.get(address, headers=PAGE).text
        cells = re.findall(r'data-column="(\w+)"><div>([^<]*)<span class="sub">([^<]*)<', sections(text)[0])
        assert cells.count(("usd", "–", "not recorded")) == 2
        assert cells.count(("nodes", "–", "no hours recorded")) == 2
        assert 'data-missing="usd"' in text
        assert "$0" not in text

    def test_costs_are_in_rest_and_a_table(self, board: TestClient) -> None:
        rows = board.get(f"/api/v1{BOARD}").json()["rows"]
        assert {row["costs"]["usd_missing"] for row in rows} == {"not recorded"}
        table = list(csv.DictReader(io.StringIO(board.get(f"{BOARD}/costs.csv").text)))
        lost = {row["note"] for row in table if row["column"] == "lost" and row["value"] == "2.0"}
        assert lost == {"evaluator 2"}
        assert {row["value"] for row in table if row["column"] == "usd"} == {""}

    def test_a_broken_price_file_breaks_no_board(self, board: TestClient) -> None:
        edge = board.app.state.edge  # type: ignore[attr-defined]
        file = edge.settings.models_path
        file.write_text("node_prices = 1")
        try:
            row = board.get(f"/api/v1{BOARD}").json()["rows"][0]
        finally:
            file.unlink()
        assert row["costs"]["nodes"] is None
        assert "price file" in row["costs"]["nodes_missing"]


class TestTrend:
    def test_only_comparable_runs_share_a_chart(self, board: TestClient) -> None:
        (row, *_) = [
            row for row in board.get(f"/api/v1{BOARD}").json()["rows"] if row["configuration"]["name"] == "alpha"
        ]
        text = board.get(f"/configurations/{row['configuration']['id']}", headers=PAGE).text
        charts = text.split('id="trend"')[1].split("</section>")[0].split("<h3")[1:]
        assert [(chart.count('class="point'), chart.count("partial")) for chart in charts[:-1]] == [(3, 0), (1, 0)]
        assert charts[-1].count('class="point partial"') == 1
        assert "2 of 25 tasks" in charts[-1]
        assert [re.findall(r"(\d+ steps), [^<]*?(\d+x\d+)", chart)[0] for chart in charts] == [
            ("15 steps", "1920x1080"),
            ("50 steps", "1920x1080"),
            ("15 steps", "1280x800"),
        ]
        address = f"/configurations/{row['configuration']['id']}/trend.csv"
        own, of_agent = (
            list(csv.DictReader(io.StringIO(board.get(f"{address}{more}").text))) for more in ("", "?agent=true")
        )
        assert [each["mean_score"] for each in own] == ["0.4", "0.48", "0.56", "0.8", "1.0"]
        assert [each["partial"] for each in own] == [*["False"] * 4, "True"]
        assert len(of_agent) == 12


class TestPasses:
    def test_a_run_leads_to_the_others_of_its_row_under_the_same_filters(self, board: TestClient) -> None:
        (row,) = [
            row
            for row in board.get(f"/api/v1{BOARD}").json()["rows"]
            if row["rank"] and row["configuration"]["name"] == "alpha"
        ]
        first, second, third = (each["run"] for each in row["passes"]["runs"])
        text = board.get(f"/runs/{second}?outcome=pass", headers=PAGE).text
        passes = text.split('id="passes"')[1].split("</p>")[0]
        assert [html.unescape(each) for each in re.findall(r'href="([^"]+)"', passes)] == [
            *(f"/runs/{run}?outcome=pass#episodes" for run in (first, third)),
            f"/runs/{second}?outcome=pass&passes=true#episodes",
        ]
        assert '<b aria-current="page">run 2</b>' in passes

    def test_every_cell_of_a_pooled_row_opens_the_episodes_of_all_its_runs(self, board: TestClient) -> None:
        (row,) = [
            each for each in board.get(f"/api/v1{BOARD}/cut").json()["rows"]
            if each["configuration"]["name"] == "alpha" and not each["reasons"]
        ]  # fmt: skip
        cell = row["cells"]["files"]["summary"]
        assert len(row["runs"]) == 3
        for page, of_cell in (
            (f"{BOARD}/labels", f"/runs/{row['runs'][0]}?passes=true&where=domain%3Dfiles#episodes"),
            (BOARD, f"/runs/{row['runs'][0]}?passes=true#episodes"),
        ):
            assert f'href="{html.escape(of_cell)}"' in board.get(page, headers=PAGE).text
            address, listed = of_cell.partition("#")[0], list[str]()
            while address:
                section = board.get(address, headers=PAGE).text.split('<section class="panel" id="episodes">')[1]
                listed += re.findall(r'class="task-link" href="/episodes/([^"]+)"', section.split("</section>")[0])
                more = re.search(r'rel="next" href="([^"#]+)', section)
                address = html.unescape(more[1]) if more else ""
            assert len(set(listed)) == len(listed) == cell["episodes"]
            runs = {board.get(f"/api/v1/episodes/{episode}").json()["run_id"] for episode in listed}
            assert runs == set(row["runs"])


class TestBorderline:
    def test_an_interval_that_disagrees_with_its_test_is_named(self, board: TestClient) -> None:
        rows = {
            row["configuration"]["name"]: row["runs"]
            for row in board.get(f"/api/v1{BOARD}").json()["rows"]
            if row["rank"]
        }
        for alpha, borderline in zip(rows["alpha"], (False, True, False), strict=True):
            text = board.get(f"/compare?run={rows['beta'][0]}&run={alpha}", headers=PAGE).text
            assert ("data-borderline" in text) == borderline


class TestCompareRows:
    """Ticked rows are compared as configurations, with all their passes."""

    def rows(self, board: TestClient) -> dict[str, dict[str, Any]]:
        found = board.get(f"/api/v1{BOARD}").json()
        key = found["conditions"]["key"]
        return {row["configuration"]["name"]: row for row in found["rows"] if row["conditions"]["key"] == key}

    def test_the_passes_of_a_row_are_pooled(self, board: TestClient) -> None:
        alpha, beta = (self.rows(board)[name] for name in ("alpha", "beta"))
        ids = [row["configuration"]["id"] for row in (alpha, beta)]
        answer = board.get(f"{BOARD}/compare", params={"configuration": ids})
        address = answer.headers["location"]
        assert (answer.status_code, address.startswith("/compare?configuration=")) == (303, True)
        comparison = board.get(f"/api/v1{address}").json()
        assert [run["title"] for run in comparison["runs"]] == ["alpha", "beta"]
        assert [len(run["runs"]) for run in comparison["runs"]] == [3, 2]
        assert [run["mean_score"] for run in comparison["runs"]] == [
            pytest.approx(row["summary"]["mean_score"]) for row in (alpha, beta)
        ]
        assert [run["lost"] for run in comparison["runs"]] == [0, 0]
        assert comparison["common_tasks"] == 25  # The repetition of beta's lost task belongs to its pass.
        assert {result["passes"] for row in comparison["tasks"] for result in row["results"][:1]} == {3}

    def test_compared_rows_are_in_the_query(self, board: TestClient) -> None:
        ids = [row["configuration"]["id"] for row in self.rows(board).values()]
        address = board.get(f"{BOARD}/compare", params={"configuration": ids}).headers["location"]
        text = board.get(address, headers=PAGE).text
        assert text.count('class="answer"') == len(ids) - 1
        links = [html.unescape(each) for each in re.findall(r'href="(/compare\?[^"#]*)', text)]
        assert links
        assert all("conditions=" in each and "benchmark=starter" in each for each in links if "run=" not in each)
        assert {board.get(each, headers=PAGE).status_code for each in links} == {200}
        table, parquet = map(html.unescape, re.findall(r'href="(/compare/tasks.csv[^"]*)"', text))
        assert board.get(table).text.startswith("task,flipped,beta: score")
        assert board.get(parquet).content.startswith(b"PAR1")

    def test_invalid_comparisons_are_refused(self, board: TestClient) -> None:
        (one, *_) = (row["configuration"]["id"] for row in self.rows(board).values())
        query = {"benchmark": "starter", "configuration": [one, str(uuid4())]}
        assert board.get("/api/v1/compare", params=query).json()["code"] == "configuration_not_on_board"
        alone = board.get("/api/v1/compare", params={"benchmark": "starter", "configuration": [one]})
        assert (alone.status_code, alone.json()["code"]) == (422, "invalid_comparison")
