"""Runs in formats of other tools, and back: scores stay, and a missing result is never a 0."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from backend.db.models import Task
from backend.domain.run_formats.osworld_reader import read_results
from backend.services.benchmarks.quarantine import quarantine_task
from tests.factories.records import World
from tests.factories.run_format_schemas import validator
from tests.factories.scene import PageScene

RUNS = "/api/v1/runs"


def exported(client: TestClient, run: Any, form: str, more: str = "") -> zipfile.ZipFile:
    answer = client.get(f"{RUNS}/{run}/export?format={form}{more}")
    assert answer.status_code == 200, answer.text
    return zipfile.ZipFile(io.BytesIO(answer.content))


def episodes_of(client: TestClient, run: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"{RUNS}/{run}?include=episodes").json()["episodes"]
    return found


def counted(episode: dict[str, Any]) -> float | None:
    """Its score, if it counts for the agent: one task of the scene is in quarantine."""
    score: float | None = episode["score"]
    return None if episode["human_assisted"] or episode["task"] == "settings/large-text" else score


def test_no_format_gives_a_result_of_a_task_in_quarantine(installation: World, fresh: TestClient) -> None:
    worker, run = installation.worker(slots=1), installation.submit("random")
    while claim := installation.claim(worker):
        installation.score(claim)
    with installation.work() as session:
        _, actor = installation.who(session)
        task = session.scalars(select(Task).where(Task.name == "b")).one()
        quarantine_task(session, task.id, "its check is wrong", actor)
    with exported(fresh, run.id, "osworld") as archive:
        assert sorted(name.split("/")[-2] for name in archive.namelist() if name.endswith("result.txt")) == ["a", "c"]
        (lines,) = [archive.read(name) for name in archive.namelist() if name.endswith("/b/traj.jsonl")]
    assert "its task is in quarantine: its check is wrong" in json.loads(lines.splitlines()[-1])["Error"]
    with exported(fresh, run.id, "atif") as archive:
        scores = {name.split("/")[1]: json.loads(archive.read(name))["extra"]["score"]
                  for name in archive.namelist() if name.endswith("trajectory.json")}  # fmt: skip
    assert scores == {"a": 1.0, "b": None, "c": 1.0}
    with exported(fresh, run.id, "inspect") as archive:
        samples = [json.loads(archive.read(name)) for name in archive.namelist() if name.startswith("samples/")]
    assert sorted(bool(sample.get("scores")) for sample in samples) == [False, True, True]


class TestOsworld:
    def test_every_episode_has_a_folder_and_only_counted_ones_a_result(
        self, client: TestClient, scene: PageScene
    ) -> None:
        episodes = {each["task"]: each for each in episodes_of(client, scene.finished)}
        with exported(client, scene.finished, "osworld") as archive:
            names = archive.namelist()
            arguments = json.loads(archive.read(next(name for name in names if name.endswith("args.json"))))
            base = f"{arguments['action_space']}/{arguments['observation_type']}/{arguments['model']}"
            results = {
                "/".join(name.split("/")[-3:-1]): float(archive.read(name))
                for name in names
                if name.endswith("result.txt")
            }
            lost = next(each["task"] for each in episodes.values() if each["outcome"] == "lost")
            last = json.loads(archive.read(f"{base}/{lost}/traj.jsonl").splitlines()[-1])
        assert {"/".join(name.split("/")[3:5]) for name in names if name.endswith("traj.jsonl")} == set(episodes)
        assert results == {task: score for task, each in episodes.items() if (score := counted(each)) is not None}
        assert list(last) == ["Error"]

    def test_a_step_names_the_picture_after_it(self, client: TestClient, scene: PageScene) -> None:
        solved = client.get(f"/api/v1/episodes/{scene.solved}").json()
        with exported(client, scene.finished, "osworld") as archive:
            names = archive.namelist()
            folder = next(name for name in names if name.endswith(f"{solved['task']}/traj.jsonl")).rpartition("/")[0]
            rows = [json.loads(line) for line in archive.read(f"{folder}/traj.jsonl").splitlines()]
            pictures = {row["screenshot_file"] for row in rows if row["screenshot_file"]}
            assert max(row["step_num"] for row in rows) == solved["steps"]
            assert all(archive.read(f"{folder}/{name}").startswith(b"\x89PNG") for name in pictures)
        assert pictures == {
            name.rpartition("/")[2] for name in names if name.startswith(f"{folder}/step_") and name.endswith(".png")
        }
        assert pictures

    def test_pictures_can_be_omitted(self, client: TestClient, scene: PageScene) -> None:
        with exported(client, scene.finished, "osworld", "&pictures=false") as archive:
            assert not [name for name in archive.namelist() if name.endswith(".png")]

    def test_unknown_run_is_404(self, client: TestClient) -> None:
        answer = client.get(f"{RUNS}/00000000-0000-0000-0000-000000000000/export?format=osworld")
        assert (answer.status_code, answer.json()["code"]) == (404, "run_not_found")


class TestInspect:
    def test_every_episode_is_a_sample_and_losses_are_errors(self, client: TestClient, scene: PageScene) -> None:
        episodes = {each["task"]: each for each in episodes_of(client, scene.finished)}
        with exported(client, scene.finished, "inspect") as archive:
            samples = [json.loads(archive.read(name)) for name in archive.namelist() if name.startswith("samples/")]
            header = json.loads(archive.read("header.json"))
            summaries = json.loads(archive.read("summaries.json"))
            assert "_journal/start.json" in archive.namelist()
        scores = {each["id"]: each["scores"]["deskarena"]["value"] if each["scores"] else None for each in samples}
        assert scores == {task: counted(each) for task, each in episodes.items()}
        assert all((each["scores"] is None) == (each["error"] is not None) for each in samples)
        assert {each["id"] for each in summaries if not each["completed"]} == {
            task for task, score in scores.items() if score is None
        }
        numbers = [score for score in scores.values() if score is not None]
        mean = header["results"]["scores"][0]["metrics"]["mean"]["value"]
        assert mean == pytest.approx(sum(numbers) / len(numbers))
        validator("inspect").validate(header)
        for each in samples:
            validator("inspect", "EvalSample").validate(each)

    def test_screenshots_are_attachments(self, client: TestClient, scene: PageScene) -> None:
        task = client.get(f"/api/v1/episodes/{scene.solved}").json()["task"]
        with exported(client, scene.finished, "inspect") as archive:
            sample = json.loads(archive.read(f"samples/{task}_epoch_1.json"))
        images = [
            part["image"].removeprefix("attachment://")
            for message in sample["messages"]
            for part in (message["content"] if isinstance(message["content"], list) else ())
            if part["type"] == "image"
        ]
        assert images
        assert set(images) == set(sample["attachments"])


class TestAtif:
    def test_is_one_document_per_episode(self, client: TestClient, scene: PageScene) -> None:
        episodes = {each["task"]: each for each in episodes_of(client, scene.finished)}
        with exported(client, scene.finished, "atif") as archive:
            names = set(archive.namelist())
            documents = {
                name.rpartition("/")[0]: json.loads(archive.read(name))
                for name in names
                if name.endswith("trajectory.json")
            }
        assert {each["extra"]["task"]: each["extra"]["score"] for each in documents.values()} == {
            task: counted(each) for task, each in episodes.items()
        }
        for folder, document in documents.items():
            validator("atif").validate(document)
            extra, steps = document["extra"], document["steps"]
            assert (extra["score"] is None) == (extra["error"] is not None) == (steps[-1]["source"] == "system")
            assert [step["step_id"] for step in steps] == list(range(1, len(steps) + 1))
            assert all(f"{folder}/{path}" in names for path in paths(document))


def paths(document: Any) -> list[str]:
    """Pictures that a document names."""
    if isinstance(document, dict):
        own = [document["path"]] if "media_type" in document else []
        return [*own, *(path for inner in document.values() for path in paths(inner))]
    return [path for inner in document for path in paths(inner)] if isinstance(document, list) else []


def body(client: TestClient, folder: Path, **more: Any) -> Any:
    results = read_results(folder).model_dump(mode="json")
    return client.post(f"{RUNS}/import", json={"benchmark": "starter", "results": results, **more})


def example(root: Path, task: str, result: str | None, base: str = "computer_13/screenshot/gpt-5") -> None:
    folder = root / base / task
    folder.mkdir(parents=True)
    (folder / "traj.jsonl").write_text('{"step_num": 1, "action": "DONE"}\n')
    if result is not None:
        (folder / "result.txt").write_text(result)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Results of all three tasks of the installation's benchmark; one is missing."""
    folder = tmp_path / "results"
    for task, result in (("files/a", "1.0"), ("files/b", "0.25"), ("editor/c", None)):
        example(folder, task, result)
    return folder


