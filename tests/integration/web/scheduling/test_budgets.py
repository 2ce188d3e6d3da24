"""Budgets: what runs ends, the rest waits with the reason, nothing is lost or counted as 0, and it goes on."""

from datetime import UTC, datetime
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, text, update

from backend.db.models import Attempt, AuditEntry, ProjectBudget, Step, TaskDraftRequest, Worker
from backend.db.repositories.authoring import draft_requests
from backend.services.runs import budgets
from backend.services.scheduling import claims
from tests.factories.records import World
from tests.integration.web.scheduling.test_scheduling_settings import begin, fields, submit, waiting, whole

PAGE = {"Accept": "text/html"}
USAGE = {"input_tokens": 900, "output_tokens": 100, "usd": 2.0, "calls": 1, "priced": True}


def spend_one(made: World) -> None:
    """An episode starts, and its first call is charged while it runs."""
    with made.work() as session:
        (claim,) = claims.claim_many(session, session.scalars(select(Worker.id)).one(), "local", 1)
    made.begin(claim)
    made.step(claim, 0)
    with made.work() as session:
        session.execute(update(Step).where(Step.attempt_id == claim.attempt_id).values(usage=USAGE))


def finish(made: World) -> None:
    """The episode that runs ends and is scored."""
    with made.work() as session:
        assert session.scalars(select(Attempt).where(Attempt.live)).one().usage is None
        began = text("started_at - interval '3 hours'")
        session.execute(update(Attempt).where(Attempt.live).values(started_at=began, usage=USAGE))


def audited(made: World) -> list[str]:
    names = ("set_budget", "budget_reached")
    query = select(AuditEntry.action).where(AuditEntry.action.in_(names)).order_by(AuditEntry.id)
    rows: list[str] = made.do(lambda session: session.scalars(query).all())
    return rows


class TestRun:
    def test_run_stops_at_its_budget_and_resumes_with_more(self, fresh: TestClient, installation: World) -> None:
        run = submit(fresh, run_usd=2.0)
        spend_one(installation)
        assert budgets.count_due(installation.factory) == 1
        assert budgets.count_due(installation.factory) == 0  # Announced once.
        assert begin(installation) == []
        shown = whole(fresh, run)
        assert shown["budget_reached"] == "budget of the run reached: $2.00 of $2.00 spent"
        assert shown["effective_concurrency"]["limiting_factor_code"] == "budget_reached"
        assert [each["reason_code"] for each in waiting(fresh, run)] == ["budget_reached"] * 2
        states = [each["state"] for each in shown["episodes"]]
        assert sorted(states) == ["running", "waiting", "waiting"]  # Nothing is lost, and what runs goes on.
        page = fresh.get(f"/runs/{run['id']}", headers=PAGE).text
        assert shown["budget_reached"] in page
        form = fields(page, f"/runs/{run['id']}/scheduling")
        assert form["shown_budget"] == "2.0,,"
        answer = fresh.post(f"/runs/{run['id']}/scheduling", data={**form, "run_usd": "2.5"}, follow_redirects=False)
        assert answer.status_code == 303
        assert len(begin(installation)) == 1  # One desktop of two is in use.
        assert audited(installation) == ["budget_reached"]
        assert fresh.patch(f"/api/v1/runs/{run['id']}", json={"run_usd": -1}).status_code == 422

    def test_counts_tokens_and_hours_of_attempts_that_have_ended(self, fresh: TestClient, installation: World) -> None:
        run = submit(fresh)
        spend_one(installation)
        finish(installation)
        for budget, words in (
            ({"run_tokens": 1000}, "1,000 of 1,000 tokens"),
            ({"run_desktop_hours": 3}, "3.0 of 3.0"),
        ):
            changed = fresh.patch(f"/api/v1/runs/{run['id']}", json=budget).json()
            assert words in changed["budget_reached"]
            cleared = fresh.patch(f"/api/v1/runs/{run['id']}", json=dict.fromkeys(budget)).json()
            assert cleared["budget_reached"] == ""

    def test_is_part_of_the_form(self, fresh: TestClient) -> None:
        form = {"benchmark": "starter", "agent": "noop", "run_usd": "12.5", "run_tokens": "7"}
        location = fresh.post("/runs/new", data=form, follow_redirects=False).headers["Location"]
        shown = fresh.get(f"/api/v1{location}").json()
        assert (shown["run_usd"], shown["run_tokens"], shown["run_desktop_hours"]) == (12.5, 7, None)


