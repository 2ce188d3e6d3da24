"""Priority, limits, quotas, weights and reservations over the REST API, from submission to the answer why it waits."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr
from sqlalchemy import event, text

from backend.config import Settings
from backend.services.scheduling import claims
from backend.web.app import create_app
from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task
from tests.integration.web.conftest import OWN

BODY = {"benchmark": "starter", "agent": "noop"}
NOBODY = "018f0000-0000-7000-8000-000000000000"


def submit(client: TestClient, **more: object) -> dict[str, Any]:
    answer = client.post("/api/v1/runs", json={**BODY, **more})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def begin(world: World, number: int = 9) -> list[UUID]:
    """Begins as many episodes as the rules allow; whose runs they are of."""
    with world.work() as session:
        worker = session.scalar(text("SELECT id FROM worker"))
        return [claim.run_id for claim in claims.claim_many(session, worker, "local", number)]


def whole(client: TestClient, run: dict[str, Any]) -> dict[str, Any]:
    return dict(client.get(f"/api/v1/runs/{run['id']}?include=episodes").json())


def fields(page: str, action: str) -> dict[str, str]:
    """The fields that the page's form for this address would post, untouched."""
    form = page.split(f'action="{action}"')[1].split("</form>", maxsplit=1)[0]
    return dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))


def rules(client: TestClient) -> dict[str, Any]:
    """Those of the only project."""
    [row] = client.get("/api/v1/projects").json()["items"]
    return {name: row[name] for name in ("weight", "quota", "reserved")}


def waiting(client: TestClient, run: dict[str, Any]) -> list[dict[str, Any]]:
    return [episode["waiting"] for episode in whole(client, run)["episodes"] if episode["waiting"]]


class TestSubmit:
    def test_begins_with_its_priority_and_limit(self, fresh: TestClient, installation: World) -> None:
        submit(fresh)
        urgent = submit(fresh, priority=7, concurrency=1)
        assert (urgent["priority"], urgent["concurrency"]) == (7, 1)
        assert urgent["effective_concurrency"]["text"] == "1 of 2 slots: parallel limit of the run"
        assert begin(installation, 1) == [UUID(urgent["id"])]

    @pytest.mark.parametrize(
        ("change", "path"),
        [
            ({"priority": 11}, "priority"),
            ({"priority": 0.5}, "priority"),
            ({"concurrency": 0}, "concurrency"),
            ({"concurrency": 100_001}, "concurrency"),
        ],
    )
    def test_invalid_numbers_are_refused(self, fresh: TestClient, change: dict[str, object], path: str) -> None:
        answer = fresh.post("/api/v1/runs", json={**BODY, **change})
        assert (answer.status_code, answer.json()["path"]) == (422, path)
        assert fresh.get("/api/v1/runs").json()["items"] == []

    def test_a_repeated_request_undoes_no_retuning(self, fresh: TestClient) -> None:
        headers = {"Idempotency-Key": "build-17"}
        run = fresh.post("/api/v1/runs", json={**BODY, "priority": 2}, headers=headers).json()
        fresh.patch(f"/api/v1/runs/{run['id']}", json={"priority": 9})
        again = fresh.post("/api/v1/runs", json={**BODY, "priority": 2}, headers=headers).json()
        assert again["id"] == run["id"]
        assert fresh.get(f"/api/v1/runs/{run['id']}").json()["priority"] == 9
        other = fresh.post("/api/v1/runs", json={**BODY, "priority": 3}, headers=headers)
        assert other.status_code == 422

    def test_forecast_uses_at_most_the_concurrency_limit(self, fresh: TestClient) -> None:
        assert fresh.post("/api/v1/runs/forecast", json={**BODY, "concurrency": 1}).json()["slots"] == 1

    def test_study_runs_inherit_scheduling_settings(self, fresh: TestClient) -> None:
        base = {**BODY, "priority": -3, "concurrency": 2}
        body = {"base": base, "factors": {"image.scale": [1, 0.5]}}
        assert fresh.post("/api/v1/studies", json=body).status_code == 201
        found = fresh.get("/api/v1/runs").json()["items"]
        assert [(run["priority"], run["concurrency"]) for run in found] == [(-3, 2)] * 2


