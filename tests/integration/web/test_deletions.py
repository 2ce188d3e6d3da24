"""Deleting: boards forget at once, workers remove the rows, and what runs or is needed elsewhere is refused."""

import re
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from backend.db.models import AuditEntry, Base, Episode, PassRollup, Run
from backend.db.models.enums import DeletionKind
from backend.db.repositories.deletions import deletions
from backend.db.repositories.deletions.removal import ROOTS, plan
from backend.domain.model.episode import EndedBy
from backend.services.artifacts.artifacts import collect_garbage
from backend.services.attempts import attempts
from backend.services.deletions import removal
from backend.services.runs.runs import cancel_run
from backend.services.scheduling import claims
from tests.factories.records import World
from tests.factories.reviews import Judged, JudgedTask
from tests.factories.tasks import make_benchmark, make_task

PAGE = {"Accept": "text/html"}
KEPT = {"deletion", "audit_entry", "actor", "worker", "slot", "lease", "artifact", "agent_configuration"}
"""Tables whose rows belong to no run, or tell of it."""


def rows(made: World) -> dict[str, int]:
    """Number of rows of each table that has any."""
    with made.work() as session:
        counts = {
            t.name: session.scalars(select(func.count()).select_from(t)).one() for t in Base.metadata.sorted_tables
        }
    return {name: count for name, count in counts.items() if count}


def scored(made: World, name: str = "", score: float = 1.0, picture: bytes = b"picture", **more: Any) -> UUID:
    """A completed run with one step in each of its episodes, on the boards."""
    worker = made.worker(name=f"worker {name}")
    run = made.submit(name=name, **more)
    while (claim := made.claim(worker)) is not None:
        made.begin(claim)
        made.step(claim, 0, picture=picture)
        made.do(attempts.enter_evaluating, claim.fence, EndedBy.DONE, {"agent": 1.0})
        made.score_only(claim, score)
        made.do(claims.release_lease, claim.lease_id, "done")
    made.roll_up()
    return run.id


def board(client: TestClient) -> list[Any]:
    found: list[Any] = client.get("/api/v1/leaderboards/starter").json()["rows"]
    return found


class TestRun:
    def test_deleted_run_leaves_the_review_queue(self, installation: World, fresh: TestClient) -> None:
        judged = Judged(installation, [JudgedTask(opened=True, final=True)])
        judged.draw()
        review = f"/api/v1/judges/{judged.judge}/review?by=ada"
        assert fresh.get(review).json()["task"]
        run = fresh.get("/api/v1/runs").json()["items"][0]["id"]
        assert fresh.delete(f"/api/v1/runs/{run}").status_code == 202
        assert fresh.get(review).json() == {"task": None}

    def test_boards_forget_it_and_workers_remove_it(self, installation: World, fresh: TestClient) -> None:
        before = rows(installation)
        one, other = scored(installation, "one", 0.0, b"one"), scored(installation, "other", 1.0, b"other")
        assert board(fresh)[0]["passes"]["number"] == 2
        answer = fresh.delete(f"/api/v1/runs/{one}")
        assert answer.status_code == 202
        deletion = fresh.get(answer.headers["Location"]).json()
        assert (deletion["kind"], deletion["name"], deletion["finished_at"]) == ("run", "one", None)
        assert fresh.delete(f"/api/v1/runs/{one}").status_code == 404
        assert fresh.get(f"/runs/{one}", headers=PAGE).status_code == 404
        assert [item["id"] for item in fresh.get("/api/v1/runs").json()["items"]] == [str(other)]
        episode = installation.do(
            lambda session: session.scalars(select(Episode.id).where(Episode.run_id == one)).first()
        )
        assert fresh.get(f"/api/v1/episodes/{episode}").status_code == 404
        installation.roll_up()
        assert [row["passes"]["number"] for row in board(fresh)] == [1]
        # A worker dies after every batch.
        while removal.remove_marked(installation.factory, seconds=0, batch=2):
            pass
        done = fresh.get(answer.headers["Location"]).json()
        assert done["finished_at"] is not None
        assert done["removed"]["step"] == done["removed"]["attempt"] == done["removed"]["episode"] == 3
        assert fresh.get(f"/runs/{other}", headers=PAGE).status_code == 200
        assert installation.do(collect_garbage, installation.store, timedelta(seconds=-1)) == 1
        assert b"one" not in installation.store.blobs.values()
        assert b"other" in installation.store.blobs.values()
        second = fresh.delete(f"/api/v1/runs/{other}").json()
        removal.remove_marked(installation.factory, seconds=60.0)
        left = rows(installation)
        assert {name: count for name, count in left.items() if name not in KEPT} == {
            name: count for name, count in before.items() if name not in KEPT
        }
        actions = installation.do(lambda session: session.execute(select(AuditEntry.action, AuditEntry.target)).all())
        assert [tuple(row) for row in actions] == [("delete_run", "one"), ("delete_run", "other")]
        assert "other" in fresh.get("/deletions", headers=PAGE).text
        assert second["id"] in {item["id"] for item in fresh.get("/api/v1/deletions").json()["items"]}

    def test_deleting_a_running_run_is_refused_until_its_desktops_have_stopped(
        self, installation: World, fresh: TestClient
    ) -> None:
        run = installation.submit().id
        claim = installation.must_claim(installation.worker(name="w2"))
        assert fresh.delete(f"/api/v1/runs/{run}").json()["code"] == "run_active"
        installation.do(cancel_run, run)
        assert fresh.delete(f"/api/v1/runs/{run}").json()["code"] == "run_active"
        installation.lose(claim)
        assert fresh.delete(f"/api/v1/runs/{run}").status_code == 202

    def test_the_button_of_its_page(self, installation: World, fresh: TestClient) -> None:
        run = scored(installation, "mine")
        assert f'action="/deletions/run/{run}"' in fresh.get(f"/runs/{run}", headers=PAGE).text
        assert fresh.post(f"/deletions/run/{run}").status_code == 303
        assert fresh.post(f"/deletions/run/{run}", headers=PAGE).status_code == 404
        assert fresh.post("/deletions/project/default", headers=PAGE).status_code == 404


