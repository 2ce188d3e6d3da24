"""Webhooks: signed, retried, never to a private address, and lost by no death of a process."""

import html
import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from sqlalchemy import select, update
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

from backend.db.models import AuditEntry, Delivery, Notification, Subscription
from backend.db.repositories.capacity.workers import now
from backend.domain.errors import AttemptFailure, EvaluatorFailed, FailureClass
from backend.domain.model.episode import EndedBy
from backend.services.artifacts.egress_policy import EgressPolicy
from backend.services.artifacts.ssrf_safe_http import GuardedWeb
from backend.services.attempts import attempts
from backend.services.notifications import sending
from backend.services.runs.runs import cancel_run
from backend.services.scheduling import claims
from backend.web.notifications.sender_thread import NotificationSender
from tests.factories.records import World
from tests.fakes.origin_server import Answer, redirect, reply
from tests.integration.web.notifications.conftest import PUBLIC, Notifier

CHILD = """
import sys
from backend.db.session import make_engine, session_factory
from backend.services.artifacts.egress_policy import EgressPolicy
from backend.services.artifacts.ssrf_safe_http import GuardedWeb
from backend.services.notifications import sending
factory = session_factory(make_engine(sys.argv[1]))
sending.send_due(factory, GuardedWeb(EgressPolicy(private_hosts=("127.0.0.1",))), None)
"""


def answers(*statuses: int) -> Answer:
    """A page with these answers, one after the other; the last one stays."""
    left = list(statuses)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        status = left.pop(0) if len(left) > 1 else left[0]
        reply(f"<script>alert({status})</script>\x1b[31m{'x' * 2000}".encode(), "text/html", status)(handler)

    return answer


def received(notifier: Notifier, secret: str) -> list[dict[str, Any]]:
    """The bodies that arrived, whose signatures are right."""
    return [Webhook(secret).verify(body, headers) for _, _, headers, body in notifier.receiver.asked]


class TestRunEnded:
    def test_arrives_after_two_failures_with_one_id(self, notifier: Notifier) -> None:
        secret = notifier.subscribe("run.ended")["secret"]
        notifier.receiver.pages["/hook"] = answers(500, 503, 200)
        run = notifier.completed_run(1.0, 1.0, 0.0, name="nightly")
        for _ in range(4):
            notifier.turn()
        bodies = received(notifier, secret)
        assert len(bodies) == 3
        assert len({headers["webhook-id"] for _, _, headers, _ in notifier.receiver.asked}) == 1
        assert bodies[0] == bodies[2]
        data = bodies[0]["data"]
        assert bodies[0]["type"] == "run.ended"
        assert data["url"] == f"{PUBLIC}/runs/{run}"
        assert (data["run"]["name"], data["run"]["status"], data["result"]["episodes"]) == ("nightly", "completed", 3)
        assert data["result"]["success_rate"] == pytest.approx(2 / 3)
        (delivery,) = notifier.deliveries()
        assert (delivery["state"], delivery["tries"], delivery["next_at"]) == ("delivered", 3, None)
        assert [attempt["status"] for attempt in delivery["attempts"]] == [500, 503, 200]
        answer = delivery["attempts"][0]["answer"]
        assert answer.startswith("<script>alert(500)</script>\\x1b[31mxxx")
        assert len(answer) <= 500
        page = notifier.client.get("/notifications", headers={"Accept": "text/html"}).text
        assert "&lt;script&gt;alert(200)" in page
        assert "<script>alert" not in page

    def test_retry_pauses_grow(self, notifier: Notifier) -> None:
        notifier.subscribe("run.ended")
        notifier.receiver.pages["/hook"] = reply(b"", status=500)
        notifier.completed_run(1.0, 1.0, 1.0)
        pauses = []
        for _ in range(3):
            notifier.turn()
            with notifier.made.work() as session:
                row = session.scalars(select(Delivery)).one()
                at = now(session)
                pauses.append(round((row.next_at - at).total_seconds() / 10) * 10)
        assert pauses == [0, 300, 1800]
        notifier.turn(wait=False)  # Nothing is due.
        assert len(notifier.receiver.asked) == 3

    def test_events_without_subscribers_are_not_stored(self, notifier: Notifier) -> None:
        notifier.subscribe("worker.gone")
        notifier.completed_run(1.0, 1.0, 1.0)
        notifier.turn()
        assert notifier.deliveries() == []
        with notifier.made.work() as session:
            assert session.scalars(select(Notification)).all() == []

    def test_cancelled_run_is_delivered_but_rolled_back_work_is_not(self, notifier: Notifier) -> None:
        notifier.subscribe("run.ended")
        run = notifier.made.submit()
        with notifier.made.work() as session:
            cancel_run(session, run.id)
            session.rollback()
        notifier.turn()
        assert notifier.receiver.asked == []
        notifier.made.do(cancel_run, run.id)
        notifier.turn()
        (delivery,) = notifier.deliveries()
        assert delivery["payload"]["data"]["run"]["status"] == "cancelled"


