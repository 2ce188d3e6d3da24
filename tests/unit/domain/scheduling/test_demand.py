"""Attempts that would begin if there were slots enough."""

from dataclasses import replace
from uuid import UUID

import pytest

from backend.domain.scheduling.demand import beginning
from backend.domain.scheduling.projects import ALL, ProjectRules
from backend.domain.scheduling.reservations import Reserve
from backend.domain.scheduling.snapshot import ProjectLoad, QueueSnapshot, RunLoad

P = UUID(int=1)
A, B = RunLoad(UUID(int=7), P, "k8s", in_use=3), RunLoad(UUID(int=8), P, "k8s")
WAITING = {A.id: 10, B.id: 5}


def queue(*runs: RunLoad, quota: dict[str, int] | None = None) -> QueueSnapshot:
    project = ProjectLoad(ProjectRules(quota=quota or {}), {"k8s": 3, "local": 2})
    return QueueSnapshot("k8s", runs, {P: project}, free=0, reserve=Reserve(4, {}, {}))


class TestBeginning:
    @pytest.mark.parametrize(
        ("now", "numbers"),
        [
            (queue(A, B), [10, 5]),
            (queue(replace(A, concurrency=5), B), [2, 5]),
            (queue(replace(A, concurrency=2), B), [0, 5]),
            (queue(replace(A, model_waits=1), B), [0, 5]),
            (queue(A, B, quota={"k8s": 15}), [10, 2]),
            (queue(A, B, quota={"k8s": 40, ALL: 8}), [3, 0]),
            (queue(A, B, quota={"k8s": 1}), [0, 0]),
        ],
    )
    def test_smallest_limit_bounds_the_demand(self, now: QueueSnapshot, numbers: list[int]) -> None:
        assert list(beginning(now, WAITING).values()) == numbers

    def test_empty_queue_has_no_demand(self) -> None:
        assert beginning(queue(A), {}) == {A.id: 0}
