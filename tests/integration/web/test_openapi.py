"""The API keeps to its own description: every operation, with bounded numbers of generated requests."""

from typing import Any

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as hypothesis_seed
from schemathesis import APIOperation
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from backend.services import events
from tests.factories.scene import PageScene
from tests.integration.web.conftest import OWN
from tests.sampling import seed

EXAMPLES = 6


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

    def test_is_valid(self, client: TestClient) -> None:
        schemathesis.openapi.from_dict(client.get("/api/v1/openapi.json").json()).validate()

    def test_other_methods_get_405_with_allow(self, client: TestClient) -> None:
        for path, _, operation in operations(client):
            if path.startswith("/api/"):
                assert operation["responses"]["405"]["headers"].keys() == {"Allow"}

    def test_errors_of_a_body_are_told_where_there_is_one(self, client: TestClient) -> None:
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


def probed(operation: APIOperation[Any, Any, Any, Any]) -> None:
    """Sends generated requests of one operation and checks each answer against the document."""

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )
    @hypothesis_seed(seed())
    @given(case=operation.as_strategy())
    def probe(case: schemathesis.Case[Any]) -> None:
        case.headers.pop("Prefer", None)  # Waiting is tested elsewhere.
        answer = case.call(base_url=OWN, headers={"Host": "127.0.0.1:8000"})
        case.validate_response(
            answer, checks=[not_a_server_error, status_code_conformance, response_schema_conformance]
        )

    probe()


class TestGeneratedRequests:
    @pytest.mark.timeout(240)
    def test_every_reading_operation_keeps_to_its_schema(
        self, client: TestClient, scene: PageScene, redis_url: str
    ) -> None:
        """Only operations that read, because the scene is shared. The others have their own tests."""
        events.configure(redis_url)
        document = client.get("/api/v1/openapi.json").json()
        schema = schemathesis.openapi.from_dict(document)
        schema.app = client.app
        found: list[Any] = [result.ok() for result in schema.get_all_operations()]  # type: ignore[union-attr]
        reading = [operation for operation in found if operation.method == "get" and "export" not in operation.path]
        for operation in reading:
            probed(operation)
        assert len(reading) > 15
        assert scene.finished
