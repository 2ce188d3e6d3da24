"""Requests that are repeated with an `Idempotency-Key`, at the same time, later, and after a process has died."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select, update

from backend.db.models import IdempotentRequest, Run, SavedView
from backend.domain.errors import Conflict
from backend.services.accounts.idempotency import KeyClaim, StoredAnswer, claim_key, release_claim, store_answer
from backend.web.idempotency import WITHOUT_KEY
from tests.error_codes import raises_code
from tests.factories.accounts import team
from tests.factories.records import World

RUNS = "/api/v1/runs"
SECRETS = {"token", "ticket", "secret", "link"}
"""Names of secrets in answers."""
BODY = {"benchmark": "starter", "agent": "noop", "name": "nightly"}


def post(client: TestClient, key: str, path: str = RUNS, **body: Any) -> Any:
    return client.post(path, json=body or BODY, headers={"Idempotency-Key": key})


def fields(document: dict[str, Any], operation: dict[str, Any]) -> set[str]:
    """Names in the body of an operation's first answer that is no error."""
    answer = next(each for status, each in operation["responses"].items() if status.startswith("2"))
    schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
    named = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return set(named.get("properties", ()))


def count(made: World, table: Any) -> int:
    with made.work() as session:
        return int(session.scalars(select(func.count()).select_from(table)).one())


class TestRepetitions:
    def test_fifty_at_once_give_one_run(self, fresh: TestClient, installation: World) -> None:
        with ThreadPoolExecutor(50) as pool:
            answers = list(pool.map(lambda _: post(fresh, "build-17"), range(50)))
        assert {answer.status_code for answer in answers} == {201}
        assert len({answer.content for answer in answers}) == 1
        assert sum("Idempotent-Replay" not in answer.headers for answer in answers) == 1
        assert count(installation, Run) == 1

    def test_the_first_answer_is_repeated(self, fresh: TestClient, installation: World) -> None:
        first, again = post(fresh, "k"), post(fresh, "k", **dict(reversed(BODY.items())))
        assert again.headers["Idempotent-Replay"] == "true"
        assert (again.status_code, again.content) == (201, first.content)
        assert again.headers["Location"] == first.headers["Location"]
        assert again.headers["Content-Type"] == "application/json"
        assert "Idempotent-Replay" not in first.headers
        assert count(installation, Run) == 1

    def test_key_reuse_for_another_request_is_refused(self, fresh: TestClient, installation: World) -> None:
        post(fresh, "k")
        others = (
            post(fresh, "k", **BODY, repeats=2),
            post(fresh, "k", "/api/v1/saved-views", benchmark="starter", name="x"),
        )
        assert {(answer.status_code, answer.json()["code"]) for answer in others} == {(422, "idempotency_key_reused")}
        assert count(installation, Run) == 1

    def test_a_refused_request_frees_its_key(self, fresh: TestClient, installation: World) -> None:
        assert post(fresh, "k", **BODY, tpyo=1).status_code == 422
        assert post(fresh, "k", **{**BODY, "benchmark": "nothing"}).status_code == 404
        assert count(installation, IdempotentRequest) == 0
        assert post(fresh, "k").status_code == 201

    def test_routes_that_start_something(self, fresh: TestClient, installation: World) -> None:
        run = post(fresh, "run").json()["id"]
        study = {"base": {"agent": "noop"}, "benchmark": "starter", "factors": {"params": [{}]}}
        for path, body in (
            (f"{RUNS}/{run}/cancel", {}),
            ("/api/v1/studies", study),
            ("/api/v1/benchmarks/starter/validate", {}),
            ("/api/v1/saved-views", {"benchmark": "starter", "name": "mine"}),
        ):
            first, again = (fresh.post(path, json=body or None, headers={"Idempotency-Key": path}) for _ in range(2))
            assert again.headers.get("Idempotent-Replay") == "true" if first.status_code < 400 else True, path
            assert (again.status_code, again.content) == (first.status_code, first.content)
        assert count(installation, SavedView) == 1

    def test_uploads_are_idempotent(self, fresh: TestClient) -> None:
        csv = b"task,difficulty,source\nfiles/copy,easy,me\n"

        def send(content: bytes) -> Any:
            files = {"file": ("labels.csv", content, "text/csv")}
            return fresh.post("/api/v1/benchmarks/starter/labels", files=files, headers={"Idempotency-Key": "csv"})

        first, again, other = send(csv), send(csv), send(csv + b"files/move,hard,me\n")
        if first.status_code == 200:
            assert again.headers["Idempotent-Replay"] == "true"
            assert other.json()["code"] == "idempotency_key_reused"
        else:
            assert (first.status_code, again.content) == (422, first.content)


