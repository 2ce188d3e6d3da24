"""Evaluations and scoring again, over HTTP and on the episode's page."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient

from backend.domain.model.task import LoadedBenchmark
from backend.services.attempts import reevaluation
from tests.factories.judging import judged_task
from tests.factories.records import World, capabilities, evaluation
from tests.integration.services.lifecycle.test_repeats import WHY, claimed, give_up, judge, unjudged

ORIGIN = {"Origin": "http://127.0.0.1:8000"}


@pytest.fixture
def episode(installation: World) -> UUID:
    """A scored episode of the first task."""
    run = installation.submit(tasks=("files/a",))
    claim = installation.must_claim(installation.worker())
    installation.score(claim, 0.5)
    assert run.id == claim.run_id
    return claim.episode_id


def work(world: World, score: float) -> None:
    """A worker's handling of the next request."""
    with world.work() as session:
        job = reevaluation.claim_request(session)
        assert job is not None
        reevaluation.finish(session, job, evaluation(score), [], 0.1)


class TestEvaluations:
    def test_list_shows_what_was_checked(self, fresh: TestClient, episode: UUID) -> None:
        (found,) = fresh.get(f"/api/v1/episodes/{episode}/evaluations").json()["items"]
        assert (found["score"], found["current"], found["task_id"]) == (0.5, True, None)
        assert "spec" in found

    def test_unknown_episode_is_404(self, fresh: TestClient) -> None:
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
    def test_invalid_body_is_422(self, fresh: TestClient, episode: UUID, body: dict[str, object]) -> None:
        assert fresh.post(f"/api/v1/episodes/{episode}/rescore", json=body).status_code == 422

    def test_unknown_episode_is_404(self, fresh: TestClient) -> None:
        assert fresh.post(f"/api/v1/episodes/{uuid4()}/rescore").status_code == 404


class TestRescoreRun:
    def test_rescores_every_scored_episode(self, fresh: TestClient, installation: World, episode: UUID) -> None:
        run = fresh.get(f"/api/v1/episodes/{episode}").json()["run_id"]
        asked = fresh.post(f"/api/v1/runs/{run}/rescore", json={"make_current": False}).json()
        assert [row["episode_id"] for row in asked["rescores"]] == [str(episode)]
        assert asked["refused"] == []
        work(installation, 1.0)
        page = fresh.get(f"/api/v1/runs/{run}/rescores?limit=1").json()
        assert page["items"][0]["new_score"] == 1.0
        assert fresh.get(page["next"]).json()["items"] == []
        assert fresh.get(f"/api/v1/episodes/{episode}").json()["score"] == 0.5

    def test_unknown_run_is_404(self, fresh: TestClient) -> None:
        assert fresh.post(f"/api/v1/runs/{uuid4()}/rescore").status_code == 404
        assert fresh.get(f"/api/v1/runs/{uuid4()}/rescores").status_code == 404


class TestPage:
    def test_the_button_asks_and_the_page_shows_both(
        self, fresh: TestClient, installation: World, episode: UUID
    ) -> None:
        assert 'value="own"' in fresh.get(f"/episodes/{episode}").text
        assert fresh.post(f"/episodes/{episode}/rescore", data={"by": "own"}, headers=ORIGIN).status_code == 303
        work(installation, 1.0)
        page = fresh.get(f"/episodes/{episode}").text
        assert 'id="rescores"' in page
        assert 'data-evaluation="not-counted"' in page
        assert 'value="latest"' not in page
        assert 'id="judge"' not in page


JUDGE = {"endpoint": "openai", "model": "judge-2", "votes": 3, "temperature": 0.3}


@pytest.fixture
def judged(installation: World) -> UUID:
    """A scored episode of a task that a model judges."""
    installation.benchmark(LoadedBenchmark(kind="starter", tasks=(judged_task(),)), name="judged")
    able = capabilities() | {"models": {"openai": {"api": "openai_chat", "ok": True, "reason": ""}}}
    worker = installation.worker(capabilities=able)
    installation.submit(benchmark="judged", judge={"model": "judge-1"})
    claim = installation.must_claim(worker)
    installation.score(claim, 0.5)
    return claim.episode_id


class TestAnotherJudge:
    def test_api_requests_another_judge(self, fresh: TestClient, judged: UUID) -> None:
        asked = fresh.post(f"/api/v1/episodes/{judged}/rescore", json={"judge": JUDGE})
        assert asked.status_code == 202
        assert {name: asked.json()["judge"][name] for name in JUDGE} == JUDGE
        assert not asked.json()["make_current"]
        same = fresh.post(f"/api/v1/episodes/{judged}/rescore", json={"judge": JUDGE})
        other = fresh.post(f"/api/v1/episodes/{judged}/rescore", json={"judge": JUDGE | {"votes": 1}})
        assert same.json()["id"] == asked.json()["id"] != other.json()["id"]

    @pytest.mark.parametrize(
        ("judge", "status"), [({"model": "m", "votes": 2}, 422), ({"model": "m", "endpoint": "nowhere"}, 422)]
    )
    def test_unknown_judge_is_refused(
        self, fresh: TestClient, judged: UUID, judge: dict[str, Any], status: int
    ) -> None:
        assert fresh.post(f"/api/v1/episodes/{judged}/rescore", json={"judge": judge}).status_code == status

    def test_page_requests_another_judge(self, fresh: TestClient, installation: World, judged: UUID) -> None:
        assert 'id="judge"' in fresh.get(f"/episodes/{judged}").text
        typed = {f"judge_{name}": str(value) for name, value in JUDGE.items()}
        assert fresh.post(f"/episodes/{judged}/rescore", data=typed, headers=ORIGIN).status_code == 303
        page = fresh.get(f"/episodes/{judged}").text
        assert "judge-2 (openai), 3 votes, temperature 0.3" in page
        wrong = fresh.post(f"/episodes/{judged}/rescore", data=typed | {"judge_votes": "2"}, headers=ORIGIN)
        assert wrong.status_code == 422


class TestWithoutVerdict:
    def test_page_shows_the_pending_retry_and_then_its_result(self, fresh: TestClient, installation: World) -> None:
        claim = claimed(installation)
        unjudged(installation, claim)
        page = fresh.get(f"/episodes/{claim.episode_id}").text
        assert "the evaluation is repeated after 5 s" in page
        assert 'data-evaluation="failed"' in page
        assert WHY in page
        (kept,) = fresh.get(f"/api/v1/episodes/{claim.episode_id}/evaluations").json()["items"]
        assert (kept["failure"], kept["score"], kept["current"]) == (WHY, None, False)
        judge(installation)
        page = fresh.get(f"/episodes/{claim.episode_id}").text
        assert 'data-evaluation="repeated"' in page
        (row,) = fresh.get(f"/api/v1/episodes/{claim.episode_id}/rescores").json()["items"]
        assert (row["old_score"], row["new_score"], row["state"]) == (None, 1.0, "done")

    def test_episode_can_be_rescored_after_the_last_retry(self, fresh: TestClient, installation: World) -> None:
        claim = claimed(installation)
        unjudged(installation, claim)
        give_up(installation)
        assert 'value="own"' in fresh.get(f"/episodes/{claim.episode_id}").text
        asked = fresh.post(f"/api/v1/episodes/{claim.episode_id}/rescore").json()
        assert (asked["old_score"], asked["make_current"], asked["state"]) == (None, True, "waiting")
        again = fresh.post(f"/api/v1/episodes/{claim.episode_id}/rescore")
        assert again.status_code == 409
