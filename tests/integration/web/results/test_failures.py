"""The page of a run's failures, the form on an episode's page, REST and CSV."""

from uuid import UUID

from fastapi.testclient import TestClient

from backend.domain.judging.failure_labels import LABELS
from backend.services.results.views.failures import KEYBOARD
from tests.factories.records import World

PAGE = {"Accept": "text/html"}
OWN = {"Origin": "http://127.0.0.1:8000"}


def failed(installation: World) -> tuple[UUID, list[UUID]]:
    """A run with two failed episodes and a solved one."""
    worker, run = installation.worker(), installation.submit("random")
    found = []
    for score in (0.0, 1.0, 0.5):
        claim = installation.must_claim(worker)
        installation.score(claim, score)
        if score < 1:
            found.append(claim.episode_id)
    return run.id, found


class TestFailures:
    def test_every_label_has_a_key_of_its_own(self) -> None:
        assert len(set(KEYBOARD)) == len(LABELS)
        assert set(KEYBOARD).isdisjoint("jkns/?")

    def test_a_person_judges_the_sample_one_after_another(self, installation: World, fresh: TestClient) -> None:
        run, episodes = failed(installation)
        text = fresh.get(f"/runs/{run}/failures?sample=9&person=anna", headers=PAGE).text
        assert "2 of 2 failed episodes sampled" in text
        assert "Hallucinatory success" in text
        order = sorted(episodes, key=lambda one: text.index(f"/episodes/{one}?sample=9&amp;seed=0&amp;person=anna"))
        form = {"person": "anna", "labels": ["grounding", "repeated"], "sample": "9", "seed": "0"}
        answer = fresh.post(f"/episodes/{order[0]}/failures", data=form, headers=OWN)
        assert answer.headers["location"] == f"/episodes/{order[1]}?person=anna&sample=9&seed=0#why"
        last = fresh.post(f"/episodes/{order[1]}/failures", data={**form, "labels": []}, headers=OWN)
        assert last.headers["location"] == f"/runs/{run}/failures?person=anna&sample=9&seed=0"
        assert "; 2 labelled by people" in fresh.get(last.headers["location"], headers=PAGE).text

    def test_others_are_hidden_until_one_has_judged(self, installation: World, fresh: TestClient) -> None:
        _, (episode, _) = failed(installation)
        body = {"person": "anna", "labels": ["planning"], "note": "never opened the dialog of #step-1"}
        assert fresh.put(f"/api/v1/episodes/{episode}/failure-labels", json=body).status_code == 200
        text = fresh.get(f"/episodes/{episode}?person=ben", headers=PAGE).text
        assert "never opened the dialog" not in text
        assert "1 other person has labelled it" in text
        fresh.put(f"/api/v1/episodes/{episode}/failure-labels", json={"person": "ben", "labels": []})
        text = fresh.get(f"/episodes/{episode}?person=ben", headers=PAGE).text
        assert f'never opened the dialog of <a href="/episodes/{episode}?step=1">#step-1</a>' in text

    def test_api_lists_the_sample_and_refuses_unknown_labels(self, installation: World, fresh: TestClient) -> None:
        run, (episode, _) = failed(installation)
        found = fresh.get(f"/api/v1/runs/{run}/failure-sample?sample=1&seed=4").json()
        assert (found["failed"], len(found["episodes"]), found["judged"]) == (2, 1, 0)
        assert found["episodes"][0]["suggested"][0]["label"] == "repeated"
        assert set(found["labels"]) == {one.key for one in LABELS}
        wrong = fresh.put(f"/api/v1/episodes/{episode}/failure-labels", json={"person": "anna", "labels": ["x"]})
        assert wrong.status_code == 422

    def test_chart_and_csv_tables_agree(self, installation: World, fresh: TestClient) -> None:
        run, (episode, _) = failed(installation)
        fresh.put(
            f"/api/v1/episodes/{episode}/failure-labels",
            json={"person": "anna", "labels": ["planning"], "note": "=1+1"},
        )
        figure = fresh.get(f"/runs/{run}/failures.json?theme=dark").json()
        assert [series["name"] for series in figure["data"]] == ["people, n = 1", "rules, n = 2"]
        shares = fresh.get(f"/runs/{run}/failures/shares.csv").text.splitlines()
        assert shares[0] == "label,title,by,count,n,share,low,high"
        assert any(line.startswith("planning,Planning error,people,1,1,1.0") for line in shares)
        labels = fresh.get(f"/runs/{run}/failures/labels.csv").text.splitlines()
        assert len(labels) == 1 + 2
        assert any(line.endswith(",anna,planning,,repeated hallucinated,'=1+1") for line in labels)

    def test_a_solved_episode_has_no_form(self, installation: World, fresh: TestClient) -> None:
        failed(installation)
        solved = fresh.get("/api/v1/runs").json()["items"][0]["id"]
        rows = fresh.get(f"/api/v1/runs/{solved}/episodes?limit=9").json()["items"]
        (done,) = [row["id"] for row in rows if row["score"] == 1.0]
        assert 'id="why"' not in fresh.get(f"/episodes/{done}", headers=PAGE).text