class TestOtherEvents:
    def test_a_regression_against_the_preceding_run(self, notifier: Notifier) -> None:
        secret = notifier.subscribe("run.regression", alpha=0.2)["secret"]
        notifier.receiver.pages["/hook"] = b""
        base = notifier.completed_run(1.0, 1.0, 1.0)
        notifier.completed_run(1.0, 1.0, 1.0, repeats=1, name="as good")
        notifier.turn()
        assert notifier.receiver.asked == []
        worse = notifier.completed_run(0.0, 0.0, 0.0, name="worse")
        notifier.turn()
        (body,) = received(notifier, secret)
        assert body["data"]["run"]["id"] == worse
        assert body["data"]["regression"]["p_value"] == pytest.approx(0.125)
        assert body["data"]["text"].startswith("Run worse: Regression (one-sided p")
        fixed = notifier.subscribe(
            "run.regression", alpha=0.2, baseline_run_id=base, address=f"{notifier.receiver.address}/2"
        )
        notifier.completed_run(0.0, 0.0, 0.0, name="as bad")
        notifier.turn()
        (delivery,) = (each for each in notifier.deliveries() if each["subscription_id"] == fixed["id"])
        assert delivery["payload"]["data"]["regression"]["baseline"] == base
        assert len(notifier.deliveries()) == 2  # As bad as the one before is no regression.

    def test_baseline_of_another_benchmark_is_ignored(self, notifier: Notifier) -> None:
        notifier.made.benchmark(name="other")
        base = notifier.completed_run(1.0, 1.0, 1.0, benchmark="other")
        notifier.subscribe("run.regression", alpha=0.2, baseline_run_id=base)
        notifier.completed_run(0.0, 0.0, 0.0, name="worse")
        notifier.turn()
        assert notifier.deliveries() == []
        with notifier.made.work() as session:
            assert session.scalars(select(Notification.prepared_at)).all() != []
            assert None not in session.scalars(select(Notification.prepared_at)).all()

    def test_losses_above_the_bound_are_delivered_once(self, notifier: Notifier) -> None:
        notifier.subscribe("run.losses", loss_bound=0.5)
        notifier.receiver.pages["/hook"] = b""
        notifier.made.submit()
        worker = notifier.made.worker(name="unlucky")
        told = []
        for _ in range(3):
            claim = notifier.made.must_claim(worker)
            notifier.made.begin(claim)
            notifier.made.do(attempts.enter_evaluating, claim.fence, EndedBy.DONE, {"agent": 1.0})
            lose_for_ever(notifier.made, claim)
            notifier.turn()
            told.append(len(notifier.receiver.asked))
        assert told == [0, 1, 1]
        (delivery,) = notifier.deliveries()
        assert delivery["payload"]["data"]["losses"] == {"lost": 2, "episodes": 3, "share": 2 / 3, "bound": 0.5}

    def test_reached_budget_is_delivered_once(self, notifier: Notifier) -> None:
        notifier.subscribe("budget.reached")
        for limit in (0, 0, 1):
            answer = notifier.client.patch("/api/v1/budgets/month", json={"tokens": limit})
            assert answer.status_code == 200, answer.text
            notifier.turn()
        (delivery,) = notifier.deliveries()
        data = delivery["payload"]["data"]
        assert data["text"] == "Budget of the project default this month reached: 0 of 0 tokens used."
        assert (data["budget"], data["url"]) == ({"project": "default", "period": "month"}, f"{PUBLIC}/budgets")

    def test_lost_worker_is_delivered(self, notifier: Notifier) -> None:
        notifier.subscribe("worker.gone")
        notifier.made.worker(name="next", host="n1", running=lambda _: False)
        notifier.turn()
        (delivery,) = notifier.deliveries()
        worker = delivery["payload"]["data"]["worker"]
        assert (worker["name"], worker["node"], worker["reason"]) == ("w1", "n1", "the worker's process is gone")


def lose_for_ever(made: World, claim: Any) -> None:
    """Loses an episode in a way that no repetition would change."""
    code = next(iter(EvaluatorFailed.final_codes))
    made.do(attempts.finish_lost, claim.fence, AttemptFailure(FailureClass.EVALUATOR, code, "never"), {})
    made.do(claims.release_lease, claim.lease_id, "done")


