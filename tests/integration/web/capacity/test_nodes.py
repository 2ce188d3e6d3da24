"""Nodes of clusters, over the API and on the workers page."""

from uuid import uuid4

from fastapi.testclient import TestClient
from sqlalchemy import text

from backend.domain.machines.nodes import NodeState
from backend.services.accounts import audit
from backend.services.capacity.views import workers as workers_view
from backend.services.runs.views import home
from backend.services.scheduling import claims
from tests.factories.records import World, capabilities
from tests.integration.services.capacity.test_nodes import claimed, observe, seen, serving

CORDONED = "cordoned: no new pods are scheduled on it"


def cluster_at_work(world: World) -> None:
    """A node with an attempt, a cordoned one, and one that is gone."""
    worker = serving(world, "w7")
    observe(world, seen("node-1", 2))
    world.submit(provider="k8s")
    claimed(world, worker)
    observe(world, seen("node-1", 2), seen("node-2", 1, NodeState.DRAINING, CORDONED), seen("node-3", 1))
    observe(world, seen("node-1", 2), seen("node-2", 1, NodeState.DRAINING, CORDONED))


class TestApi:
    def test_lists_nodes_with_slots_and_who_holds_them(self, fresh: TestClient, installation: World) -> None:
        cluster_at_work(installation)
        found = {(node["cluster"], node["name"]): node for node in fresh.get("/api/v1/nodes").json()["items"]}
        assert set(found) == {("", "n1"), ("", "w7"), *(("zone-a", f"node-{number}") for number in (1, 2, 3))}
        first, second, third = (found["zone-a", f"node-{number}"] for number in (1, 2, 3))
        held = [(slot["state"], slot["worker"], bool(slot["task"])) for slot in first["slots"]]
        assert held == [("leased", "w7", True), ("free", "", False)]
        assert (second["state"], second["reason"]) == ("draining", CORDONED)
        assert (third["state"], third["slots"]) == ("gone", [])

    def test_node_without_a_worker_has_no_free_slots(self, fresh: TestClient, installation: World) -> None:
        with installation.work() as session:
            session.execute(text("UPDATE worker SET state = 'offline'"))
        (node,) = fresh.get("/api/v1/nodes").json()["items"]
        assert (node["state"], node["reason"]) == ("unready", "no worker online")
        assert [slot["state"] for slot in node["slots"]] == ["closed", "closed"]
        page = installation.do(workers_view.workers_page)
        assert (page.slots("free"), page.slots("closed")) == (0, 0)  # It may never come back: no page counts it.

    def test_lost_node_has_no_free_slots(self, fresh: TestClient, installation: World) -> None:
        serving(installation)
        observe(installation, seen("node-1", 2), seen("node-2", 1, NodeState.LOST, "it does not answer"))
        found = {node["name"]: node["slots"] for node in fresh.get("/api/v1/nodes").json()["items"]}
        assert [slot["state"] for name in ("node-1", "node-2") for slot in found[name]] == ["free", "free", "closed"]

    def test_offline_worker_has_no_free_slots(self, fresh: TestClient, installation: World) -> None:
        installation.worker("old", node="n1", pid=7)
        with installation.work() as session:
            session.execute(text("UPDATE worker SET state = 'offline' WHERE name = 'old'"))
            session.execute(text("UPDATE slot SET state = 'broken', reason = 'it stinks' WHERE index = 1"))
        workers = {worker["name"]: worker["slots"] for worker in fresh.get("/api/v1/workers").json()["items"]}
        told = {name: [(slot["state"], slot["reason"]) for slot in slots] for name, slots in workers.items()}
        broken = ("broken", "it stinks")
        assert told == {"w1": [("free", ""), broken], "old": [("closed", ""), broken]}

    def test_a_worker_lists_its_own_slots_only(self, fresh: TestClient, installation: World) -> None:
        cluster_at_work(installation)
        slots = {worker["name"]: worker["slots"] for worker in fresh.get("/api/v1/workers").json()["items"]}
        assert [len(slots[name]) for name in ("w1", "w7")] == [2, 0]

    def test_a_forecast_counts_the_cluster_s_slots(self, fresh: TestClient, installation: World) -> None:
        cluster_at_work(installation)
        body = {"benchmark": "starter", "agent": "noop", "provider": "k8s"}
        assert fresh.post("/api/v1/runs/forecast", json=body).json()["slots"] == 2


