"""Runs compared on their common tasks over HTTP, and the test against a baseline."""

import csv
import html
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from backend.db.models import Run
from backend.domain.errors import FailureClass
from backend.domain.statistics.paired import MCNEMAR
from backend.services.artifacts.artifacts import ArtifactRef
from backend.services.attempts import attempts
from backend.services.benchmarks.labels import import_labels
from tests import databases
from tests.factories.records import World, step_row, world
from tests.factories.tasks import make_benchmark, make_task
from tests.integration.web.conftest import lent

API = "/api/v1/compare"
NAMES = [f"t{number}" for number in range(8)]
BY_TASK = [*NAMES[4:], *NAMES[:4]]
TEAMS = "task,difficulty,source,label:team\nfiles/t0,,,red;blue\nfiles/t1,,,red\neditor/t4,,,blue\n"
"""Labels of the CSV form, which no task file has."""


def play(made: World, scores: str, agent: str = "random", **more: Any) -> UUID:
    """A run whose episodes end with these scores, by task and then repeat: 1, 0, h = 0.5, - = lost."""
    worker = made.worker(slots=1)
    run: Run = made.submit(agent, **more)
    passes: Counter[str] = Counter()
    for _ in scores:
        claim = made.must_claim(worker)
        name = claim.task.key.name
        score = scores[NAMES.index(name) * (len(scores) // len(NAMES)) + passes[name]]
        passes[name] += 1
        if score == "-":
            made.lose(claim, FailureClass.EVALUATOR)
        else:
            made.score(claim, 0.5 if score == "h" else float(score), steps=1 + int(score == "0"))
    return run.id


@dataclass
class Compared:
    """Runs of one benchmark, and a client of their service."""

    client: TestClient
    runs: dict[str, str] = field(default_factory=dict)

    def compare(self, *names: str, **more: Any) -> dict[str, Any]:
        params = {"run": [self.runs[name] for name in names], **more}
        comparison: dict[str, Any] = self.client.get(API, params=params).raise_for_status().json()
        return comparison


@pytest.fixture(scope="module")
def compared(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compared]:
    """For all tests, which only read."""
    with (
        databases.copied(postgres_server) as url,
        world(url) as made,
        lent(made, tmp_path_factory.mktemp("d")) as client,
    ):
        tasks = [make_task("files" if name < "t4" else "editor", name) for name in NAMES]
        made.benchmark(make_benchmark(*tasks))
        made.do(import_labels, "starter", TEAMS)
        made.benchmark(name="other")
        runs = {
            "base": play(made, "11111100", name="base"),
            "worse": play(made, "00000010", name="worse"),
            "lost": play(made, "1-1h0000", name="lost"),
            "long": play(made, "11111100", name="base", budget={"max_steps": 50}),
            "passes": play(made, "1011111111110000", name="passes", repeats=2),
            "other": made.submit("random", "other").id,
        }
        yield Compared(client, {name: str(run) for name, run in runs.items()})


class TestCompare:
    def test_compares_two_runs(self, compared: Compared) -> None:
        comparison = compared.compare("base", "worse")
        (difference,) = comparison["differences"]
        assert (comparison["common_tasks"], comparison["alike"], comparison["conditions"]) == (8, True, [])
        assert (difference["worse"], difference["better"], difference["both_solved"]) == (6, 1, 0)
        assert (difference["test"], difference["p_value"]) == (MCNEMAR, pytest.approx(2 * 8 / 2**7))
        assert difference["mean_score"]["value"] == pytest.approx(-0.625)
        low, high = difference["mean_score"]["interval"]
        assert -1 <= low < -0.625 < high
        assert difference["costs"]["steps"]["value"] == pytest.approx(0.625)
        assert "usd" not in difference["costs"]  # Unknown: no model was called.
        assert [run["title"] for run in comparison["runs"]] == ["base", "worse"]

    def test_flipped_tasks_come_first(self, compared: Compared) -> None:
        rows = compared.compare("base", "worse")["tasks"]
        assert [row["flipped"] for row in rows] == [True] * 7 + [False]
        assert [result["score"] for result in rows[-1]["results"]] == [0.0, 0.0]
        assert all(len(result["episodes"]) == 1 for row in rows for result in row["results"])

    def test_cut_by_a_label(self, compared: Compared) -> None:
        comparison = compared.compare("base", "worse", label="domain")
        assert comparison["labels"] == ["domain", "team"]
        assert [(cut["value"], cut["tasks"], cut["success_rates"]) for cut in comparison["cuts"]] == [
            ("editor", 4, [0.5, 0.25]),
            ("files", 4, [1.0, 0.0]),
        ]

    def test_cuts_by_an_imported_label(self, compared: Compared) -> None:
        cuts = compared.compare("base", "worse", label="team")["cuts"]
        assert {cut["value"]: cut["tasks"] for cut in cuts} == {"blue": 2, "red": 2, "unlabelled": 5}

    def test_lost_episodes_are_excluded_and_counted(self, compared: Compared) -> None:
        comparison = compared.compare("base", "lost")
        assert (comparison["common_tasks"], comparison["left_out"]) == (7, {"not scored in every run": 1})
        assert [run["lost"] for run in comparison["runs"]] == [0, 1]
        assert comparison["differences"][0]["test"] != MCNEMAR

    def test_differences_in_conditions_are_named(self, compared: Compared) -> None:
        comparison = compared.compare("base", "long")
        assert comparison["alike"] is False
        assert comparison["conditions"] == [{"name": "budget.max_steps", "values": [None, 50], "diff": []}]
        titles = [run["title"] for run in comparison["runs"]]
        assert len(set(titles)) == 2

    def test_passes_of_a_task_count_once(self, compared: Compared) -> None:
        comparison = compared.compare("base", "passes")
        (difference,) = comparison["differences"]
        assert (difference["mean_score"]["base"], difference["mean_score"]["other"]) == (0.75, pytest.approx(5.5 / 8))
        assert {row["results"][1]["passes"] for row in comparison["tasks"]} == {2}

    def test_p_values_of_several_runs_are_adjusted(self, compared: Compared) -> None:
        differences = compared.compare("base", "worse", "passes")["differences"]
        assert differences[0]["p_adjusted"] == pytest.approx(2 * differences[0]["p_value"])

    def test_quarantined_tasks_are_excluded(self, compared: Compared) -> None:
        first = compared.compare("base", "worse")["tasks"][0]["task"]
        tasks = compared.client.get("/api/v1/benchmarks/starter/tasks", params={"limit": 50}).json()["items"]
        (task,) = (row["id"] for row in tasks if f"{row['domain']}/{row['name']}" == first)
        path = f"/api/v1/tasks/{task}/quarantine"
        assert compared.client.post(path, json={"reason": "wrong"}).status_code == 201
        left_out = compared.compare("base", "worse")["left_out"]
        assert compared.client.post(f"{path}/lift", json={"reason": "right"}).status_code == 200
        assert left_out == {"quarantined": 1}

    @pytest.mark.parametrize(
        ("names", "status", "code"),
        [
            (["base"], 422, "invalid_comparison"),
            (["base", "base"], 422, "invalid_comparison"),
            (["base", "other"], 409, "benchmarks_differ"),
        ],
    )
    def test_incomparable_runs_are_refused(self, compared: Compared, names: list[str], status: int, code: str) -> None:
        answer = compared.client.get(API, params={"run": [compared.runs[name] for name in names]})
        assert (answer.status_code, answer.json()["code"]) == (status, code)

    def test_an_unknown_run_is_not_found(self, compared: Compared) -> None:
        unknown = "018f0000-0000-7000-8000-000000000000"
        answer = compared.client.get(API, params={"run": [compared.runs["base"], unknown]})
        assert (answer.status_code, answer.json()["code"]) == (404, "run_not_found")


class TestRegression:
    @pytest.mark.parametrize(
        ("run", "baseline", "alpha", "passed"),
        [
            ("worse", "base", 0.1, False),
            ("worse", "base", 0.05, True),
            ("base", "worse", 0.5, True),
            ("long", "base", 0.05, True),
            ("lost", "base", 0.01, True),
        ],
    )
    def test_passes_unless_the_test_finds_one(
        self, compared: Compared, run: str, baseline: str, alpha: float, *, passed: bool
    ) -> None:
        params: dict[str, str | float] = {"baseline": compared.runs[baseline], "alpha": alpha}
        report = compared.client.get(f"/api/v1/runs/{compared.runs[run]}/regression", params=params).json()
        assert (report["passed"], report["alpha"], report["common_tasks"]) == (passed, alpha, 7 if run == "lost" else 8)
        # One-sided: 6 worse, 1 better.
        assert run != "worse" or report["p_value"] == pytest.approx(8 / 2**7)
        assert report["alike"] is (run != "long")
        assert ("(budget.max_steps)" in report["sentence"]) is (run == "long")
        assert ("lost 1 episode," in report["sentence"]) is (run == "lost")

    def test_no_common_task_gives_no_decision(self, compared: Compared) -> None:
        body = {"benchmark": "starter", "agent": "random", "name": "waiting"}
        waiting = compared.client.post("/api/v1/runs", json=body).json()
        path = f"/api/v1/runs/{waiting['id']}/regression"
        report = compared.client.get(path, params={"baseline": compared.runs["base"]}).json()
        assert (report["passed"], report["p_value"], report["common_tasks"]) == (None, None, 0)

    def test_a_baseline_that_has_not_ended_is_named(self, installation: World, fresh: TestClient) -> None:
        worker = installation.worker("w2")
        runs = [installation.submit("random", tasks=("files/a",)) for _ in range(2)]
        for _ in runs:
            installation.score(installation.must_claim(worker))
        baseline = installation.submit("random", tasks=("files/a",), repeats=2)
        installation.score(installation.must_claim(worker))
        path, params = f"/api/v1/runs/{runs[0].id}/regression", {"baseline": str(baseline.id)}
        report = fresh.get(path, params=params).json()
        ended = fresh.get(path, params={"baseline": str(runs[1].id)}).json()
        assert [each["baseline_status"] for each in (report, ended)] == ["running", "completed"]
        assert [each["run_status"] for each in (report, ended)] == ["completed"] * 2
        assert report["passed"] is ended["passed"] is True
        assert len(report["sentence"]) > len(ended["sentence"])


PAGE = {"Accept": "text/html"}


@dataclass
class ComparisonPages:
    """The page of the compared runs, by their names."""

    compared: Compared

    def get(self, *names: str, **more: str | int) -> str:
        params = {"run": [self.compared.runs[name] for name in names], **more}
        answer = self.compared.client.get("/compare", params=params, headers=PAGE)
        assert answer.status_code == 200, answer.text
        return html.unescape(answer.text)

    def tasks(self, *names: str, **more: str | int) -> list[str]:
        return re.findall('data-task="[a-z]+/(t[0-9])"', self.get(*names, **more))


@pytest.fixture(scope="module")
def pages(compared: Compared) -> ComparisonPages:
    return ComparisonPages(compared)


class TestPage:
    def test_page_shows_the_result_and_differing_conditions(self, pages: ComparisonPages, compared: Compared) -> None:
        alike, unlike = pages.get("base", "worse"), pages.get("base", "long")
        assert compared.compare("base", "worse")["differences"][0]["sentence"] in alike
        assert ['data-alike="no"' in text for text in (alike, unlike)] == [False, True]
        assert unlike.index('id="conditions"') < unlike.index('id="answer"')

    @pytest.mark.parametrize(
        ("more", "tasks"),
        [
            ({"sort": "task"}, BY_TASK),
            ({"sort": "-1"}, ["t6", "t7", "t4", "t5", "t0", "t1", "t2", "t3"]),
            ({"sort": "2"}, ["t6", "t4", "t5", "t7", "t0", "t1", "t2", "t3"]),
            ({"show": "flipped", "sort": "task"}, ["t4", "t5", "t6", "t0", "t1", "t2", "t3"]),
            ({"show": "better"}, ["t6"]),
            ({"show": "worse", "sort": "task"}, ["t4", "t5", "t0", "t1", "t2", "t3"]),
            ({"show": "both"}, []),
            ({"show": "neither"}, ["t7"]),
            ({"label": "domain", "value": "editor", "sort": "task"}, NAMES[4:]),
            ({"first": 100}, []),
        ],
        ids=str,
    )
    def test_the_matrix_is_filtered_and_sorted(
        self, pages: ComparisonPages, more: dict[str, str | int], tasks: list[str]
    ) -> None:
        assert pages.tasks("base", "worse", **more) == tasks

    def test_groups_are_those_of_the_chosen_run(self, pages: ComparisonPages) -> None:
        assert pages.tasks("base", "worse", "passes", show="worse", other=2, sort="task") == ["t0"]

    def test_a_number_of_the_discordant_table_lists_its_tasks(self, pages: ComparisonPages) -> None:
        (address,) = set(re.findall(r'href="(/compare\?[^"]*show=worse[^"]*)#tasks"', pages.get("base", "worse")))
        text = pages.compared.client.get(address, headers=PAGE).text
        assert text.count("data-task=") == 6

    def test_each_cell_opens_its_episode_and_both_side_by_side(
        self, pages: ComparisonPages, compared: Compared
    ) -> None:
        text = pages.get("base", "worse")
        for row in compared.compare("base", "worse")["tasks"]:
            base, other = (result["episodes"][0] for result in row["results"])
            assert f'href="/episodes/{base}"' in text
            assert f'href="/compare/episodes?episode={base}&episode={other}"' in text

    def test_the_oldest_ticked_run_is_the_base(self, pages: ComparisonPages, compared: Compared) -> None:
        newest_first = {"run": [compared.runs[name] for name in ("worse", "base")], "order": "oldest"}
        answer = compared.client.get("/compare", params=newest_first, headers=PAGE)
        assert answer.status_code == 303
        assert answer.headers["location"] == f"/compare?run={compared.runs['base']}&run={compared.runs['worse']}"

    def test_one_run_offers_others_of_its_benchmark(self, pages: ComparisonPages, compared: Compared) -> None:
        text = pages.get("base")
        offered = set(re.findall('name="run" value="([0-9a-f-]+)"', text))
        assert offered >= {run for name, run in compared.runs.items() if name != "other"}
        assert compared.runs["other"] not in offered
        assert re.search(f'value="{compared.runs["base"]}"[^>]* checked', text)

    @pytest.mark.parametrize(("other", "status"), [("worse", 422), ("other", 409)])
    def test_incomparable_runs_and_unknown_sorts_are_refused(self, compared: Compared, other: str, status: int) -> None:
        params = {"run": [compared.runs["base"], compared.runs[other]], "sort": "3"}
        assert compared.client.get("/compare", params=params, headers=PAGE).status_code == status

    def test_the_matrix_as_csv(self, compared: Compared) -> None:
        params = {"run": [compared.runs["base"], compared.runs["worse"]]}
        text = compared.client.get("/compare/tasks.csv", params=params).text
        rows = list(csv.DictReader(text.splitlines()))
        scores = {row["task"].partition("/")[2]: (row["base: score"], row["worse: score"]) for row in rows}
        assert (len(rows), scores["t0"], scores["t6"]) == (len(NAMES), ("1.0", "0.0"), ("0.0", "1.0"))


class TestTwoEpisodes:
    def test_steps_of_two_episodes_are_aligned(self, compared: Compared) -> None:
        rows = {row["task"]: row for row in compared.compare("base", "worse")["tasks"]}
        episodes = [result["episodes"][0] for result in rows["files/t0"]["results"]]
        answer = compared.client.get(f"{API}/episodes", params={"episode": episodes}).json()
        assert [(step["first"], step["second"], step["same"]) for step in answer["steps"]] == [
            (0, 0, True),
            (None, 1, False),
        ]
        assert (answer["episodes"], answer["divergence"]) == (episodes, 1)
        page = compared.client.get("/compare/episodes", params={"episode": episodes}, headers=PAGE).text
        assert re.findall('data-same="([a-z]+)"( data-first)?', page) == [("yes", " data-first"), ("no", "")]
        assert page.index('data-index="1"') < page.index('aria-current="step"')

    def test_one_episode_is_refused(self, compared: Compared) -> None:
        episode = compared.compare("base", "worse")["tasks"][0]["results"][0]["episodes"][0]
        for episodes in ([episode], [episode, episode]):
            answer = compared.client.get(f"{API}/episodes", params={"episode": episodes})
            assert (answer.status_code, answer.json()["code"]) == (422, "invalid_comparison")

    def test_prompts_differ_line_by_line(self, installation: World, fresh: TestClient) -> None:
        worker, shas = installation.worker("w2"), []
        installation.submit("random", tasks=("files/a",))
        claim = installation.must_claim(worker)
        installation.begin(claim)
        for index, prompt in enumerate((b"You act.\nClick once.", b"You act.\nClick twice.")):
            sha256 = installation.store.put(prompt, "text/plain")
            row = replace(step_row(installation.store, index), prompt=ArtifactRef(sha256, len(prompt), "text/plain"))
            installation.do(attempts.record_step, claim.fence, row)
            shas.append(sha256)
        text = fresh.get("/compare/prompts", params={"first": shas[0], "second": shas[1]}).text
        assert text.splitlines()[1:] == [" You act.", "-Click once.", "+Click twice."]
        unknown = fresh.get("/compare/prompts", params={"first": shas[0], "second": "0" * 64}, headers=PAGE)
        assert unknown.status_code == 404


class TestFailures:
    @staticmethod
    def breakdown(compared: Compared, *names: str, **more: str) -> dict[str, Any]:
        params = {"run": [compared.runs[name] for name in names], **more}
        page = compared.client.get("/compare/failures", params=params, headers=PAGE)
        assert page.status_code == 200, page.text
        breakdown: dict[str, Any] = compared.client.get("/api/v1/failures", params=params).raise_for_status().json()
        assert ("These runs differ in conditions." in page.text) is bool(breakdown["conditions"])
        return breakdown

    def test_runs_of_one_configuration_are_its_passes(self, compared: Compared) -> None:
        breakdown = self.breakdown(compared, "base", "passes")
        assert [len(each["runs"]) for each in breakdown["configurations"]] == [2]
        assert {name: breakdown[name] for name in ("all_fail", "all_pass", "flip", "repeated", "flake_rate")} == {
            "all_fail": 2,
            "all_pass": 5,
            "flip": 1,
            "repeated": 8,
            "flake_rate": 1 / 8,
        }
        assert [task["task"] for task in breakdown["tasks"][:3]] == ["editor/t6", "editor/t7", "files/t0"]
        assert (breakdown["tasks"][2]["solved"], breakdown["tasks"][2]["passes"]) == ([2], [3])

    def test_unlike_runs_are_columns_of_their_own(self, compared: Compared) -> None:
        breakdown = self.breakdown(compared, "base", "long")
        titles = [f"base ({compared.runs[name][-6:]})" for name in ("base", "long")]
        assert [each["title"] for each in breakdown["configurations"]] == titles
        assert [each["name"] for each in breakdown["conditions"]] == ["budget.max_steps"]
        assert (breakdown["repeated"], breakdown["flake_rate"]) == (0, None)
        assert all(task["passes"] == [1, 1] for task in breakdown["tasks"])

    def test_labels_and_endings_by_a_label_of_the_tasks(self, compared: Compared) -> None:
        whole = self.breakdown(compared, "base")
        groups = self.breakdown(compared, "base", label="domain")["groups"]
        assert [(group["value"], group["episodes"], group["failed"]) for group in groups] == [
            ("editor", 4, 2),
            ("files", 4, 0),
        ]
        assert [group["ends"] for group in (*whole["groups"], *groups)] == [{"done": 8}, {"done": 4}, {"done": 4}]
        shares = {share["label"]: (share["count"], share["n"]) for share in whole["groups"][0]["by_rules"]}
        assert shares["hallucinated"] == (2, 2)
        assert {share["n"] for share in whole["groups"][0]["by_people"]} == {0}

    def test_each_number_lists_its_tasks(self, compared: Compared) -> None:
        params = {"run": [compared.runs[name] for name in ("base", "passes")]}
        numbers = {
            show: compared.client.get("/compare/failures", params={**params, "show": show}, headers=PAGE).text.count(
                "data-task="
            )
            for show in ("", "fail", "pass", "flip")
        }
        assert numbers == {"": 8, "fail": 2, "pass": 5, "flip": 1}