class TestGuard:
    def test_a_private_address_is_refused_at_once(self, notifier: Notifier) -> None:
        notifier.configure(webhook_private_hosts=())
        body = {"address": "http://169.254.169.254/latest", "events": ["run.ended"]}
        answer = notifier.client.post("/api/v1/subscriptions", json=body)
        assert (answer.status_code, answer.json()["code"]) == (422, "private_address")
        assert "DESKARENA_WEBHOOK_PRIVATE_HOSTS" in answer.json()["hint"]

    def test_a_name_that_leads_inside_is_refused_when_it_is_sent(self, notifier: Notifier) -> None:
        made = notifier.subscribe("run.ended", address=f"http://localhost:{notifier.receiver.port}/hook")
        notifier.client.post(f"/api/v1/subscriptions/{made['id']}/test")
        notifier.turn()
        (delivery,) = notifier.deliveries()
        assert "not on the public network" in delivery["attempts"][0]["error"]
        assert notifier.receiver.asked == []

    def test_redirects_are_not_followed(self, notifier: Notifier) -> None:
        made = notifier.subscribe("run.ended")
        notifier.receiver.pages["/hook"] = redirect(f"{notifier.receiver.address}/inside", 307)
        notifier.client.post(f"/api/v1/subscriptions/{made['id']}/test")
        notifier.turn()
        (delivery,) = notifier.deliveries()
        assert (delivery["state"], delivery["attempts"][0]["status"]) == ("waiting", 307)
        assert [asked[1] for asked in notifier.receiver.asked] == ["/hook"]

    def test_a_name_that_changes_between_check_and_connection(self, notifier: Notifier) -> None:
        """DNS rebinding: public when it is asked first, private the second time."""
        made = notifier.subscribe("run.ended", address=f"http://rebind.example:{notifier.receiver.port}/hook")
        notifier.client.post(f"/api/v1/subscriptions/{made['id']}/test")
        resolved = iter([["203.0.113.9", "127.0.0.1"], ["127.0.0.1"]])
        web = GuardedWeb(EgressPolicy(), resolver=lambda *_: next(resolved))
        for _ in range(2):
            sending.send_due(notifier.made.factory, web, None)
            with notifier.made.work() as session:
                session.execute(update(Delivery).values(next_at=Delivery.created_at))
        (delivery,) = notifier.deliveries()
        assert len(delivery["attempts"]) == 2
        assert all("not on the public network" in attempt["error"] for attempt in delivery["attempts"])
        assert notifier.receiver.asked == []


class TestProcesses:
    def test_killed_sender_loses_no_delivery(self, notifier: Notifier) -> None:
        secret = notifier.subscribe("run.ended")["secret"]
        arrived, dead = threading.Event(), threading.Event()

        def hold(handler: BaseHTTPRequestHandler) -> None:
            arrived.set()
            dead.wait(30)
            handler.close_connection = True

        notifier.receiver.pages["/hook"] = hold
        notifier.completed_run(1.0, 1.0, 1.0)
        edge = notifier.client.app.state.edge  # type: ignore[attr-defined]
        NotificationSender(edge).prepare()
        url = notifier.made.factory.kw["bind"].url.render_as_string(hide_password=False)
        child = subprocess.Popen([sys.executable, "-c", CHILD, url], env=dict(os.environ))
        try:
            assert arrived.wait(30)
        finally:
            child.kill()
            child.wait()
            dead.set()
        notifier.receiver.pages["/hook"] = b"now"
        notifier.turn(wait=False)
        assert len(notifier.receiver.asked) == 1  # It is the dead one's for a minute.
        notifier.turn()
        first, second = received(notifier, secret)
        assert first == second
        assert len({headers["webhook-id"] for _, _, headers, _ in notifier.receiver.asked}) == 1
        assert notifier.deliveries()[0]["state"] == "delivered"