class TestRoundTrip:
    def test_reimport_of_a_measured_run_preserves_scores(
        self, installation: World, fresh: TestClient, tmp_path: Path
    ) -> None:
        run, worker = installation.submit(), installation.worker()
        for number, score in enumerate((1.0, 0.25)):
            installation.score(installation.must_claim(worker), score, steps=number + 1)
        installation.lose(installation.must_claim(worker))
        with exported(fresh, run.id, "osworld") as archive:
            archive.extractall(tmp_path)
        copy = body(fresh, tmp_path).json()
        first, second = episodes_of(fresh, run.id), episodes_of(fresh, copy["id"])
        kept, read = (
            {
                (each["task"], each["score"], each["steps"], each["ended_by"])
                for each in rows
                if each["score"] is not None
            }
            for rows in (first, second)
        )
        assert read == kept
        assert all(ended_by for _, _, _, ended_by in kept)
        assert copy["counts"] | {"scored": 2, "lost": 1} == copy["counts"]

    def test_gives_the_same_scores(self, installation: World, fresh: TestClient, tmp_path: Path, results: Path) -> None:
        first = body(fresh, results, name="theirs").json()
        with exported(fresh, first["id"], "osworld") as archive:
            archive.extractall(tmp_path / "again")
        again = read_results(tmp_path / "again")
        assert {(each.task, each.repeat, each.score) for each in again.episodes} == {
            (each["task"], each["repeat"], each["score"]) for each in episodes_of(fresh, first["id"])
        }


