"""Own tasks over HTTP."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.factories.drafts import make_content
from tests.factories.records import World

API = "/api/v1/drafts"
SCORES = {"oracle": 1.0, "noop": 0.0, "always_fail": 0.0}


@pytest.fixture
def draft(fresh: TestClient) -> dict[str, Any]:
    """A whole draft of Ada's."""
    answer = fresh.post(API, json={"content": make_content().model_dump(mode="json"), "by": "ada"})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def done(answer: Any) -> Any:
    assert answer.is_success, answer.text
    return answer.json()


class TestApi:
    def test_from_the_first_word_to_a_run(self, installation: World, fresh: TestClient, draft: dict[str, Any]) -> None:
        path = f"{API}/{draft['id']}"
        started = done(fresh.post(f"{path}/try", json={}))
        assert (started["tried"]["done"], set(started["tried"]["runs"])) == (False, set(SCORES))
        assert fresh.post(f"{path}/submit", json={}).status_code == 409
        worker = installation.worker(slots=1)
        while (claim := installation.claim(worker)) is not None:
            installation.score(claim, SCORES[claim.config.agent])
        assert done(fresh.get(path))["tried"]["sound"] is True
        assert done(fresh.post(f"{path}/submit", json={}))["state"] == "in_review"
        assert fresh.post(f"{path}/approve", json={"version": 1, "by": "ada"}).status_code == 403
        for name in ("bob", "cleo"):
            found = done(fresh.post(f"{path}/approve", json={"version": 1, "by": name, "words": "Good."}))
        assert (found["state"], found["approvals"], [one["by"] for one in found["reviews"]]) == (
            "approved", 2, ["cleo", "bob"],
        )  # fmt: skip
        assert done(fresh.post(f"{API}/publish", json={})) == {
            "benchmark": "own", "version": 1, "tasks": 1, "drafts": [draft["id"]],
        }  # fmt: skip
        body = {"benchmark": "own", "agent": "oracle"}
        assert done(fresh.post("/api/v1/runs", json=body))["benchmark"] == "own"

    def test_editing_and_versions(self, fresh: TestClient, draft: dict[str, Any]) -> None:
        path = f"{API}/{draft['id']}"
        changed = {**draft["content"], "max_steps": 7}
        assert done(fresh.put(path, json={"content": changed, "by": "ada"}))["version"] == 2
        assert done(fresh.get(f"{path}/versions/1"))["content"] == draft["content"]
        assert fresh.get(f"{path}/versions/9").status_code == 404

    def test_a_rejection_needs_its_reason(self, fresh: TestClient, draft: dict[str, Any]) -> None:
        answer = fresh.post(f"{API}/{draft['id']}/reject", json={"version": 1, "by": "bob", "reason": "dull"})
        assert answer.status_code == 422
        assert answer.json()["path"] == "reason"

    def test_what_is_wrong_is_named(self, fresh: TestClient) -> None:
        answer = fresh.post(API, json={"content": {"domain": "a", "name": "b", "checks": [{"func": 1}]}})
        assert (answer.status_code, answer.json()["path"]) == (422, "checks.0.func")

    def test_files(self, fresh: TestClient, draft: dict[str, Any]) -> None:
        path = f"{API}/{draft['id']}"
        found = done(fresh.post(f"{path}/files", data={"name": "gold.txt"}, files={"file": ("x", b"milk")}))
        sha256 = found["content"]["assets"]["gold.txt"]
        assert fresh.get(f"/api/v1/artifacts/{sha256}").content == b"milk"
        assert fresh.post(f"{path}/files", data={"name": "../x"}, files={"file": ("x", b"milk")}).status_code == 422

    def test_lists(self, fresh: TestClient, draft: dict[str, Any]) -> None:
        assert [row["id"] for row in done(fresh.get(API, params={"words": "MILK"}))["items"]] == [draft["id"]]
        assert done(fresh.get(API, params={"state": ["approved", "rejected"]}))["items"] == []

    def test_forms(self, fresh: TestClient) -> None:
        found = done(fresh.get("/api/v1/task-forms/getter", params={"name": "vm_file"}))["items"]
        assert list(found[0]["parameters"]["properties"])[:2] == ["path", "dest"]
        assert len(done(fresh.get("/api/v1/task-forms/metric"))["items"]) > 100