class TestPage:
    def test_the_first_page_counts_the_cluster_s_slots(self, fresh: TestClient, installation: World) -> None:
        before = installation.do(home.home).slots
        cluster_at_work(installation)
        after = installation.do(home.home).slots
        assert (after.used - before.used, after.free - before.free, after.closed - before.closed) == (1, 1, 1)
        assert fresh.get("/").status_code == 200

    def test_slots_of_a_cluster_that_no_worker_serves_are_not_free(
        self, fresh: TestClient, installation: World
    ) -> None:
        cluster_at_work(installation)
        with installation.work() as session:
            session.execute(text("UPDATE worker SET state = 'offline' WHERE name = 'w7'"))
        found = installation.do(home.home).slots
        machine = 2
        assert (found.used, found.free, found.closed, found.draining) == (1, machine, 2, 0)
        page = installation.do(workers_view.workers_page)
        assert [page.slots(state) for state in ("leased", "free", "closed", "draining")] == [1, machine, 2, 0]
        for address in ("/", "/workers"):
            told = fresh.get(address).text
            assert "2 closed" in told
            assert "draining<" not in told.split("Slots in use")[1].split("</dd>")[0]
        words = "no worker can start anything in this cluster"
        nodes = fresh.get("/api/v1/nodes").json()["items"]
        assert [each["name"] for each in nodes if (each["state"], each["reason"]) == ("unready", words)] == ["node-1"]
        assert words in fresh.get("/workers").text

    def test_shows_why_a_node_accepts_no_work(self, fresh: TestClient, installation: World) -> None:
        cluster_at_work(installation)
        page = fresh.get("/workers").text
        assert all(words in page for words in ("zone-a", "node-2", CORDONED, "node-3", "the cluster has no such node"))

    def test_a_worker_of_a_cluster_shows_its_parallel_limit_and_no_slots(
        self, fresh: TestClient, installation: World
    ) -> None:
        told = {"number": 20, "reason": "the slots are those of the cluster zone-a"}
        serving(installation, slots=told)
        page = fresh.get("/workers").text
        assert "<b>up to 20 desktops in parallel</b>; the slots are those of the cluster zone-a" in page
        assert "20 slots" not in page

    def test_both_pages_count_the_same_with_no_worker(self, fresh: TestClient, installation: World) -> None:
        cluster_at_work(installation)
        with installation.work() as session:
            session.execute(text("UPDATE worker SET state = 'offline'"))
        first = installation.do(home.home).slots
        page = installation.do(workers_view.workers_page)
        assert (first.used, first.free, first.broken, first.draining, first.closed) == (1, 0, 0, 0, 2)
        assert [page.slots(state) for state in ("leased", "free", "broken", "draining", "closed")] == [1, 0, 0, 0, 2]
        assert "no-images" not in fresh.get("/workers").text

    def test_slots_that_the_scheduler_places_are_named_so(self, fresh: TestClient, installation: World) -> None:
        serving(installation)
        observe(installation, seen("", 5))
        assert "any node of zone-a" in fresh.get("/workers").text


class TestModelEndpoints:
    def test_unresponsive_endpoint_shows_its_error(self, fresh: TestClient, installation: World) -> None:
        why = "http://gpu:8000/v1 does not answer: refused"
        offers = {
            "mine": {"api": "openai_chat", "ok": True, "answers": False, "reason": why},
            "theirs": {"api": "openai_chat", "ok": True, "answers": None, "reason": "https://api.example/v1"},
        }
        installation.worker("w8", node="w8", capabilities={**capabilities(), "models": offers})
        views = {each.name: each for each in installation.do(workers_view.workers_page).abilities.models}
        assert (views["mine"].ok, views["mine"].answers, views["mine"].reason) == (True, False, why)
        assert (views["theirs"].ok, views["theirs"].answers) == (True, None)
        assert why in fresh.get("/workers").text

    def test_endpoint_is_reachable_if_any_worker_reaches_it(self, installation: World) -> None:
        offer = {"api": "openai_chat", "ok": True, "reason": "http://gpu:8000/v1"}
        for name, answers in (("w8", False), ("w9", True)):
            said = {**capabilities(), "models": {"mine": {**offer, "answers": answers}}}
            installation.worker(name, node=name, capabilities=said)
        (view,) = installation.do(workers_view.workers_page).abilities.models
        assert view.answers is True


class TestDraining:
    def test_draining_worker_finishes_its_attempts_and_gets_no_more(
        self, fresh: TestClient, installation: World
    ) -> None:
        worker = installation.worker("w7", node="w7", slots=2)
        installation.submit(repeats=2)
        claim = installation.must_claim(worker)
        move = f"/api/v1/workers/{worker.id}"
        for _ in range(2):
            assert fresh.post(f"{move}/drain").json()["state"] == "draining"
        installation.do(claims.worker_heartbeat, worker.id, [claim.lease_id])
        assert installation.claim(worker) is None
        installation.score(claim)
        assert fresh.post(f"{move}/resume").json()["state"] == "online"
        assert installation.claim(worker) is not None
        entries = installation.do(audit.list_entries)
        assert [(entry.action, entry.target) for entry in entries[:2]] == [
            ("resume worker", "w7"),
            ("drain worker", "w7"),
        ]

    def test_draining_an_offline_or_unknown_worker_is_refused(self, fresh: TestClient, installation: World) -> None:
        worker = installation.worker("w7", node="w7")
        with installation.work() as session:
            session.execute(text("UPDATE worker SET state = 'offline'"))
        assert fresh.post(f"/api/v1/workers/{worker.id}/drain").json()["code"] == "worker_offline"
        assert fresh.post(f"/api/v1/workers/{uuid4()}/drain").json()["code"] == "worker_not_found"