class TestRetune:
    def test_running_run_can_be_changed(self, fresh: TestClient, installation: World) -> None:
        run = submit(fresh, concurrency=1)
        assert len(begin(installation)) == 1
        changed = fresh.patch(f"/api/v1/runs/{run['id']}", json={"concurrency": None, "priority": 3}).json()
        assert (changed["concurrency"], changed["priority"]) == (None, 3)
        assert changed["effective_concurrency"]["text"] == "2 of 2 slots: all available slots"
        assert len(begin(installation)) == 1
        told = fresh.get(f"/api/v1/runs/{run['id']}/events").json()["items"]
        assert [row["data"] for row in told if row["kind"] == "run_tuned"] == [{"concurrency": None, "priority": 3}]

    @pytest.mark.parametrize("body", [{"priority": -11}, {"concurrency": 0}, {"pause": True}, {"priority": None}, []])
    def test_bad_input_changes_nothing(self, fresh: TestClient, body: object) -> None:
        run = submit(fresh, priority=1)
        assert fresh.patch(f"/api/v1/runs/{run['id']}", json=body).status_code == 422
        assert fresh.get(f"/api/v1/runs/{run['id']}").json()["priority"] == 1

    def test_ended_or_unknown_run_cannot_be_changed(self, fresh: TestClient) -> None:
        run = submit(fresh)
        fresh.post(f"/api/v1/runs/{run['id']}/cancel")
        answer = fresh.patch(f"/api/v1/runs/{run['id']}", json={"priority": 1})
        assert (answer.status_code, "cancelled" in answer.json()["detail"]) == (409, True)
        assert fresh.patch(f"/api/v1/runs/{NOBODY}", json={"priority": 1}).status_code == 404


class TestForms:
    """A form stays on the page as it was shown, and posts all its fields."""

    def test_run_form_does_not_revert_concurrent_changes(self, fresh: TestClient) -> None:
        run = submit(fresh)
        address = f"/runs/{run['id']}"
        shown = fields(fresh.get(address).text, f"{address}/scheduling")
        fresh.patch(f"/api/v1{address}", json={"priority": 5, "concurrency": 4})
        assert fresh.post(f"{address}/scheduling", data={**shown, "concurrency": "2"}).status_code == 303
        changed = fresh.get(f"/api/v1{address}").json()
        assert (changed["priority"], changed["concurrency"]) == (5, 2)
        assert fresh.post(f"{address}/scheduling", data=shown).status_code == 303
        assert fresh.get(f"/api/v1{address}").json() == changed

    def test_run_form_removes_the_limit(self, fresh: TestClient) -> None:
        run = submit(fresh, priority=2, concurrency=1)
        address = f"/runs/{run['id']}"
        shown = fields(fresh.get(address).text, f"{address}/scheduling")
        assert fresh.post(f"{address}/scheduling", data={**shown, "concurrency": ""}).status_code == 303
        changed = fresh.get(f"/api/v1{address}").json()
        assert (changed["priority"], changed["concurrency"]) == (2, None)

    @pytest.mark.parametrize("wrong", [{"priority": "11"}, {"priority": "high"}, {"concurrency": "0"}])
    def test_run_form_reports_problems(self, fresh: TestClient, wrong: dict[str, str]) -> None:
        address = f"/runs/{submit(fresh)['id']}"
        shown = fields(fresh.get(address).text, f"{address}/scheduling")
        answer = fresh.post(f"{address}/scheduling", data={**shown, **wrong})
        assert (answer.status_code, [answer.json()["path"]]) == (422, list(wrong))

    def test_project_form_does_not_revert_concurrent_changes(self, fresh: TestClient) -> None:
        submit(fresh)
        fresh.patch("/api/v1/projects/default", json={"quota": {"all": 2}})
        shown = fields(fresh.get("/workers").text, "/workers/projects")
        fresh.patch("/api/v1/projects/default", json={"weight": 2.5, "quota": {}})
        assert fresh.post("/workers/projects", data={**shown, "reserved": "local=1"}).status_code == 303
        assert rules(fresh) == {"weight": 2.5, "quota": {}, "reserved": {"local": 1}}
        shown = fields(fresh.get("/workers").text, "/workers/projects")
        assert fresh.post("/workers/projects", data={**shown, "reserved": "", "weight": "3"}).status_code == 303
        assert rules(fresh) == {"weight": 3.0, "quota": {}, "reserved": {}}