class TestImport:
    def test_is_a_completed_run_with_its_origin(self, fresh: TestClient, results: Path) -> None:
        answer = body(fresh, results, name="theirs")
        run = answer.json()
        assert (answer.status_code, run["origin"], run["status"]) == (201, "outside", "completed")
        episodes = {each["task"]: each for each in episodes_of(fresh, run["id"])}
        assert {task: each["score"] for task, each in episodes.items()} == {
            "files/a": 1.0,
            "files/b": 0.25,
            "editor/c": None,
        }
        assert (episodes["editor/c"]["outcome"], episodes["editor/c"]["failure_code"]) == ("lost", "result_missing")
        assert (episodes["files/a"]["steps"], episodes["files/a"]["ended_by"]) == (1, "done")

    def test_every_page_can_show_it(self, installation: World, fresh: TestClient, results: Path) -> None:
        run = body(fresh, results).json()
        installation.roll_up()
        episode = episodes_of(fresh, run["id"])[0]
        configuration = run["configuration"]["id"]
        for page in (
            f"/runs/{run['id']}",
            "/runs",
            "/",
            "/leaderboards/starter",
            f"/configurations/{configuration}",
        ):
            answer = fresh.get(page)
            assert answer.status_code == 200, page
            if page != "/":
                assert 'data-origin="outside"' in answer.text, page
        for page in (f"/episodes/{episode['id']}", f"/compare?run={run['id']}", f"/runs/{run['id']}/failures"):
            assert fresh.get(page).status_code == 200, page
        assert fresh.get(f"{RUNS}/{run['id']}/export").status_code == 200

    def test_second_import_is_refused(self, fresh: TestClient, results: Path) -> None:
        assert body(fresh, results).status_code == 201
        again = body(fresh, results, name="another")
        assert (again.status_code, again.json()["code"]) == (409, "results_already_imported")

    def test_imported_run_cannot_be_retried(self, fresh: TestClient, results: Path) -> None:
        run = body(fresh, results).json()
        answer = fresh.post(f"{RUNS}/{run['id']}/retry")
        assert (answer.status_code, answer.json()["code"]) == (409, "run_not_measured_here")

    def test_unknown_tasks_are_listed_and_nothing_is_imported(self, fresh: TestClient, results: Path) -> None:
        for task in ("files/x", "nowhere/y"):
            example(results, task, "1.0")
        answer = body(fresh, results)
        assert (answer.status_code, answer.json()["code"]) == (422, "unknown_tasks")
        assert all(task in answer.json()["detail"] for task in ("files/x", "nowhere/y"))
        assert fresh.get(RUNS).json()["items"] == []

    def test_a_task_named_twice_is_refused(self, fresh: TestClient, results: Path) -> None:
        values = read_results(results).model_dump(mode="json")
        values["episodes"].append(values["episodes"][0])
        answer = fresh.post(f"{RUNS}/import", json={"benchmark": "starter", "results": values})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_results")


