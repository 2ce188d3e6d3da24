"""The API keeps to its own description: every operation, with bounded numbers of generated requests."""

from pathlib import Path
from typing import Any

import schemathesis
from fastapi.testclient import TestClient

from backend.db.models.enums import Role
from backend.services import events
from backend.services.capacity import maintenance_mode
from tests.factories.records import World
from tests.sampling import seed
from tools.fuzz_api import NO_ROLE, Fuzzer, serving

CASES = 100


def operations(client: TestClient) -> list[tuple[str, str, dict[str, Any]]]:
    document = client.get("/api/v1/openapi.json").json()
    return [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


class TestDocument:
    def test_every_operation_is_described(self, client: TestClient) -> None:
        for path, method, operation in operations(client):
            assert operation["summary"], path
            assert operation["description"], f"{method} {path} has no description"
            assert operation["tags"]

    def test_errors_are_problems(self, client: TestClient) -> None:
        for path, _, operation in operations(client):
            if path.startswith("/api/"):
                assert "application/problem+json" in operation["responses"]["404"]["content"]

    def test_document_is_valid_openapi(self, client: TestClient) -> None:
        schemathesis.openapi.from_dict(client.get("/api/v1/openapi.json").json()).validate()

    def test_other_methods_get_405_with_allow(self, client: TestClient) -> None:
        for path, _, operation in operations(client):
            if path.startswith("/api/"):
                assert operation["responses"]["405"]["headers"].keys() == {"Allow"}

    def test_operations_with_a_body_document_its_errors(self, client: TestClient) -> None:
        found = {(method, path): operation["responses"].keys() for path, method, operation in operations(client)}
        assert found["post", "/api/v1/runs"] >= {"400", "413", "422"}
        assert found["post", "/api/v1/benchmarks"] >= {"400", "413", "422", "507"}
        assert found["get", "/api/v1/runs/{run_id}"].isdisjoint({"400", "413", "507"})
        assert "507" not in found["post", "/api/v1/runs"]

    def test_requests_have_examples(self, client: TestClient) -> None:
        schemas = client.get("/api/v1/openapi.json").json()["components"]["schemas"]
        assert schemas["RunSubmit"]["properties"]["benchmark"]["examples"] == ["starter"]
        assert schemas["Problem"]["properties"]["hint"]["examples"]

    def test_pages_and_static_files_are_not_in_it(self, client: TestClient) -> None:
        found = {path for path, _, _ in operations(client) if not path.startswith("/api/")}
        assert found == {"/healthz", "/livez", "/readyz"}


class TestGeneratedRequests:
    def test_every_operation_answers_as_it_is_described(
        self, installation: World, redis_url: str, tmp_path: Path
    ) -> None:
        """A seeded sample, by an administrator; `make fuzz-api` sends thousands, in every role."""
        events.configure(redis_url)
        run = installation.submit()
        with serving(installation, Role.ADMIN, "", tmp_path) as person:
            person.known["run_id"] = [run.id]
            outcome = Fuzzer(person, seed()).run(CASES, linked=0.2, batch=2)
        assert outcome.failures == {}
        assert outcome.linked > CASES / 10
        assert len(outcome.operations) > 30

    def test_maintenance_of_a_case_does_not_refuse_all_that_follow(
        self, installation: World, redis_url: str, tmp_path: Path
    ) -> None:
        events.configure(redis_url)
        with serving(installation, Role.ADMIN, "", tmp_path) as person:
            schema = schemathesis.openapi.from_dict(person.people.app.openapi())
            schema.app = person.people.app
            operation = schema["/api/v1/maintenance"]["PUT"]
            answer = person.send(operation.Case(body={"reason": "upgrade"}, media_type="application/json"))
            assert (answer.status_code, answer.json()["on"]) == (200, True)
            assert not installation.do(maintenance_mode.is_on)

    def test_person_without_a_role_is_forbidden(self, installation: World, redis_url: str, tmp_path: Path) -> None:
        events.configure(redis_url)
        with serving(installation, NO_ROLE, "", tmp_path) as person:
            schema = schemathesis.openapi.from_dict(person.people.app.openapi())
            schema.app = person.people.app
            answer = person.send(schema["/api/v1/runs"]["GET"].Case())
            assert answer.status_code == 403
