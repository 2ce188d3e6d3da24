"""Retention by age with a dry run, screens that are thinned, and the disk quota."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from backend.cli.embedded.prepare import import_starters
from backend.db.models import Attempt, Episode, Evidence, Judge, JudgeResponse, Retention, Run, Step
from backend.db.models.enums import JudgeKind
from backend.domain.model.episode import EndedBy
from backend.services.attempts import attempts
from backend.services.deletions import removal, retention
from backend.services.runs.runs import cancel_run
from backend.services.scheduling import claims
from tests.factories import demonstrations as demonstration_sets
from tests.factories.downloads import downloading
from tests.factories.drafts import make_content
from tests.factories.records import World
from tests.factories.tasks import make_benchmark

PAGE = {"Accept": "text/html"}
LATER = datetime.now(UTC) + timedelta(days=40)


def run_of(made: World, name: str, steps: int = 3) -> UUID:
    """A completed run."""
    worker = made.worker(name=f"worker {name}")
    run = made.submit(name=name)
    while (claim := made.claim(worker)) is not None:
        made.begin(claim)
        for index in range(steps):
            made.step(claim, index, picture=f"{name} {claim.attempt_id} {index}".encode())
        made.do(attempts.enter_evaluating, claim.fence, EndedBy.DONE, {"agent": 1.0})
        made.score_only(claim, 1.0)
        made.do(claims.release_lease, claim.lease_id, "done")
    return run.id


def pictures(made: World) -> int:
    number: int = made.do(lambda session: session.scalars(select(func.count(Step.frame_sha256))).one())
    return number


def judge_one(made: World) -> None:
    """A judge has answered about one attempt."""
    with made.work() as session:
        project, _ = made.who(session)
        judge = Judge(project_id=project.id, kind=JudgeKind.VLM, identity="judge-1")
        session.add(judge)
        session.flush()
        attempt = session.scalars(select(Attempt.id).order_by(Attempt.id)).first()
        answer = {"request_hash": "hash", "vote_index": 0, "usable": True, "response": {}}
        session.add(JudgeResponse(judge_id=judge.id, attempt_id=attempt, **answer))


class TestRules:
    def test_runs_are_deleted_by_age_after_a_dry_run(self, installation: World, fresh: TestClient) -> None:
        old = run_of(installation, "old")
        live = installation.submit(name="live").id
        answer = fresh.get("/api/v1/retention/preview?run_days=30").json()
        assert answer["counts"] == {"runs": 0, "studies": 0, "drafts": 0, "screens": 0}
        changed = fresh.patch("/api/v1/retention", json={"run_days": 30}).json()
        assert (changed["run_days"], changed["draft_days"]) == (30, None)
        assert retention.apply_due(installation.factory)["runs"] == 0
        assert retention.apply_due(installation.factory) == {}  # Once an hour.
        assert fresh.get("/api/v1/retention").json()["stored_bytes"] > 0
        done = retention.apply_due(installation.factory, LATER)
        assert done["runs"] == 1
        removal.remove_marked(installation.factory, seconds=60.0)
        assert installation.do(lambda session: session.scalars(select(Run.id)).all()) == [live]
        (deletion,) = fresh.get("/api/v1/deletions").json()["items"]
        assert (deletion["target_id"], deletion["requested_by"]) == (str(old), "retention")

    def test_screens_are_deleted_but_evidence_is_not(self, installation: World, fresh: TestClient) -> None:
        run = run_of(installation, "one")
        installation.do(cancel_run, installation.submit(name="none").id)
        evidence = installation.do(lambda session: session.scalars(select(func.count()).select_from(Evidence)).one())
        assert pictures(installation) == 9
        fresh.patch("/api/v1/retention", json={"screen_days": 30})
        judge_one(installation)
        done = retention.apply_due(installation.factory, LATER)
        # Two of three steps of each attempt but the judged one; the last has the state that was scored.
        assert (done["screens"], pictures(installation)) == (4, 5)
        assert retention.apply_due(installation.factory, LATER + timedelta(days=1))["screens"] == 0
        assert evidence == installation.do(
            lambda session: session.scalars(select(func.count()).select_from(Evidence)).one()
        )
        with installation.work() as session:
            episodes = session.scalars(select(Episode.id).where(Episode.run_id == run)).all()
        assert {fresh.get(f"/episodes/{episode}", headers=PAGE).status_code for episode in episodes} == {200}

    def test_a_quota_refuses_new_runs_and_files_and_holds_those_that_run(
        self, installation: World, fresh: TestClient
    ) -> None:
        run_of(installation, "one")
        live = installation.submit(name="live").id
        worker = installation.worker()
        claim = installation.must_claim(worker)
        fresh.patch("/api/v1/retention", json={"disk_quota_mib": 0})
        retention.apply_due(installation.factory)
        body: dict[str, Any] = {"benchmark": "starter", "agent": "noop"}
        answer = fresh.post("/api/v1/runs", json=body)
        assert (answer.status_code, answer.json()["code"]) == (409, "disk_quota_exceeded")
        draft = fresh.post(
            "/api/v1/drafts", json={"content": make_content().model_dump(mode="json"), "by": "ada"}
        ).json()
        file = fresh.post(f"/api/v1/drafts/{draft['id']}/files", data={"name": "x.txt"}, files={"file": ("x", b"text")})
        assert (file.status_code, file.json()["code"]) == (409, "disk_quota_exceeded")
        assert installation.claim(worker) is None
        installation.score(claim)  # What runs ends as any other.
        shown = fresh.get(f"/api/v1/runs/{live}?include=episodes").json()["episodes"]
        assert [each["waiting"]["reason_code"] for each in shown if each["waiting"]] == ["disk_quota_reached"] * 2
        assert sorted(each["state"] for each in shown) == ["scored", "waiting", "waiting"]
        fresh.patch("/api/v1/retention", json={"disk_quota_mib": None})
        assert fresh.post("/api/v1/runs", json=body).status_code == 201
        assert installation.claim(worker) is not None

    def test_over_the_quota_nothing_is_imported_and_the_service_starts(
        self, installation: World, fresh: TestClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        url, demonstrations = (
            "https://files.example/a.xlsx",
            demonstration_sets.zipped(demonstration_sets.own(tmp_path)),
        )
        installation.benchmark(make_benchmark(downloading("one", url)), name="mine")

        def imported(name: str) -> Any:
            files = {"file": ("set.zip", demonstrations, "application/zip")}
            return fresh.post("/api/v1/demonstrations", data={"name": name, "form": "deskarena"}, files=files)

        assert imported("one").status_code == 201
        fresh.patch("/api/v1/retention", json={"disk_quota_mib": 0})
        retention.apply_due(installation.factory)
        assets, study = "/api/v1/benchmarks/mine/assets", {"demonstrations": "one", "base": {"agent": "random"}}
        refused = [
            imported("two"),
            fresh.post("/api/v1/offline-studies", json=study),
            fresh.post(f"{assets}/fetch", json={"url": url}),
            fresh.post(assets, data={"url": url}, files={"file": ("a.xlsx", b"table")}),
        ]
        assert [each.json()["code"] for each in refused] == ["disk_quota_exceeded"] * len(refused)
        import_starters(installation.factory, installation.store)
        assert "was not updated" in capsys.readouterr().err
        assert imported("one").status_code == 201  # It stores nothing more.

    def test_the_form_changes_only_what_was_edited(self, installation: World, fresh: TestClient) -> None:
        fresh.patch("/api/v1/retention", json={"run_days": 30, "screen_days": 7})
        page = fresh.get("/retention", headers=PAGE).text
        assert 'name="shown" value="30,,7,"' in page
        form = {"run_days": "30", "draft_days": "5", "screen_days": "", "shown": "30,,7,"}
        assert fresh.post("/retention", data=form).status_code == 303
        row = installation.do(lambda session: session.scalars(select(Retention)).one())
        assert (row.run_days, row.draft_days, row.screen_days) == (30, 5, None)
        assert fresh.post("/retention", data={**form, "run_days": "-1"}).status_code == 422
        assert fresh.patch("/api/v1/retention", json={"run_days": 0}).status_code == 422
