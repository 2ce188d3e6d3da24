import io
import json
import time
import zipfile
from threading import Thread
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient

from backend.web.export import run_tables
from tests.factories.records import World
from tests.factories.scene import PageScene

BODY = {"benchmark": "starter", "agent": "noop", "name": "nightly"}


def submit(client: TestClient, **more: object) -> str:
    """A run's id."""
    answer = client.post("/api/v1/runs", json={**BODY, **more})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


class TestSubmit:
    def test_returns_the_run(self, fresh: TestClient) -> None:
        answer = fresh.post("/api/v1/runs", json=BODY)
        run = answer.json()
        assert answer.status_code == 201
        assert answer.headers["location"] == f"/api/v1/runs/{run['id']}"
        assert (run["status"], run["agent"], run["benchmark"], run["task_set"]["version"]) == (
            "queued", "noop", "starter", 1,
        )  # fmt: skip
        assert run["counts"]["waiting"] == 3
        assert run["summary"]["success_rate"] is None

    def test_run_is_committed_before_the_response(self, fresh: TestClient, installation: World) -> None:
        run_id = submit(fresh)
        with installation.work() as session:
            from sqlalchemy import text

            assert session.scalar(text("SELECT count(*) FROM run WHERE id = :id"), {"id": run_id}) == 1

    @pytest.mark.parametrize(
        ("change", "status", "path"),
        [
            ({"benchmark": "nothing"}, 404, ""),
            ({"agent": "nobody"}, 422, "agent"),
            ({"provider": "cloud"}, 422, "provider"),
            ({"params": {"sped": 1}}, 422, "params.sped"),
            ({"tasks": ["nothing/*"]}, 422, "tasks.0"),
            ({"budget": {"max_steps": 0}}, 422, "budget.max_steps"),
            ({"repeats": 1000}, 422, "repeats"),
            ({"tpyo": 1}, 422, "tpyo"),
        ],
    )
    def test_invalid_input_is_reported_and_starts_nothing(
        self, fresh: TestClient, change: dict[str, object], status: int, path: str
    ) -> None:
        answer = fresh.post("/api/v1/runs", json={**BODY, **change})
        problem = answer.json()
        assert (answer.status_code, problem["path"]) == (status, path)
        assert answer.headers["content-type"] == "application/problem+json"
        assert problem["detail"]
        assert fresh.get("/api/v1/runs").json()["items"] == []


class TestForecast:
    def test_forecast_starts_nothing(self, fresh: TestClient) -> None:
        found = fresh.post("/api/v1/runs/forecast", json={**BODY, "repeats": 2}).json()
        assert (found["episodes"], found["tasks"], found["slots"]) == (6, 3, 2)
        assert found["detectable_difference"] == pytest.approx(0.81, abs=0.01)
        assert found["seconds"] is None
        assert fresh.get("/api/v1/runs").json()["items"] == []

    def test_forecast_reports_problems(self, fresh: TestClient) -> None:
        found = fresh.post("/api/v1/runs/forecast", json={**BODY, "agent": "nobody"}).json()
        assert [problem["path"] for problem in found["problems"]] == ["agent"]

    def test_learns_from_the_past(self, client: TestClient) -> None:
        found = client.post("/api/v1/runs/forecast", json={"benchmark": "starter", "agent": "always_fail"}).json()
        assert found["seconds"] > 0
        assert found["not_runnable"][0] == {
            "task": found["not_runnable"][0]["task"],
            "reason": "not installed on local desktops: localc",
            "reason_code": "programs_not_installed",
        }