class TestConfigurationAndStudy:
    def test_a_configuration_goes_with_its_runs_and_comes_back_anew(
        self, installation: World, fresh: TestClient
    ) -> None:
        scored(installation, "one")
        (row,) = fresh.get("/api/v1/configurations").json()["items"]
        assert fresh.delete(f"/api/v1/configurations/{row['id']}").status_code == 202
        assert board(fresh) == []
        run = scored(installation, "two")
        (new,) = fresh.get("/api/v1/configurations").json()["items"]
        assert (new["id"] == row["id"], new["name"]) == (False, row["name"])
        removal.remove_marked(installation.factory, seconds=60.0)
        assert installation.do(lambda session: session.scalars(select(Run.id)).all()) == [run]
        assert installation.do(lambda session: session.scalars(select(func.count(PassRollup.as_of))).one()) == 1

    def test_a_study_goes_as_a_whole(self, installation: World, fresh: TestClient) -> None:
        body = {
            "base": {"benchmark": "starter", "agent": "random"},
            "factors": {"image.scale": [1, 0.5]},
        }
        study = fresh.post("/api/v1/studies", json=body).json()
        runs = installation.do(lambda session: session.scalars(select(Run.id)).all())
        (configuration, *_) = fresh.get("/api/v1/configurations").json()["items"]
        for run in runs:
            installation.do(cancel_run, run)
        assert fresh.delete(f"/api/v1/runs/{runs[0]}").json()["code"] == "run_in_study"
        assert fresh.delete(f"/api/v1/configurations/{configuration['id']}").json()["code"] == "configuration_in_study"
        assert fresh.delete(f"/api/v1/studies/{study['id']}").status_code == 202
        assert fresh.get(f"/studies/{study['id']}", headers=PAGE).status_code == 404
        removal.remove_marked(installation.factory, seconds=60.0)
        assert {"run", "study", "episode"}.isdisjoint(rows(installation))


class TestBenchmark:
    def test_goes_with_its_runs_and_its_name_is_free(self, installation: World, fresh: TestClient) -> None:
        before = rows(installation)
        installation.benchmark(make_benchmark(make_task(), assets={"a": b"bytes"}), name="mine")
        scored(installation, "on mine", benchmark="mine")
        assert fresh.delete("/api/v1/benchmarks/mine").status_code == 202
        assert [item["name"] for item in fresh.get("/api/v1/benchmarks").json()["items"]] == ["starter"]
        installation.benchmark(make_benchmark(make_task()), name="mine")
        removal.remove_marked(installation.factory, seconds=60.0)
        assert [item["name"] for item in fresh.get("/api/v1/benchmarks").json()["items"]] == ["mine", "starter"]
        assert fresh.delete("/api/v1/benchmarks/mine").status_code == 202
        removal.remove_marked(installation.factory, seconds=60.0)
        left = {name: count for name, count in rows(installation).items() if name not in KEPT}
        assert left == {name: count for name, count in before.items() if name not in KEPT}
        assert fresh.delete("/api/v1/benchmarks/mine").json()["code"] == "benchmark_not_found"


class TestPlan:
    @pytest.mark.parametrize("kind", DeletionKind)
    def test_every_foreign_key_is_covered(self, kind: DeletionKind) -> None:
        """Whatever refers to a removed table is removed before it, emptied, or belongs to a run."""
        links = plan(kind)
        removed = [ROOTS[kind], *{link.table for link in links if not link.cleared}]
        of_runs = {link.table for link in plan(DeletionKind.RUN)} | {ROOTS[DeletionKind.RUN]}
        for table in Base.metadata.sorted_tables:
            for key in table.foreign_keys:
                if key.column.table in removed and table not in removed and table not in of_runs:
                    assert any(link.column is key.parent and link.cleared for link in links), key

    def test_marks_are_columns_of_their_tables(self) -> None:
        marked = {table.name for kind, table in ROOTS.items() if kind is not DeletionKind.TASK_SET}
        assert marked == {table.name for table in Base.metadata.sorted_tables if "deleted_at" in table.c}


class TestList:
    def test_the_database_sorts_all_pages(
        self, installation: World, fresh: TestClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("backend.web.deletions.pages.PAGE", 2)
        with installation.work() as session:
            project, _ = installation.who(session)
            for name, removed in (("b", {"episode": 2, "step": 30}), ("A", {}), ("c", {"episode": 9})):
                row = deletions.add(session, DeletionKind.RUN, uuid4(), project_id=project.id, name=name, by="ada")
                row.removed = removed

        def names(query: str) -> list[str]:
            return re.findall(r'<th scope="row">(.*?)</th>', fresh.get(f"/deletions{query}", headers=PAGE).text)

        assert names("") == ["c", "A"]
        assert names("?sort=name") + names("?sort=name&page=2") == ["A", "b", "c"]
        assert names("?sort=-rows-removed") + names("?sort=-rows-removed&page=2") == ["b", "c", "A"]
        assert all(len(names(f"?sort={column}")) == 2 for column in deletions.ORDER)