class TestPauseAndResume:
    def test_paused_run_starts_nothing(self, fresh: TestClient, installation: World) -> None:
        run = submit(fresh)
        for _ in range(2):
            answer = fresh.post(f"/api/v1/runs/{run['id']}/pause").json()
            assert (answer["status"], answer["episodes"]) == ("paused", 3)
        assert whole(fresh, run)["effective_concurrency"]["limiting_factor_code"] == "run_paused"
        assert {each["reason_code"] for each in waiting(fresh, run)} == {"run_paused"}
        assert begin(installation) == []
        fresh.post(f"/api/v1/runs/{run['id']}/resume")
        assert len(begin(installation)) == 2
        fresh.post(f"/api/v1/runs/{run['id']}/cancel")
        assert fresh.post(f"/api/v1/runs/{run['id']}/resume").status_code == 409


class TestProjects:
    def test_quota_weight_and_reserved_slots(self, fresh: TestClient, installation: World) -> None:
        rules = {"weight": 2.5, "quota": {"all": 1}, "reserved": {"local": 0}}
        row = fresh.patch("/api/v1/projects/default", json=rules).json()
        assert row == {"name": "default", **rules, "in_use": {}}
        run = submit(fresh)
        assert len(begin(installation)) == 1
        assert whole(fresh, run)["effective_concurrency"] == {
            "limit": 1,
            "slots": 2,
            "limiting_factor": "the project's quota of 1 desktop in all",
            "limiting_factor_code": "quota_reached",
            "text": "1 of 2 slots: the project's quota of 1 desktop in all",
        }
        assert {each["reason_code"] for each in waiting(fresh, run)} == {"quota_reached"}
        assert fresh.get("/api/v1/projects").json()["items"] == [{**row, "in_use": {"local": 1}}]
        fresh.patch("/api/v1/projects/default", json={"quota": {}, "reserved": {"local": 1}})
        assert begin(installation) == []
        assert waiting(fresh, run)[0]["reason_code"] == "desktops_reserved"
        fresh.patch("/api/v1/projects/default", json={"reserved": {}})
        assert len(begin(installation)) == 1

    @pytest.mark.parametrize(
        ("body", "path"),
        [
            ({"weight": 0}, "weight"),
            ({"weight": "heavy"}, "weight"),
            ({"quota": {"local": -1}}, "quota.local"),
            ({"quota": {"LOCAL": 1}}, "quota.LOCAL"),
            ({"quota": {"k8": 8}}, "quota.k8"),
            ({"reserved": {"local": "some"}}, "reserved.local"),
            ({"reserved": {"locale": 1}}, "reserved.locale"),
            ({"limit": 3}, "limit"),
        ],
    )
    def test_invalid_rules_are_refused_and_change_nothing(
        self, fresh: TestClient, body: dict[str, object], path: str
    ) -> None:
        before = fresh.get("/api/v1/projects").json() if submit(fresh) else None
        answer = fresh.patch("/api/v1/projects/default", json=body)
        assert answer.status_code == 422
        assert answer.json()["path"].startswith(path)
        assert fresh.get("/api/v1/projects").json() == before

    def test_the_form_holds_the_weight_as_it_is(self, fresh: TestClient) -> None:
        submit(fresh)
        for weight, shown in ((1.0, "1"), (123.4567, "123.4567"), (0.1, "0.1")):
            fresh.patch("/api/v1/projects/default", json={"weight": weight})
            assert f'name="weight" value="{shown}"' in fresh.get("/workers").text

    def test_unknown_project_is_404(self, fresh: TestClient) -> None:
        answer = fresh.patch("/api/v1/projects/nobody", json={"weight": 1})
        assert (answer.status_code, "project list" in answer.json()["hint"]) == (404, True)