class TestSubscriptions:
    def test_the_secret_is_shown_once_and_the_old_one_signs_for_a_day(self, notifier: Notifier) -> None:
        made = notifier.subscribe("run.ended")
        address = f"/api/v1/subscriptions/{made['id']}"
        notifier.receiver.pages["/hook"] = b""
        rotated = notifier.client.post(f"{address}/rotate-secret").json()
        assert made["secret"].startswith("whsec_")
        assert rotated["secret"] != made["secret"]
        shown = notifier.client.get(address).text + notifier.client.get("/notifications").text
        assert "whsec_" not in shown
        for _ in range(2):
            notifier.client.post(f"{address}/test")
            notifier.turn()
            with notifier.made.work() as session:
                session.execute(update(Subscription).values(previous_until=Subscription.created_at))
        (_, _, headers, body), later = notifier.receiver.asked
        for secret in (made["secret"], rotated["secret"]):
            assert Webhook(secret).verify(body, headers)["type"] == "test"
        assert Webhook(rotated["secret"]).verify(later[3], later[2])
        with pytest.raises(WebhookVerificationError):
            Webhook(made["secret"]).verify(later[3], later[2])
        with notifier.made.work() as session:
            entries = session.scalars(select(AuditEntry)).all()
        assert "whsec_" not in json.dumps([[entry.target, entry.changes] for entry in entries])
        actions = {entry.action for entry in entries}
        assert {"subscription_created", "webhook_secret_rotated", "subscription_tested"} <= actions

    def test_failing_subscription_is_disabled_and_can_be_enabled(self, notifier: Notifier) -> None:
        made = notifier.subscribe("run.ended")
        address = f"/api/v1/subscriptions/{made['id']}"
        notifier.receiver.pages["/hook"] = reply(b"", status=500)
        first = notifier.client.post(f"{address}/test").json()["id"]
        notifier.turn()
        notifier.client.post(f"{address}/test")
        with notifier.made.work() as session:
            session.execute(update(Delivery).where(Delivery.id == first).values(tries=9))
        notifier.turn()
        assert "nothing has arrived" in notifier.client.get(address).json()["disabled_reason"]
        assert {each["state"] for each in notifier.deliveries()} == {"failed"}
        again = f"/api/v1/deliveries/{first}/redeliver"
        assert notifier.client.post(again).json()["code"] == "subscription_disabled"
        notifier.completed_run(1.0, 1.0, 1.0)
        notifier.turn()
        assert len(notifier.deliveries()) == 2
        enabled = notifier.client.patch(address, json={"enabled": True}, headers={"If-Match": "*"})
        assert enabled.json()["disabled_at"] is None
        notifier.receiver.pages["/hook"] = b"thanks"
        assert notifier.client.post(again).status_code == 202
        assert notifier.client.post(again).json()["code"] == "delivery_waits"
        notifier.turn()
        redelivered = notifier.client.get(f"/api/v1/deliveries/{first}").json()
        assert (redelivered["state"], redelivered["tries"]) == ("delivered", 1)
        assert redelivered["attempts"][-1]["answer"] == "thanks"

    def test_http_410_ends_a_subscription_and_retry_after_delays_it(self, notifier: Notifier) -> None:
        made = notifier.subscribe("run.ended")
        address = f"/api/v1/subscriptions/{made['id']}"

        def busy(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(429)
            handler.send_header("Retry-After", "1000")
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        notifier.receiver.pages["/hook"] = busy
        notifier.client.post(f"{address}/test")
        notifier.turn()
        with notifier.made.work() as session:
            row = session.scalars(select(Delivery)).one()
            assert 900 < (row.next_at - now(session)).total_seconds() <= 1000
        notifier.receiver.pages["/hook"] = reply(b"", status=410)
        notifier.turn()
        assert "410" in notifier.client.get(address).json()["disabled_reason"]
        assert notifier.client.delete(address).status_code == 204
        assert notifier.deliveries() == []

    def test_subscription_is_managed_on_the_page(self, notifier: Notifier) -> None:
        form = {
            "address": f"{notifier.receiver.address}/hook",
            "events": ["run.ended", "worker.gone"],
            "loss_bound": "10",
        }
        page = notifier.client.post("/notifications", data=form)
        assert page.status_code == 200
        assert page.headers["Cache-Control"] == "no-store"
        assert "whsec_" in page.text
        (row,) = notifier.client.get("/api/v1/subscriptions").json()["items"]
        assert (row["loss_bound"], row["events"]) == (0.1, ["run.ended", "worker.gone"])
        own = f"/notifications/{row['id']}"
        assert notifier.client.post(f"{own}/test").status_code == 303
        found = re.search(r'name="if_match" value="([^"]+)"', notifier.client.get(own).text)
        assert found
        tag = html.unescape(found[1])
        assert notifier.client.post(own, data={"events": "run.losses"}).status_code == 428
        changed = {"events": "run.losses", "alpha": "0.01", "if_match": tag}
        assert notifier.client.post(own, data=changed).status_code == 303
        unseen = notifier.client.post(own, data={**changed, "alpha": "0.2"})
        assert (unseen.status_code, 'value="0.01"' in unseen.text) == (412, True)
        assert notifier.client.post(f"{own}/disable").status_code == 303
        shown = notifier.client.get(own).text
        assert "Enable" in shown
        (row,) = notifier.client.get("/api/v1/subscriptions").json()["items"]
        assert (row["alpha"], row["events"]) == (0.01, ["run.losses"])
        assert notifier.client.post("/notifications", data={**form, "address": "nonsense"}).status_code == 422
        assert notifier.client.post(own, data={"if_match": "*"}).status_code == 422
        assert notifier.client.post(f"{own}/delete").headers["Location"] == "/notifications"