class TestProject:
    @pytest.mark.parametrize("period", ["month", "total"])
    def test_holds_all_its_runs_at_once(self, fresh: TestClient, installation: World, period: str) -> None:
        run = submit(fresh)
        spend_one(installation)
        changed = fresh.patch(f"/api/v1/budgets/{period}", json={"tokens": 500}).json()
        assert (changed["spent_tokens"], changed["spent_usd"], changed["usd"]) == (1000, 2.0, None)
        assert "1,000 of 500 tokens used" in changed["reached"]
        assert begin(installation) == []
        assert {each["reason_code"] for each in waiting(fresh, run)} == {"budget_reached"}
        page = fresh.get("/budgets", headers=PAGE).text
        assert "1,000 of 500 tokens used" in page
        form = {"period": period, "tokens": "", "shown": ",500,"}
        assert f'name="period" value="{period}"' in page
        assert 'name="shown" value=",500,"' in page
        assert fresh.post("/budgets", data=form, follow_redirects=False).status_code == 303
        assert len(begin(installation)) == 1
        assert audited(installation) == ["set_budget", "budget_reached", "set_budget"]

    def test_spending_without_a_limit_is_not_counted(self, fresh: TestClient, installation: World) -> None:
        submit(fresh)
        spend_one(installation)
        fresh.patch("/api/v1/budgets/total", json={"usd": 9})
        month, total = fresh.get("/api/v1/budgets").json()["items"]
        assert (month["spent_usd"], month["spent_tokens"], month["spent_desktop_hours"]) == (None, None, None)
        assert (total["spent_usd"], total["spent_tokens"]) == (2.0, 1000)
        assert "counted once a limit is set" in fresh.get("/budgets", headers=PAGE).text

    def test_new_month_resets_and_deleted_runs_stay_spent(self, fresh: TestClient, installation: World) -> None:
        submit(fresh)
        spend_one(installation)
        for period in ("month", "total"):
            fresh.patch(f"/api/v1/budgets/{period}", json={"usd": 1})
        with installation.work() as session:
            session.execute(update(Attempt).values(started_at=text("started_at - interval '32 days'")))
            session.execute(update(Step).values(usage={}))
            session.execute(
                update(ProjectBudget).values(counted_at=None).where(ProjectBudget.period == "total")
            )  # fmt: skip
            session.execute(
                update(ProjectBudget)
                .values(counted_at=None, since=text("since - interval '31 days'"))
                .where(ProjectBudget.period == "month")
            )
        assert budgets.count_due(installation.factory) == 0
        month, total = fresh.get("/api/v1/budgets").json()["items"]
        assert (month["spent_usd"], month["reached"]) == (0.0, "")
        assert (total["spent_usd"], bool(total["reached"])) == (2.0, True)

    def test_holds_generated_drafts_and_counts_them(self, fresh: TestClient, installation: World) -> None:
        def ask(**values: Any) -> None:
            with installation.work() as session:
                project, actor = installation.who(session)
                own = {"benchmark": "own", "persona": "a clerk", "requested_count": 1}
                session.add(TaskDraftRequest(project_id=project.id, actor_id=actor.id, **own, **values))

        ask(state="done", usage=USAGE, ended_at=datetime.now(UTC))
        ask()
        changed = fresh.patch("/api/v1/budgets/month", json={"usd": 2}).json()
        assert (changed["spent_usd"], changed["spent_tokens"]) == (2.0, 1000)
        assert installation.do(draft_requests.next_waiting) is None
        fresh.patch("/api/v1/budgets/month", json={"usd": 3})
        assert installation.do(draft_requests.next_waiting) is not None

    def test_unknown_period_and_infinite_budget_are_refused(self, fresh: TestClient) -> None:
        assert fresh.patch("/api/v1/budgets/week", json={"usd": 1}).json()["code"] == "budget_not_found"
        assert fresh.post("/budgets", data={"period": "month", "usd": "inf"}).status_code == 422
