"""Labels on pages, in REST and CSV: counts, filters, boards by label, the paper's tables, published suites."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from backend.domain.model.score import Evaluation
from backend.domain.model.task import Labels, LoadedBenchmark, Task
from tests import databases
from tests.factories.measured import finish
from tests.factories.records import World, world
from tests.factories.scene import OneTransaction
from tests.factories.tasks import make_task
from tests.integration.web.conftest import client_of

PAGE = {"Accept": "text/html"}
GROUPS = ("Office", "Web", "Coding")
SCORES = {f"t{at}": (1.0, 0.0, 0.5)[at % 3] for at in range(9)}


def labelled(at: int) -> Task:
    """A task of one of three groups and two levels."""
    labels = Labels(extra={"group": GROUPS[at % 3], "team": ["red", "blue"][: 1 + at % 2]}, level=f"L{1 + at % 2}")
    return make_task("files", f"t{at}").model_copy(update={"labels": labels})


@dataclass(frozen=True)
class Labelled:
    """An installation with a benchmark in WindowsAgentArena's form, and a run of all its tasks."""

    client: TestClient
    run: UUID


def play(made: World) -> UUID:
    with made.work() as session:
        here = OneTransaction(made.factory, made.store, session)
        here.benchmark(LoadedBenchmark(kind="waa", suite="waa", tasks=tuple(map(labelled, range(9)))), name="mine")
        worker, run = here.worker(slots=1), here.submit("random", "mine")
        while (claim := here.claim(worker)) is not None:
            score = SCORES[claim.task.key.name]
            finish(here, claim, Evaluation(score=score, measures={"score": score}), steps=1)
    made.roll_up()
    return run.id


@pytest.fixture(scope="module")
def scene(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Labelled]:
    with databases.copied(postgres_server) as url, world(url) as made:
        run = play(made)
        yield Labelled(client_of(made, tmp_path_factory.mktemp("data")), run)


@pytest.fixture(scope="module")
def asked(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, Labelled]]:
    """Another installation with the same run, whose cubes change."""
    with databases.copied(postgres_server) as url, world(url) as made:
        run = play(made)
        yield made, Labelled(client_of(made, tmp_path_factory.mktemp("data")), run)


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


class TestBenchmark:
    def test_labels_with_counts_without_those_of_one_value(self, scene: Labelled) -> None:
        labels = scene.client.get("/api/v1/benchmarks/mine").json()["labels"]
        assert labels == {
            "group": {"Coding": 3, "Office": 3, "Web": 3},
            "level": {"L1": 5, "L2": 4},
            "team": {"blue": 4, "red": 9},
        }
        text = scene.client.get("/benchmarks/mine", headers=PAGE).text
        assert text.count("<dt>group</dt>") == 1
        assert "<dt>feasible</dt>" not in text

    @pytest.mark.parametrize(
        ("where", "tasks"), [("level=L2", 4), ("level=L1&where=level=L2", 9), ("level=L2&where=group=Web", 2)]
    )
    def test_tasks_are_filtered(self, scene: Labelled, where: str, tasks: int) -> None:
        items = scene.client.get(f"/api/v1/benchmarks/mine/tasks?where={where}").json()["items"]
        assert len(items) == tasks
        text = scene.client.get(f"/benchmarks/mine?where={where}", headers=PAGE).text
        assert text.count('class="task-link"') == tasks

    def test_invalid_label_condition_is_refused(self, scene: Labelled) -> None:
        answer = scene.client.get("/api/v1/benchmarks/mine/tasks?where=level")
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_label_condition")

    def test_every_label_as_csv(self, scene: Labelled) -> None:
        rows = table(scene.client.get("/benchmarks/mine/labels.csv").text)
        assert {row["value"] for row in rows if row["task"] == "files/t1" and row["label"] == "team"} == {"red", "blue"}
        assert sum(row["label"] == "level" for row in rows) == 9