class TestBoard:
    def test_ranks_it_only_if_the_reader_asks(self, installation: World, fresh: TestClient, tmp_path: Path) -> None:
        for task in ("files/a", "files/b", "editor/c"):
            example(tmp_path / "full", task, "1.0")
        run = body(fresh, tmp_path / "full").json()
        own = installation.submit("random")
        worker = installation.worker()
        for _ in range(3):
            installation.score(installation.must_claim(worker), 0.5)
        installation.roll_up()
        board = fresh.get("/api/v1/leaderboards/starter").json()
        assert codes(board)[run["id"]] == ["outside_origin", "unknown_conditions"]
        assert board["conditions"]["key"] == next(
            row["conditions"]["key"] for row in board["rows"] if row["runs"][0] == str(own.id)
        )
        wide = fresh.get("/api/v1/leaderboards/starter?imported=true").json()
        assert codes(wide)[run["id"]] == ["unknown_conditions"]
        assert all(
            "step budget" in row["conditions"]["unknown_text"] for row in wide["rows"] if row["origin"] != own.origin
        )
        wide = fresh.get("/api/v1/leaderboards/starter?imported=true&unknown=true").json()
        ranks = {row["runs"][0]: row["rank"] for row in wide["rows"]}
        assert ranks[run["id"]] == 1
        shared = fresh.get("/api/v1/leaderboards/starter?common=true").json()
        assert {row["runs"][0]: row["rank"] for row in shared["rows"]}[run["id"]] is None

    @pytest.mark.parametrize(("steps", "expected"), [(15, []), (50, ["conditions"])])
    def test_rows_must_state_equal_conditions(
        self, installation: World, fresh: TestClient, tmp_path: Path, steps: int, expected: list[str]
    ) -> None:
        for task in ("files/a", "files/b", "editor/c"):
            example(tmp_path / "full", task, "1.0")
        arguments = {"max_steps": steps, "screen_width": 1920, "screen_height": 1080}
        (tmp_path / "full" / "computer_13/screenshot/gpt-5/args.json").write_text(json.dumps(arguments))
        run = body(fresh, tmp_path / "full").json()
        installation.submit("random", budget={"max_steps": 15})
        worker = installation.worker()
        for _ in range(3):
            installation.score(installation.must_claim(worker), 0.5)
        installation.roll_up()
        board = fresh.get("/api/v1/leaderboards/starter?imported=true").json()
        assert codes(board)[run["id"]] == expected


class TestComparison:
    def test_comparison_shows_unknown_conditions(self, installation: World, fresh: TestClient, results: Path) -> None:
        run, own = body(fresh, results).json(), installation.submit("random")
        compared = fresh.get(f"/api/v1/compare?run={own.id}&run={run['id']}").json()
        conditions = {each["name"]: each["values"][1] for each in compared["conditions"]}
        assert {conditions[name] for name in ("screen.width", "budget.max_seconds", "settle.quiet")} == {"unknown"}
        assert conditions["provider"] == "outside"
        assert "variant" not in conditions


def codes(board: dict[str, Any]) -> dict[str, list[str]]:
    """Why rows are not ranked, by their first run."""
    return {row["runs"][0]: [each["code"] for each in row["reasons"]] for row in board["rows"]}