class TestList:
    def test_newest_first_in_parts(self, client: TestClient) -> None:
        whole = [run["id"] for run in client.get("/api/v1/runs").json()["items"]]
        seen: list[str] = []
        address: str | None = "/api/v1/runs?limit=3"
        while address:
            page = client.get(address).json()
            assert len(page["items"]) <= 3
            seen += [run["id"] for run in page["items"]]
            address = page["next"]
        assert seen == whole == sorted(whole, reverse=True)

    def test_list_is_filtered(self, client: TestClient) -> None:
        found = client.get("/api/v1/runs?agent=navi&status=completed&benchmark=starter").json()["items"]
        assert [run["agent"] for run in found] == ["navi"]

    @pytest.mark.parametrize("query", ["limit=0", "limit=501", "status=odd", "cursor=nonsense"])
    def test_invalid_parameters_are_422(self, client: TestClient, query: str) -> None:
        assert client.get(f"/api/v1/runs?{query}").status_code == 422


class TestShow:
    def test_run_includes_its_episodes_on_request(self, client: TestClient, scene: PageScene) -> None:
        run = client.get(f"/api/v1/runs/{scene.finished}?include=episodes").json()
        episode = next(item for item in run["episodes"] if item["id"] == str(scene.solved))
        assert len(run["episodes"]) == 26
        assert (episode["outcome"], episode["ended_by"], episode["score"], episode["solved"]) == (
            "scored", "done", 1.0, True,
        )  # fmt: skip
        assert (episode["attempts"], episode["domain"], episode["difficulty"]) == (1, "files", "easy")
        assert episode["seconds"].keys() >= {"reset", "setup", "agent", "evaluation"}

    def test_the_summary_hides_nothing(self, client: TestClient, scene: PageScene) -> None:
        run = client.get(f"/api/v1/runs/{scene.finished}").json()
        found = run["summary"]
        assert sum(run["counts"].values()) == found["episodes"] == 26
        assert found["counts"]["lost"] == found["lost"]["guest"] == 1
        assert found["success_rate"] == pytest.approx(found["solved"] / 22 if found["counts"]["scored"] == 22 else -1)
        low, high = found["success_interval"]
        assert low < found["success_rate"] < high
        assert found["lower_bound_success"] == pytest.approx(found["solved"] / 23)
        assert found["counts"]["quarantined"] == 1
        assert "2 not runnable here" in found["counts_text"]
        assert run["episodes"] is None

    def test_unknown_run_is_404(self, client: TestClient) -> None:
        assert client.get(f"/api/v1/runs/{uuid4()}").status_code == 404
        assert client.get("/api/v1/runs/17").status_code == 422


class TestWait:
    def test_ended_run_returns_immediately(self, client: TestClient, scene: PageScene) -> None:
        began = time.monotonic()
        answer = client.get(f"/api/v1/runs/{scene.finished}", headers={"Prefer": "wait=60"})
        assert answer.json()["status"] == "completed"
        assert answer.headers["preference-applied"] == "wait=60"
        assert time.monotonic() - began < 30

    def test_running_run_returns_after_the_wait(self, client: TestClient, scene: PageScene) -> None:
        answer = client.get(f"/api/v1/runs/{scene.live}", headers={"Prefer": "respond-async, wait=1"})
        assert answer.json()["status"] == "running"

    def test_wait_returns_when_the_run_ends(self, fresh: TestClient) -> None:
        run_id = submit(fresh)
        cancel = Thread(target=lambda: fresh.post(f"/api/v1/runs/{run_id}/cancel"))
        cancel.start()
        answer = fresh.get(f"/api/v1/runs/{run_id}", headers={"Prefer": "wait=60"})
        cancel.join()
        assert answer.json()["status"] == "cancelled"


