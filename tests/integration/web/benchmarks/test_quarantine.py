"""Quarantine by REST and on the task's page."""

from fastapi.testclient import TestClient

BODY = {"reason": "the checker fails on every second day", "by": "ada"}


def task_of(client: TestClient) -> str:
    return str(client.get("/api/v1/benchmarks/starter/tasks").json()["items"][0]["id"])


class TestApi:
    def test_set_list_and_lift(self, fresh: TestClient) -> None:
        task = task_of(fresh)
        entry = fresh.post(f"/api/v1/tasks/{task}/quarantine", json=BODY)
        assert (entry.status_code, entry.json()["set_by"], entry.json()["task_id"]) == (201, "ada", task)
        assert fresh.get("/api/v1/quarantine?benchmark=starter").json()["items"] == [entry.json()]
        assert fresh.get("/api/v1/quarantine?benchmark=other").json()["items"] == []
        assert fresh.get(f"/api/v1/tasks/{task}").json()["quarantined"] == BODY["reason"]
        again = fresh.post(f"/api/v1/tasks/{task}/quarantine", json=BODY)
        assert (again.status_code, again.json()["code"]) == (409, "already_quarantined")
        lifted = fresh.post(f"/api/v1/tasks/{task}/quarantine/lift", json={"reason": "mended"}).json()
        assert (lifted["lifted_by"], lifted["lift_reason"]) == ("local", "mended")
        assert fresh.get("/api/v1/quarantine").json()["items"] == []
        assert fresh.post(f"/api/v1/tasks/{task}/quarantine/lift", json=BODY).json()["code"] == "not_quarantined"

    def test_a_reason_is_needed(self, fresh: TestClient) -> None:
        answer = fresh.post(f"/api/v1/tasks/{task_of(fresh)}/quarantine", json={"reason": " "})
        assert (answer.status_code, answer.json()["path"]) == (422, "reason")


class TestPage:
    def test_quarantine_is_set_and_lifted_with_a_name(self, fresh: TestClient) -> None:
        task = task_of(fresh)
        fresh.cookies.set("deskarena_person", "ada")
        answer = fresh.post(f"/tasks/{task}/quarantine", data={"reason": "<b>wrong</b> checker"})
        assert answer.status_code == 303
        page = fresh.get(f"/tasks/{task}").text
        assert "&lt;b&gt;wrong&lt;/b&gt; checker" in page
        assert "by ada" in page
        assert fresh.post(f"/tasks/{task}/quarantine/lift", data={"reason": "mended"}).status_code == 303
        assert f'action="/tasks/{task}/quarantine"' in fresh.get(f"/tasks/{task}").text
