"""Evaluations and scoring again, over HTTP and on the episode's page."""

from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient

from backend.services import rescore
from tests.factories.records import World, evaluation


@pytest.fixture
def episode(installation: World) -> UUID:
    """A scored episode of the first task."""
    run = installation.submit(tasks=("files/a",))
    claim = installation.must_claim(installation.worker())
    installation.score(claim, 0.5)
    assert run.id == claim.run_id
    return claim.episode_id


def work(world: World, score: float) -> None:
    """What a worker does with the next request."""
    with world.work() as session:
        job = rescore.take(session)
        assert job is not None
        rescore.finish(session, job, evaluation(score), [], 0.1)


class TestEvaluations:
    def test_they_say_what_was_checked(self, fresh: TestClient, episode: UUID) -> None:
        (found,) = fresh.get(f"/api/v1/episodes/{episode}/evaluations").json()["items"]
        assert (found["score"], found["current"], found["task_id"]) == (0.5, True, None)
        assert "spec" in found

    def test_none(self, fresh: TestClient) -> None:
        assert fresh.get(f"/api/v1/episodes/{uuid4()}/evaluations").status_code == 404


class TestRescoreEpisode:
    def test_old_and_new_side_by_side(self, fresh: TestClient, installation: World, episode: UUID) -> None:
        asked = fresh.post(f"/api/v1/episodes/{episode}/rescore")
        assert asked.status_code == 202
        assert (asked.json()["state"], asked.json()["old_score"], asked.json()["new_score"]) == ("waiting", 0.5, None)
        again = fresh.post(f"/api/v1/episodes/{episode}/rescore", json={"task_set": "own"})
        assert again.json()["id"] == asked.json()["id"]
        work(installation, 1.0)
        (row,) = fresh.get(f"/api/v1/episodes/{episode}/rescores").json()["items"]
        assert (row["state"], row["old_score"], row["new_score"]) == ("done", 0.5, 1.0)
        both = fresh.get(f"/api/v1/episodes/{episode}/evaluations").json()["items"]
        assert [(one["score"], one["current"]) for one in both] == [(0.5, False), (1.0, True)]
        assert fresh.get(f"/api/v1/episodes/{episode}").json()["score"] == 1.0

    @pytest.mark.parametrize("body", [{"task_set": "first"}, {"other": 1}])
    def test_a_wrong_body(self, fresh: TestClient, episode: UUID, body: dict[str, object]) -> None:
        assert fresh.post(f"/api/v1/episodes/{episode}/rescore", json=body).status_code == 422

    def test_none(self, fresh: TestClient) -> None:
        assert fresh.post(f"/api/v1/episodes/{uuid4()}/rescore").status_code == 404


class TestRescoreRun:
    def test_every_scored_episode(self, fresh: TestClient, installation: World, episode: UUID) -> None:
        run = fresh.get(f"/api/v1/episodes/{episode}").json()["run_id"]
        asked = fresh.post(f"/api/v1/runs/{run}/rescore", json={"make_current": False}).json()
        assert [row["episode_id"] for row in asked["rescores"]] == [str(episode)]
        assert asked["refused"] == []
        work(installation, 1.0)
        page = fresh.get(f"/api/v1/runs/{run}/rescores?limit=1").json()
        assert page["items"][0]["new_score"] == 1.0
        assert fresh.get(page["next"]).json()["items"] == []
        assert fresh.get(f"/api/v1/episodes/{episode}").json()["score"] == 0.5

    def test_none(self, fresh: TestClient) -> None:
        assert fresh.post(f"/api/v1/runs/{uuid4()}/rescore").status_code == 404
        assert fresh.get(f"/api/v1/runs/{uuid4()}/rescores").status_code == 404


class TestPage:
    def test_the_button_asks_and_the_page_shows_both(
        self, fresh: TestClient, installation: World, episode: UUID
    ) -> None:
        assert "Score again" in fresh.get(f"/episodes/{episode}").text
        origin = {"Origin": "http://127.0.0.1:8000"}
        assert fresh.post(f"/episodes/{episode}/rescore", data={"by": "own"}, headers=origin).status_code == 303
        work(installation, 1.0)
        page = fresh.get(f"/episodes/{episode}").text
        assert "Scored again" in page
        assert "does not count" in page
        assert "Score by the newest task" not in page
