from dataclasses import replace
from uuid import UUID

import pytest

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


class TestConcurrency:
    @pytest.mark.parametrize(
        ("run", "now", "left", "words"),
        [
            (RUN, queue(), 50, "8 of 8 slots: all available slots"),
            (RUN, queue(), 2, "2 of 8 slots: no more episodes"),
            (replace(RUN, concurrency=5), queue(), 50, "5 of 8 slots: parallel limit of the run"),
            (replace(RUN, model_waits=1), queue(), 50, "3 of 8 slots: model rate limit"),
            (
                RUN,
                queue(rules=ProjectRules(quota={ALL: 6}), in_use=5),
                50,
                "4 of 8 slots: the project's quota of 6 desktops in all",
            ),
            (RUN, queue(reserve=Reserve(2, {}, {})), 50, "6 of 8 slots: 2 reserved for people's interactive episodes"),
            (RUN, queue(RunLoad(UUID(int=8), P, "local")), 50, "4 of 8 slots: a fair share with 1 other run"),
            (RUN, queue(RunLoad(UUID(int=8), Q, "local")), 50, "2 of 8 slots: a fair share with 1 other run"),
            (RUN, queue(RunLoad(UUID(int=8), Q, "local", priority=-1)), 50, "8 of 8 slots: all available slots"),
        ],
    )
    def test_the_least_of_all_bounds_decides(self, run: RunLoad, now: QueueSnapshot, left: int, words: str) -> None:
        assert concurrency(now, run, 8, left).text == words

    @pytest.mark.parametrize(
        ("others", "words"),
        [
            ((replace(RUN, id=UUID(int=8), concurrency=3),), "5 of 8 slots: 3 in use by runs at their limit"),
            ((replace(RUN, id=UUID(int=8), model_waits=1),), "5 of 8 slots: 3 in use by runs at their limit"),
            ((RunLoad(UUID(int=8), P, "local", model_waits=1),), "8 of 8 slots: all available slots"),
            (
                (replace(RUN, id=UUID(int=8), concurrency=2, in_use=2), RunLoad(UUID(int=9), P, "local")),
                "3 of 8 slots: a fair share with 1 other run",
            ),
        ],
    )
    def test_what_others_cannot_use_is_not_theirs(self, others: tuple[RunLoad, ...], words: str) -> None:
        assert concurrency(queue(*others, in_use=6), RUN, 8, 50).text == words

    @pytest.mark.parametrize(
        ("urgent", "words"),
        [
            (0, "8 of 8 slots: all available slots"),
            (2, "6 of 8 slots: higher-priority runs first"),
            (500, "3 of 8 slots: higher-priority runs first"),
        ],
    )
    def test_more_urgent_runs_leave_what_it_has(self, urgent: int, words: str) -> None:
        now = queue(RunLoad(UUID(int=8), Q, "local", priority=5))
        assert concurrency(now, RUN, 8, 50, urgent=urgent).text == words

    def test_what_they_leave_is_shared(self) -> None:
        now = queue(RunLoad(UUID(int=8), Q, "local", priority=5), RunLoad(UUID(int=9), P, "local"))
        assert concurrency(now, RUN, 8, 50, urgent=2).text == "3 of 8 slots: a fair share with 1 other run"

    def test_nothing_begins_where_nothing_may(self) -> None:
        assert concurrency(queue(), RUN, 8, 50, ["the run is paused"]) == Concurrency(0, 8, "the run is paused")

    def test_what_is_held_back_is_left(self) -> None:
        assert concurrency(queue(), RUN, 8, 3, hold_reason="the rest waits").text == "3 of 8 slots: the rest waits"
        assert (
            concurrency(queue(), RUN, 8, 50, hold_reason="the rest waits").text == "8 of 8 slots: all available slots"
        )

    def test_a_person_may_use_what_is_kept_for_people(self) -> None:
        now = queue(reserve=Reserve(2, {}, {}))
        assert concurrency(now, replace(RUN, urgency=Urgency.PERSON), 8, 50).limit == 8