class TestCommands:
    def test_pause_resume_cancel(self, fresh: TestClient) -> None:
        run_id = submit(fresh)
        said = [fresh.post(f"/api/v1/runs/{run_id}/{word}").json() for word in ("pause", "pause", "resume", "cancel")]
        assert [(item["status"], item["episodes"]) for item in said] == [
            ("paused", 3), ("paused", 3), ("queued", 3), ("cancelled", 3),
        ]  # fmt: skip

    def test_illegal_transition_is_a_conflict(self, fresh: TestClient) -> None:
        run_id = submit(fresh)
        fresh.post(f"/api/v1/runs/{run_id}/cancel")
        answer = fresh.post(f"/api/v1/runs/{run_id}/resume")
        assert answer.status_code == 409

    def test_open_run_accepts_episodes_until_closed(self, fresh: TestClient) -> None:
        run_id = submit(fresh, accepts_episodes=True, tasks=["files/*"])
        more = fresh.post(f"/api/v1/runs/{run_id}/episodes", json={"tasks": ["editor/*"]})
        assert (more.status_code, more.json()["episodes"]) == (201, 1)
        assert fresh.post(f"/api/v1/runs/{run_id}/close").status_code == 200
        assert fresh.post(f"/api/v1/runs/{run_id}/episodes", json={}).status_code == 409

    def test_retry_brings_lost_episodes_back(self, fresh: TestClient, installation: World) -> None:
        run_id = submit(fresh, tasks=["editor/c"])
        worker = installation.worker("w2")
        while (claim := installation.claim(worker)) is not None:
            installation.lose(claim)
        assert fresh.get(f"/api/v1/runs/{run_id}").json()["counts"]["lost"] == 1
        none = fresh.post(f"/api/v1/runs/{run_id}/retry", json={"failure_classes": ["cluster"]}).json()
        some = fresh.post(f"/api/v1/runs/{run_id}/retry").json()
        assert (none["episodes"], some["episodes"], some["status"]) == (0, 1, "running")


class TestEpisodes:
    def test_episodes_are_filtered_and_paged(self, client: TestClient, scene: PageScene) -> None:
        base = f"/api/v1/runs/{scene.finished}/episodes"
        page = client.get(f"{base}?domain=files&limit=2").json()
        rest = client.get(page["next"]).json()
        assert "domain=files" in page["next"]
        assert {item["domain"] for item in page["items"] + rest["items"]} == {"files"}
        assert len(client.get(f"{base}?difficulty=unlabelled").json()["items"]) == 1
        assert [item["id"] for item in client.get(f"{base}?state=lost").json()["items"]] == [str(scene.lost)]


class TestEvents:
    def test_after_a_number_without_a_gap(self, client: TestClient, scene: PageScene) -> None:
        page = client.get(f"/api/v1/runs/{scene.finished}/events?after=3&limit=4").json()
        assert [event["seq"] for event in page["items"]] == [4, 5, 6, 7]
        assert client.get(page["next"]).json()["items"][0]["seq"] == 8

    def test_the_first_is_the_submission(self, client: TestClient, scene: PageScene) -> None:
        first = client.get(f"/api/v1/runs/{scene.finished}/events?limit=1").json()["items"][0]
        assert (first["kind"], first["data"]["episodes"]) == ("run_submitted", 26)


class TestExport:
    def test_export_has_the_run_and_every_episode_as_json_lines(
        self, client: TestClient, scene: PageScene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(run_tables, "TOGETHER", 7)
        answer = client.get(f"/api/v1/runs/{scene.finished}/export")
        lines = [json.loads(line) for line in answer.text.splitlines()]
        assert answer.headers["content-disposition"].startswith("attachment")
        assert lines[0]["kind"] == "run"
        episodes = [line["id"] for line in lines if line["kind"] == "episode"]
        assert (len(episodes), len(set(episodes))) == (26, 26)
        owners = [line["id"] if line["kind"] == "episode" else line["episode_id"] for line in lines[1:]]
        assert list(dict.fromkeys(owners)) == episodes
        assert all(line["steps"] for line in lines if line["kind"] == "attempt" and line["state"] == "scored")

    def test_zip_with_a_table_of_episodes(self, client: TestClient, scene: PageScene) -> None:
        answer = client.get(f"/api/v1/runs/{scene.finished}/export?format=zip")
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            table = archive.read("episodes.csv").decode().splitlines()
        assert len(table) == 27
        assert table[0].startswith("id,task,domain")
