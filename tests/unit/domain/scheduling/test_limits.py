from dataclasses import replace
from uuid import UUID

import pytest

from backend.domain.model.reason import Reason, ReasonCode
from backend.domain.scheduling.limits import Concurrency, concurrency
from backend.domain.scheduling.projects import ALL, ProjectRules
from backend.domain.scheduling.reservations import Reserve, Urgency
from backend.domain.scheduling.snapshot import ProjectLoad, QueueSnapshot, RunLoad

P, Q = UUID(int=1), UUID(int=2)
RUN = RunLoad(UUID(int=7), P, "local", in_use=3)


def queue(
    *others: RunLoad, rules: ProjectRules | None = None, in_use: int = 3, reserve: Reserve | None = None
) -> QueueSnapshot:
    projects = {P: ProjectLoad(rules or ProjectRules(), {"local": in_use}), Q: ProjectLoad(ProjectRules(weight=3))}
    return QueueSnapshot("local", (RUN, *others), projects, reserve=reserve or Reserve(0, {}, {}))


def bound(limit: Concurrency) -> tuple[int, ReasonCode]:
    return limit.limit, limit.limiting_factor.code


class TestConcurrency:
    @pytest.mark.parametrize(
        ("run", "now", "left", "expected"),
        [
            (RUN, queue(), 50, (8, ReasonCode.ALL_SLOTS)),
            (RUN, queue(), 2, (2, ReasonCode.NO_MORE_EPISODES)),
            (replace(RUN, concurrency=5), queue(), 50, (5, ReasonCode.CONCURRENCY_LIMIT)),
            (replace(RUN, model_waits=1), queue(), 50, (3, ReasonCode.MODEL_RATE_LIMIT)),
            (
                RUN,
                queue(rules=ProjectRules(quota={ALL: 6}), in_use=5),
                50,
                (4, ReasonCode.QUOTA_REACHED),
            ),
            (RUN, queue(reserve=Reserve(2, {}, {})), 50, (6, ReasonCode.DESKTOPS_RESERVED)),
            (RUN, queue(RunLoad(UUID(int=8), P, "local")), 50, (4, ReasonCode.FAIR_SHARE)),
            (RUN, queue(RunLoad(UUID(int=8), Q, "local")), 50, (2, ReasonCode.FAIR_SHARE)),
            (RUN, queue(RunLoad(UUID(int=8), Q, "local", priority=-1)), 50, (8, ReasonCode.ALL_SLOTS)),
        ],
    )
    def test_the_least_of_all_bounds_decides(
        self, run: RunLoad, now: QueueSnapshot, left: int, expected: tuple[int, ReasonCode]
    ) -> None:
        assert bound(concurrency(now, run, 8, left)) == expected

    @pytest.mark.parametrize(
        ("others", "expected"),
        [
            ((replace(RUN, id=UUID(int=8), concurrency=3),), (5, ReasonCode.OTHER_RUNS_AT_LIMIT)),
            ((replace(RUN, id=UUID(int=8), model_waits=1),), (5, ReasonCode.OTHER_RUNS_AT_LIMIT)),
            ((RunLoad(UUID(int=8), P, "local", model_waits=1),), (8, ReasonCode.ALL_SLOTS)),
            (
                (replace(RUN, id=UUID(int=8), concurrency=2, in_use=2), RunLoad(UUID(int=9), P, "local")),
                (3, ReasonCode.FAIR_SHARE),
            ),
        ],
    )
    def test_unusable_slots_are_not_reserved_for_others(
        self, others: tuple[RunLoad, ...], expected: tuple[int, ReasonCode]
    ) -> None:
        assert bound(concurrency(queue(*others, in_use=6), RUN, 8, 50)) == expected

    @pytest.mark.parametrize(
        ("urgent", "expected"),
        [
            (0, (8, ReasonCode.ALL_SLOTS)),
            (2, (6, ReasonCode.HIGHER_PRIORITY_RUNS)),
            (500, (3, ReasonCode.HIGHER_PRIORITY_RUNS)),
        ],
    )
    def test_more_urgent_runs_do_not_take_slots_in_use(self, urgent: int, expected: tuple[int, ReasonCode]) -> None:
        now = queue(RunLoad(UUID(int=8), Q, "local", priority=5))
        assert bound(concurrency(now, RUN, 8, 50, urgent=urgent)) == expected

    def test_unused_slots_are_shared(self) -> None:
        now = queue(RunLoad(UUID(int=8), Q, "local", priority=5), RunLoad(UUID(int=9), P, "local"))
        assert bound(concurrency(now, RUN, 8, 50, urgent=2)) == (3, ReasonCode.FAIR_SHARE)

    def test_paused_run_has_a_limit_of_zero(self) -> None:
        paused = Reason(ReasonCode.RUN_PAUSED, "the run is paused")
        limit = concurrency(queue(), RUN, 8, 50, [paused])
        assert limit == Concurrency(0, 8, paused)
        assert limit.text == "0 of 8 slots: the run is paused"

    def test_held_episodes_are_not_counted(self) -> None:
        held = Reason(ReasonCode.PERSON, "the rest is waiting for a person")
        assert concurrency(queue(), RUN, 8, 3, hold_reason=held) == Concurrency(3, 8, held)
        assert bound(concurrency(queue(), RUN, 8, 50, hold_reason=held)) == (8, ReasonCode.ALL_SLOTS)

    def test_person_may_use_slots_reserved_for_people(self) -> None:
        now = queue(reserve=Reserve(2, {}, {}))
        assert concurrency(now, replace(RUN, urgency=Urgency.PERSON), 8, 50).limit == 8