class TestRun:
    def test_a_cut_has_its_means(self, scene: Labelled) -> None:
        cut = scene.client.get(f"/api/v1/runs/{scene.run}/cut?label=team").json()
        means = {cell["value"]: cell["summary"]["mean_score"] for cell in cut["cells"]}
        blue = [score for name, score in SCORES.items() if int(name[1:]) % 2]
        assert means == {"blue": pytest.approx(fmean(blue)), "red": pytest.approx(fmean(SCORES.values()))}
        assert cut["as_of"] is not None

    def test_unknown_label_is_404(self, scene: Labelled) -> None:
        answer = scene.client.get(f"/api/v1/runs/{scene.run}/cut?label=persona")
        assert (answer.status_code, answer.json()["code"]) == (404, "label_not_found")

    def test_the_page_cuts_by_two_labels_and_filters(self, scene: Labelled) -> None:
        text = scene.client.get(f"/runs/{scene.run}?row=group&column=level", headers=PAGE).text
        assert "By group and level" in text
        assert "where=group%3DOffice&amp;where=level%3DL1#episodes" in text
        few = scene.client.get(f"/runs/{scene.run}?where=group=Web&where=level=L2", headers=PAGE).text
        assert few.count('class="task-link"') == 2

    def test_reading_computes_no_roll_up(self, scene: Labelled) -> None:
        before = scene.client.get(f"/api/v1/runs/{scene.run}/cut?label=level").json()["as_of"]
        scene.client.get("/leaderboards/mine/labels", headers=PAGE)
        assert scene.client.get(f"/api/v1/runs/{scene.run}/cut?label=level").json()["as_of"] == before

    def test_is_submitted_for_tasks_with_labels(self, scene: Labelled) -> None:
        body = {"benchmark": "mine", "agent": "noop", "where": ["level=L2", "group=Web"]}
        forecast = scene.client.post("/api/v1/runs/forecast", json=body).json()
        assert forecast["tasks"] == 2
        wrong = scene.client.post("/api/v1/runs", json={**body, "where": ["level=L9"]})
        assert (wrong.status_code, wrong.json()["code"]) == (422, "no_task_selected")
        form = "/runs/new?benchmark=mine&agent=noop&where=level%3DL2&where=group%3DWeb"
        text = scene.client.get(form, headers=PAGE).text
        assert text.count('name="where" value="level=L2" data-new-run-target="label" checked') == 1


class TestPairs:
    def test_workers_compute_a_pair_from_the_moment_that_somebody_asks(self, asked: tuple[World, Labelled]) -> None:
        made, scene = asked
        address = "/leaderboards/mine/labels?label=level&by=group"
        assert "Compute both together" in scene.client.get(address, headers=PAGE).text
        pair = {"label": "level", "by": "group"}
        answer = scene.client.post("/leaderboards/mine/label-pairs", data=pair, headers=PAGE, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, address)
        cut = scene.client.get("/api/v1/leaderboards/mine/pair-cut", params=pair).json()
        assert (cut["computed"], cut["stale"], cut["rows"][0]["cells"]) == (True, True, [])
        made.roll_up()
        cut = scene.client.get("/api/v1/leaderboards/mine/pair-cut", params=pair).json()
        assert (cut["stale"], cut["values"], cut["by_values"]) == (False, ["L1", "L2"], ["Coding", "Office", "Web"])
        means = {(each["value"], each["by_value"]): each["summary"]["mean_score"] for each in cut["rows"][0]["cells"]}
        assert means == {(level, group): {"Office": 1.0, "Web": 0.0, "Coding": 0.5}[group]
                         for level in ("L1", "L2") for group in GROUPS}  # fmt: skip
        tasks = {(each["value"], each["by_value"]): each["summary"]["tasks"] for each in cut["rows"][0]["cells"]}
        assert tasks == {("L1", "Office"): 2, ("L1", "Web"): 1, ("L1", "Coding"): 2,
                         ("L2", "Office"): 1, ("L2", "Web"): 2, ("L2", "Coding"): 1}  # fmt: skip

    def test_a_pair_is_read_from_either_side(self, asked: tuple[World, Labelled]) -> None:
        made, scene = asked
        scene.client.post("/api/v1/leaderboards/mine/label-pairs", json={"label": "team", "by": "level"})
        made.roll_up()
        run = scene.client.get(f"/api/v1/runs/{scene.run}/pair-cut?label=level&by=team").json()
        turned = scene.client.get(f"/api/v1/runs/{scene.run}/pair-cut?label=team&by=level").json()
        sizes = {(each["value"], each["by_value"]): each["summary"]["tasks"] for each in run["cells"]}
        assert sizes == {("L1", "red"): 5, ("L2", "red"): 4, ("L2", "blue"): 4}
        assert {(each["by_value"], each["value"]): each["summary"]["tasks"] for each in turned["cells"]} == sizes
        scores = [cell["summary"]["mean_score"] for cell in run["cells"] if cell["by_value"] == "blue"]
        assert scores == [pytest.approx(fmean(score for name, score in SCORES.items() if int(name[1:]) % 2))]
        text = scene.client.get("/leaderboards/mine/labels?label=team&by=level", headers=PAGE).text
        assert f"/runs/{scene.run}?where=team%3Dblue&amp;where=level%3DL2#episodes" in text
        rows = table(scene.client.get("/leaderboards/mine/labels.csv?label=team&by=level").text)
        assert {(row["value"], row["by_value"]): int(row["tasks"]) for row in rows} == {
            (team, level): number for (level, team), number in sizes.items()
        }

    def test_label_pair_is_removed(self, asked: tuple[World, Labelled]) -> None:
        made, scene = asked
        base, pair = "/api/v1/leaderboards/mine/label-pairs", {"label": "level", "by": "team"}
        scene.client.post(base, json=pair)
        assert scene.client.delete(base, params=pair).status_code == 204
        assert pair not in scene.client.get(base).json()["items"]
        made.roll_up()
        assert not scene.client.get(f"/api/v1/runs/{scene.run}/pair-cut", params=pair).json()["cells"]
        assert scene.client.delete(base, params=pair).status_code == 204

    @pytest.mark.parametrize(
        ("label", "by", "status", "code"),
        [("level", "level", 422, "invalid_label_pair"), ("level", "persona", 404, "label_not_found")],
    )
    def test_invalid_pairs_are_refused(  # noqa: PLR0913, PLR0917 - one parameter per part of the case
        self, scene: Labelled, label: str, by: str, status: int, code: str
    ) -> None:
        answer = scene.client.post("/api/v1/leaderboards/mine/label-pairs", json={"label": label, "by": by})
        assert (answer.status_code, answer.json()["code"]) == (status, code)
        page = scene.client.get(f"/leaderboards/mine/labels?label={label}&by={by}", headers=PAGE)
        assert page.status_code == status
        assert "Not shown." in page.text


