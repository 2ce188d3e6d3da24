"""Runs compared on their common tasks over HTTP, and the test against a baseline."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from backend.db.models import Run
from backend.domain.errors import FailureClass
from backend.domain.statistics.paired import MCNEMAR
from tests import databases
from tests.factories.records import World, world
from tests.factories.tasks import make_benchmark, make_task
from tests.integration.web.conftest import lent

API = "/api/v1/compare"
NAMES = [f"t{number}" for number in range(8)]


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
        answer = self.client.get(API, params={"run": [self.runs[name] for name in names], **more})
        assert answer.status_code == 200, answer.text
        comparison: dict[str, Any] = answer.json()
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
    def test_two_runs(self, compared: Compared) -> None:
        comparison = compared.compare("base", "worse")
        (difference,) = comparison["differences"]
        assert (comparison["common_tasks"], comparison["alike"], comparison["conditions"]) == (8, True, [])
        assert (difference["worse"], difference["better"], difference["both_solved"]) == (6, 1, 0)
        assert (difference["test"], difference["p_value"]) == (MCNEMAR, pytest.approx(2 * 8 / 2**7))
        assert difference["mean_score"]["value"] == pytest.approx(-0.625)
        low, high = difference["mean_score"]["interval"]
        assert -1 <= low < -0.625 < high
        assert difference["costs"]["steps"]["value"] == pytest.approx(0.625)
        assert difference["costs"]["usd"]["value"] == 0
        assert [run["title"] for run in comparison["runs"]] == ["base", "worse"]

    def test_flipped_tasks_come_first(self, compared: Compared) -> None:
        rows = compared.compare("base", "worse")["tasks"]
        assert [row["flipped"] for row in rows] == [True] * 7 + [False]
        assert [result["score"] for result in rows[-1]["results"]] == [0.0, 0.0]
        assert all(len(result["episodes"]) == 1 for row in rows for result in row["results"])

    def test_cut_by_a_label(self, compared: Compared) -> None:
        comparison = compared.compare("base", "worse", label="domain")
        assert comparison["labels"] == ["domain"]
        assert [(cut["value"], cut["tasks"], cut["success_rates"]) for cut in comparison["cuts"]] == [
            ("editor", 4, [0.5, 0.25]),
            ("files", 4, [1.0, 0.0]),
        ]

    def test_lost_episodes_are_left_out_and_counted(self, compared: Compared) -> None:
        comparison = compared.compare("base", "lost")
        assert (comparison["common_tasks"], comparison["left_out"]) == (7, {"not scored in every run": 1})
        assert [run["lost"] for run in comparison["runs"]] == [0, 1]
        assert comparison["differences"][0]["test"] != MCNEMAR

    def test_what_is_not_alike_is_named(self, compared: Compared) -> None:
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

    def test_quarantined_tasks_are_left_out(self, compared: Compared) -> None:
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
    def test_what_cannot_be_compared_is_refused(
        self, compared: Compared, names: list[str], status: int, code: str
    ) -> None:
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
        ],
    )
    def test_passes_unless_the_test_finds_one(
        self, compared: Compared, run: str, baseline: str, alpha: float, *, passed: bool
    ) -> None:
        params: dict[str, str | float] = {"baseline": compared.runs[baseline], "alpha": alpha}
        report = compared.client.get(f"/api/v1/runs/{compared.runs[run]}/regression", params=params).json()
        assert (report["passed"], report["alpha"], report["common_tasks"]) == (passed, alpha, 8)
        # One-sided: 6 worse, 1 better.
        assert run != "worse" or report["p_value"] == pytest.approx(8 / 2**7)
        assert report["alike"] is (run != "long")

    def test_nothing_in_common_decides_nothing(self, compared: Compared) -> None:
        waiting = compared.client.post(
            "/api/v1/runs", json={"benchmark": "starter", "agent": "random", "name": "waiting"}
        ).json()
        params = {"baseline": compared.runs["base"]}
        report = compared.client.get(f"/api/v1/runs/{waiting['id']}/regression", params=params).json()
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