class TestWhyWaiting:
    def test_how_many_come_first_and_when(self, fresh: TestClient, installation: World) -> None:
        installation.benchmark(make_benchmark(*(make_task(name=f"t{n}") for n in range(6))), name="six")
        run = submit(fresh, benchmark="six", concurrency=2)
        installation.in_order()
        before = datetime.now(UTC)
        assert len(begin(installation)) == 2
        found = waiting(fresh, run)
        assert {(each["reason"], each["reason_code"]) for each in found} == {
            ("parallel limit of the run reached: 2 of 2", "concurrency_limit")
        }
        assert [each["episodes_ahead"] for each in found] == [0, 1, 2, 3]
        starts = [(datetime.fromisoformat(each["starts_at"]) - before).total_seconds() for each in found]
        assert starts == pytest.approx([600, 600, 1200, 1500], abs=30)
        assert starts == sorted(starts)

    def test_all_views_show_the_same_wait_reason(self, fresh: TestClient, installation: World) -> None:
        run = submit(fresh)
        begin(installation, 2)
        told = [episode for episode in whole(fresh, run)["episodes"] if episode["state"] == "waiting"]
        listed = fresh.get(f"/api/v1/runs/{run['id']}/episodes?state=waiting").json()["items"]
        shown = fresh.get(f"/api/v1/episodes/{told[0]['id']}").json()
        reasons = [(one["waiting"]["reason"], one["waiting"]["reason_code"]) for one in (*told, *listed, shown)]
        assert reasons == [("2 of 2 desktops in use; next in its run", "desktops_in_use")] * 3
        assert [episode["waiting"] for episode in whole(fresh, run)["episodes"] if episode["state"] != "waiting"] == [
            None, None,
        ]  # fmt: skip

    def test_many_episodes_cost_one_look(self, fresh: TestClient, installation: World) -> None:
        few, many = submit(fresh), submit(fresh, repeats=100)
        asked: list[str] = []
        with installation.work() as session:
            engine = session.get_bind()
        listener: Callable[..., None] = lambda *given: asked.append(given[2])  # noqa: E731
        event.listen(engine, "before_cursor_execute", listener)
        try:
            assert len(waiting(fresh, few)) == 3
            one = len(asked)
            assert len(waiting(fresh, many)) == 300
        finally:
            event.remove(engine, "before_cursor_execute", listener)
        assert len(asked) == 2 * one


class TestRights:
    CALLS = (
        ("POST", "/api/v1/runs", BODY),
        ("PATCH", f"/api/v1/runs/{NOBODY}", {"priority": 10}),
        ("POST", f"/api/v1/runs/{NOBODY}/pause", None),
        ("POST", f"/api/v1/runs/{NOBODY}/resume", None),
        ("PATCH", "/api/v1/projects/default", {"weight": 9}),
        ("GET", "/api/v1/projects", None),
        ("GET", f"/api/v1/runs/{NOBODY}?include=episodes", None),
    )

    def test_changes_require_the_token(self, installation: World, tmp_path: Path) -> None:
        settings = Settings(
            data_dir=tmp_path, token=SecretStr("the-right-token-1"), metrics_token=SecretStr("the-scraper-token")
        )
        client = TestClient(create_app(settings, installation.factory, installation.store), base_url=OWN)
        for token in ("", "wrong", "scraper"):
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            found = {
                client.request(verb, path, json=body, headers=headers).status_code for verb, path, body in self.CALLS
            }
            assert found == {401}, token
        mine = {"Authorization": "Bearer the-right-token-1"}
        assert client.patch("/api/v1/projects/default", json={"weight": 9}, headers=mine).status_code in {200, 404}

    def test_changes_from_another_site_are_refused(self, fresh: TestClient) -> None:
        headers = {"Origin": "http://evil.example"}
        changing = [call for call in self.CALLS if call[0] != "GET"]
        found = {fresh.request(verb, path, json=body, headers=headers).status_code for verb, path, body in changing}
        assert found == {403}