class TestBoard:
    def test_board_is_cut_by_label(self, scene: Labelled) -> None:
        cut = scene.client.get("/api/v1/leaderboards/mine/cut?label=group").json()
        assert cut["values"] == ["Coding", "Office", "Web"]
        (row,) = cut["rows"]
        configuration, csv_row = (
            row["configuration"],
            table(scene.client.get("/leaderboards/mine/labels.csv?label=group").text)[0],
        )
        assert scene.client.get(f"/api/v1/configurations/{configuration['id']}").json()["name"] == configuration["name"]
        assert (csv_row["configuration"], csv_row["run"]) == (configuration["name"], str(scene.run))
        assert (row["runs"], "agent" in row, "agent" in csv_row) == ([str(scene.run)], False, False)
        assert {value: cell["summary"]["mean_score"] for value, cell in row["cells"].items()} == {
            "Office": 1.0,
            "Web": 0.0,
            "Coding": 0.5,
        }
        text = scene.client.get("/leaderboards/mine/labels?label=group", headers=PAGE).text
        assert f"/runs/{scene.run}?where=group%3DOffice#episodes" in text
        rows = table(scene.client.get("/leaderboards/mine/labels.csv?label=group").text)
        assert {row["value"]: float(row["mean_score"]) for row in rows} == {"Office": 1.0, "Web": 0.0, "Coding": 0.5}

    def test_unknown_label_page_is_404(self, scene: Labelled) -> None:
        answer = scene.client.get("/leaderboards/mine/labels?label=persona", headers=PAGE)
        assert answer.status_code == 404

    def test_table_matches_the_paper(self, scene: Labelled) -> None:
        text = scene.client.get("/leaderboards/mine/paper", headers=PAGE).text
        assert text.index("Navi (GPT-4V-1106)") < text.index("Measured here")
        (first, *_) = scene.client.get("/api/v1/leaderboards/mine/paper-tables").json()["tables"]
        assert first["columns"][:2] == ["Office", "Web Browser"]
        assert first["own"][0]["cells"][0]["value"] == 1.0
        rows = table(scene.client.get("/leaderboards/mine/paper.csv").text)
        own = {row["column"]: row["figure"] for row in rows if (row["table"], row["run"]) == ("waa-3", str(scene.run))}
        assert own == {"Office": "100.0", "Web Browser": "0.0", "Coding": "50.0", "Total": "50.0"}
        assert scene.client.get("/api/v1/leaderboards/mine/twins").json() is None


class TestPublished:
    def test_lists_five_suites_and_marks_imported_ones(self, scene: Labelled) -> None:
        suites = {suite["name"]: suite for suite in scene.client.get("/api/v1/published").json()["items"]}
        assert set(suites) == {"osworld", "waa", "omnibench", "windowsworld", "prosoftarena"}
        assert (suites["waa"]["benchmarks"], suites["osworld"]["benchmarks"]) == (["mine"], [])
        assert "not imported" in scene.client.get("/published", headers=PAGE).text

    @pytest.mark.parametrize("name", ["osworld", "waa", "omnibench", "windowsworld", "prosoftarena"])
    def test_figures_are_readable_without_an_import(self, scene: Labelled, name: str) -> None:
        suite = scene.client.get(f"/api/v1/published/{name}").json()
        assert sum(map(len, suite["results"].values())) == suite["figures"] > 0
        text = scene.client.get(f"/published/{name}", headers=PAGE).text
        assert "Measured here" not in text
        assert suite["how"] in text

    def test_tables_have_the_papers_digits_and_order(self, scene: Labelled) -> None:
        text = scene.client.get("/published/osworld", headers=PAGE).text
        start = text.index('id="osworld-5"')
        assert text.index("Mixtral-8x7B", start) < text.index("Llama-3-70B", start) < text.index("GPT-3.5", start)
        assert text.index(">12.50<", start) < text.index(">1.01<", start) < text.index(">4.79<", start)

    def test_unknown_suite_is_404(self, scene: Labelled) -> None:
        answer = scene.client.get("/api/v1/published/nothing")
        assert (answer.status_code, answer.json()["code"]) == (404, "suite_not_found")
