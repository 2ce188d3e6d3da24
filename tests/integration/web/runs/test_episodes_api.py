import io
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from PIL import Image

from tests.factories.records import World, stored
from tests.factories.scene import HOSTILE, PageScene


class TestEpisode:
    def test_counts_the_steps_of_the_attempt_under_way(self, fresh: TestClient, installation: World) -> None:
        worker, run = installation.worker(slots=2), installation.submit(tasks=("files/?",))
        lost, goes_on = installation.must_claim(worker), installation.must_claim(worker)
        for claim, steps in ((lost, 2), (goes_on, 3)):
            installation.begin(claim)
            for index in range(steps):
                installation.step(claim, index)

        def told() -> dict[str, int]:
            rows = fresh.get(f"/api/v1/runs/{run.id}?include=episodes").json()["episodes"]
            found = {row["id"]: row["steps"] for row in rows}
            assert found == {id_: fresh.get(f"/api/v1/episodes/{id_}").json()["steps"] for id_ in found}
            return found

        assert told() == {str(lost.episode_id): 2, str(goes_on.episode_id): 3}
        installation.lose(lost)
        assert told()[str(lost.episode_id)] == 0  # It begins anew.


class TestAttempts:
    def test_the_lost_ones_are_shown_too(self, client: TestClient, scene: PageScene) -> None:
        episode = client.get(f"/api/v1/episodes/{scene.lost}").json()
        found = client.get(f"/api/v1/episodes/{scene.lost}/attempts").json()["items"]
        assert episode["attempts"] == len(found) == 2  # A loss without a known cause is tried again once.
        assert {attempt["failure_class"] for attempt in found} == {"guest"}
        assert episode["flagged"]

    def test_attempts_include_evaluation_and_evidence(self, client: TestClient, scene: PageScene) -> None:
        (attempt,) = client.get(f"/api/v1/episodes/{scene.solved}/attempts").json()["items"]
        (evaluation,) = attempt["evaluations"]
        assert attempt["slot"] == "bench-01 · local 0"
        assert evaluation["metrics"][0]["reasons"] == ["the text is as expected"]
        assert {item["role"]: item["sha256"] is None for item in evaluation["evidence"]} == {
            "result": False, "expected": True,
        }  # fmt: skip
        assert client.get(f"/api/v1/attempts/{attempt['id']}").json() == attempt


class TestSteps:
    def test_steps_are_paged(self, client: TestClient, scene: PageScene) -> None:
        (attempt,) = client.get(f"/api/v1/episodes/{scene.solved}/attempts").json()["items"]
        page = client.get(f"/api/v1/attempts/{attempt['id']}/steps?limit=2").json()
        rest = client.get(page["next"]).json()["items"]
        steps = page["items"] + rest
        assert [step["index"] for step in steps] == list(range(len(steps)))
        assert steps[0]["actions"][0]["type"] == "CLICK"
        assert steps[-1]["results"] == [{"final": True}]

    def test_hostile_words_come_as_they_are(self, client: TestClient, scene: PageScene) -> None:
        (attempt,) = client.get(f"/api/v1/episodes/{scene.hostile}/attempts").json()["items"]
        answer = client.get(f"/api/v1/attempts/{attempt['id']}/steps")
        assert answer.json()["items"][0]["explanation"] == HOSTILE
        assert answer.headers["content-type"] == "application/json"

    @pytest.mark.parametrize("path", ["episodes/{}", "episodes/{}/attempts", "attempts/{}", "attempts/{}/steps"])
    def test_unknown_attempt_is_404(self, client: TestClient, path: str) -> None:
        assert client.get(f"/api/v1/{path.format(uuid4())}").status_code == 404


class TestArtifacts:
    def test_a_picture_is_shown(self, client: TestClient, scene: PageScene) -> None:
        (attempt,) = client.get(f"/api/v1/episodes/{scene.solved}/attempts").json()["items"]
        step = client.get(f"/api/v1/attempts/{attempt['id']}/steps").json()["items"][0]
        answer = client.get(step["frame"]["url"])
        assert (answer.headers["content-type"], answer.headers["content-disposition"]) == ("image/jpeg", "inline")
        assert answer.content.startswith(b"\xff\xd8")
        assert "immutable" in answer.headers["cache-control"]

    def test_guest_content_is_downloaded_only(self, client: TestClient, scene: PageScene) -> None:
        (attempt,) = client.get(f"/api/v1/episodes/{scene.solved}/attempts").json()["items"]
        evidence = next(item for item in attempt["evaluations"][0]["evidence"] if item["url"])
        answer = client.get(evidence["url"])
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in answer.headers["content-security-policy"]

    def test_a_tree_is_text_and_never_a_page(self, client: TestClient, scene: PageScene) -> None:
        (attempt,) = client.get(f"/api/v1/episodes/{scene.solved}/attempts").json()["items"]
        step = client.get(f"/api/v1/attempts/{attempt['id']}/steps").json()["items"][0]
        answer = client.get(step["a11y"]["url"])
        assert answer.headers["content-type"].startswith("text/plain")
        assert answer.headers["content-disposition"].startswith("attachment")

    def test_bytes_that_only_claim_to_be_a_picture_are_not_shown(self, fresh: TestClient, installation: World) -> None:
        installation.submit("noop")
        claim = installation.must_claim(installation.worker("w2"))
        installation.run_to_evaluation(claim, steps=0)
        installation.step(claim, 0, picture=b"<html><script>1</script>")
        steps = fresh.get(f"/api/v1/attempts/{claim.attempt_id}/steps").json()["items"]
        answer = fresh.get(steps[0]["frame"]["url"])
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"].startswith("attachment")
        small = fresh.get(steps[0]["frame"]["url"] + "/thumbnail")
        assert (small.status_code, small.json()["code"]) == (404, "artifact_not_a_picture")

    def test_thumbnail_is_small_and_cached(self, client: TestClient, scene: PageScene) -> None:
        (attempt,) = client.get(f"/api/v1/episodes/{scene.solved}/attempts").json()["items"]
        step = client.get(f"/api/v1/attempts/{attempt['id']}/steps").json()["items"][0]
        whole = client.get(step["frame"]["url"])
        sizes = []
        for width in (160, 480):
            answer = client.get(f"{step['frame']['url']}/thumbnail?width={width}")
            assert (answer.headers["content-type"], "immutable" in answer.headers["cache-control"]) == (
                "image/jpeg",
                True,
            )
            assert Image.open(io.BytesIO(answer.content)).size == (width, width * 9 // 16)
            sizes.append(len(answer.content))
        assert sizes[0] < sizes[1] < len(whole.content) / 2
        assert client.get(f"{step['frame']['url']}/thumbnail?width=4000").status_code == 422
        assert client.get(f"{step['a11y']['url']}/thumbnail").status_code == 404

    def test_unreferenced_artifacts_are_not_readable(self, fresh: TestClient, installation: World) -> None:
        with installation.work() as session:
            sha256 = stored(session, installation.store, b"secret")
        assert fresh.get(f"/api/v1/artifacts/{sha256}").status_code == 404

    @pytest.mark.parametrize("name", ["../../etc/passwd", "abc", "A" * 64])
    def test_invalid_hash_is_refused(self, client: TestClient, name: str) -> None:
        assert client.get(f"/api/v1/artifacts/{name}").status_code in {404, 422}