class TestKeys:
    @pytest.mark.parametrize("key", ["", "k" * 201])
    def test_invalid_key_is_refused(self, fresh: TestClient, key: str) -> None:
        assert (post(fresh, key).status_code, post(fresh, key).json()["code"]) == (422, "invalid_idempotency_key")

    def test_two_keys_are_refused(self, fresh: TestClient) -> None:
        answer = fresh.post(RUNS, json=BODY, headers=[("Idempotency-Key", "a"), ("Idempotency-Key", "b")])
        assert answer.json()["code"] == "invalid_idempotency_key"

    def test_routes_that_return_secrets_refuse_keys(self, fresh: TestClient) -> None:
        answer = post(fresh, "k", "/api/v1/public-links", benchmark="starter")
        assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_not_supported")
        document = fresh.get("/api/v1/openapi.json").json()
        for path, operations in document["paths"].items():
            names = {parameter["name"] for parameter in operations.get("post", {}).get("parameters", ())}
            takes = "post" in operations and path not in WITHOUT_KEY and not path.startswith("/api/v1/agent")
            assert ("Idempotency-Key" in names) == takes, path
            assert not (takes and fields(document, operations["post"]) & SECRETS), path

    def test_a_key_is_a_persons(self, installation: World, tmp_path: Any) -> None:
        with team(installation, tmp_path) as people:
            ada, eve, viewer = people.add("ada", "runner"), people.add("eve", "runner"), people.add("vic", "viewer")
            runs = {post(client, "build-1").json()["id"] for client in (ada, eve, ada)}
            assert len(runs) == 2
            assert post(viewer, "build-1").status_code == 403


class TestDeadProcesses:
    def test_abandoned_claim_is_taken_over(self, fresh: TestClient, installation: World) -> None:
        post(fresh, "k")
        with installation.work() as session:
            lost = uuid4()
            session.execute(
                update(IdempotentRequest).values(
                    status=None, body=None, claim=lost, renewed_at=func.now() - timedelta(seconds=60)
                )
            )
        second = post(fresh, "k")
        assert second.status_code == 201
        assert "Idempotent-Replay" not in second.headers
        assert count(installation, Run) == 2
        with installation.work() as session, raises_code(Conflict, "idempotency_key_in_use"):
            store_answer(session, KeyClaim(lost), StoredAnswer(201, {}, b"late"))

    def test_expired_key_may_be_used_again(self, fresh: TestClient, installation: World) -> None:
        post(fresh, "k")
        with installation.work() as session:
            session.execute(update(IdempotentRequest).values(expires_at=func.now()))
        post(fresh, "another")
        with installation.work() as session:
            assert session.scalars(select(IdempotentRequest.key)).all() == ["another"]
        assert "Idempotent-Replay" not in post(fresh, "k", **BODY, repeats=2).headers

    def test_concurrent_request_with_the_same_key_is_refused(self, installation: World) -> None:
        with installation.work() as session:
            claim = claim_key(session, "k", "same")
        assert isinstance(claim, KeyClaim)
        with installation.work() as session:
            assert claim_key(session, "k", "same") is None
        with installation.work() as session:
            release_claim(session, claim)
        with installation.work() as session:
            assert isinstance(claim_key(session, "k", "other"), KeyClaim)
