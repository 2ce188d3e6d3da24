"""Results of compared runs that ended are computed once."""

from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from backend.services.benchmarks import quarantine
from backend.services.configurations import configurations
from backend.services.results import rollup_jobs
from tests.factories.records import World
from tests.integration.web.conftest import counted

API = "/api/v1/compare"


class TestRemembered:
    """Results of ended runs are computed once, until one of them changes."""

    @pytest.fixture
    def runs(self, installation: World) -> list[UUID]:
        runs = []
        for name in ("a", "b"):
            run = installation.submit("random", name=name)
            worker = installation.worker(slots=1)
            for score in (1.0, 0.0, 1.0):
                installation.score(installation.must_claim(worker), score)
            assert rollup_jobs.renew(installation.factory, run.id)
            runs.append(run.id)
        return runs

    def compare(self, client: TestClient, runs: list[UUID]) -> dict[str, Any]:
        comparison: dict[str, Any] = client.get(API, params={"run": [str(run) for run in runs]}).json()
        return comparison

    def test_repeated_comparison_is_served_from_cache(
        self, installation: World, fresh: TestClient, runs: list[UUID]
    ) -> None:
        with counted(installation) as first:
            comparison = self.compare(fresh, runs)
        with counted(installation) as second:
            assert self.compare(fresh, runs) == comparison
        assert second.statements < first.statements
        assert comparison["common_tasks"] == 3

    def test_changed_result_invalidates_the_cache(
        self, installation: World, fresh: TestClient, runs: list[UUID]
    ) -> None:
        task = self.compare(fresh, runs)["tasks"][0]["task_id"]
        with installation.work() as session:
            quarantine.quarantine_task(session, UUID(task), "flaky clock", installation.who(session)[1])
        assert self.compare(fresh, runs)["left_out"] == {"quarantined": 1}
        for run in runs:
            rollup_jobs.renew(installation.factory, run)
        assert self.compare(fresh, runs)["common_tasks"] == 2

    def test_names_are_those_of_now(self, installation: World, fresh: TestClient, runs: list[UUID]) -> None:
        configuration = self.compare(fresh, runs)["runs"][0]["configuration"]["id"]
        installation.do(configurations.rename, UUID(configuration), "monkey")
        assert {run["configuration"]["name"] for run in self.compare(fresh, runs)["runs"]} == {"monkey"}
