from collections import Counter
from dataclasses import replace
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from backend.domain.model.reason import Reason, ReasonCode
from backend.domain.scheduling.bounds import hindrance
from backend.domain.scheduling.order import turns
from backend.domain.scheduling.priorities import AGING_SECONDS
from backend.domain.scheduling.projects import ALL, ProjectRules
from backend.domain.scheduling.reservations import Reserve, Urgency
from backend.domain.scheduling.snapshot import ProjectLoad, QueueSnapshot, RunLoad

P, Q = UUID(int=1), UUID(int=2)


def run(number: int, project: UUID = P, **more: object) -> RunLoad:
    return replace(RunLoad(UUID(int=number), project, "local"), **more)  # type: ignore[arg-type]


def queue(*runs: RunLoad, rules: dict[UUID, ProjectRules] | None = None, **more: object) -> QueueSnapshot:
    """A queue in which projects have what their runs have."""
    projects = {
        each: ProjectLoad(
            (rules or {}).get(each, ProjectRules()),
            {"local": sum(one.in_use for one in runs if one.project_id == each)},
            sum(one.used for one in runs if one.project_id == each),
        )
        for each in {one.project_id for one in runs}
    }
    return replace(QueueSnapshot("local", runs, projects), **more)  # type: ignore[arg-type]


def numbers(now: QueueSnapshot, number: int) -> list[int]:
    return [each.int for each in turns(now, number)]


class TestTurns:
    def test_single_run_gets_every_slot(self) -> None:
        assert numbers(queue(run(7)), 3) == [7, 7, 7]

    def test_equal_runs_share_equally_the_oldest_first(self) -> None:
        assert numbers(queue(run(7), run(8)), 4) == [7, 8, 7, 8]

    def test_a_person_comes_before_every_priority(self) -> None:
        assert numbers(queue(run(7, priority=10), run(8, urgency=Urgency.PERSON)), 2) == [8, 8]

    def test_a_higher_priority_comes_first(self) -> None:
        assert numbers(queue(run(7), run(8, priority=1)), 2) == [8, 8]

    def test_a_long_wait_earns_one_turn(self) -> None:
        now = queue(run(7, priority=-10, idle_seconds=20 * AGING_SECONDS), run(8, priority=9))
        assert numbers(now, 3) == [7, 8, 8]

    def test_long_held_slots_do_not_count_as_waiting(self) -> None:
        hours = run(7, in_use=6, idle_seconds=3 * AGING_SECONDS)
        assert numbers(queue(hours, run(8, Q, in_use=4)), 1) == [8]
        assert numbers(queue(replace(hours, priority=-10, in_use=1), run(8, Q, priority=-9)), 1) == [8]

    def test_projects_share_before_their_runs_do(self) -> None:
        assert Counter(numbers(queue(run(7), run(8), run(9, Q)), 4)) == {7: 1, 8: 1, 9: 2}

    def test_projects_share_by_weight(self) -> None:
        now = queue(run(7), run(9, Q), rules={Q: ProjectRules(weight=3)})
        assert Counter(numbers(now, 8)) == {7: 2, 9: 6}

    def test_odd_slot_goes_to_the_lower_recent_usage(self) -> None:
        assert numbers(queue(run(7, used=500.0), run(8, used=0.0)), 3) == [8, 8, 7]

    def test_program_comes_first_only_in_reserved_slots(self) -> None:
        runs = run(7), run(8, urgency=Urgency.PROGRAM)
        assert numbers(queue(*runs, free=5, reserve=Reserve(1, {}, {})), 4) == [8, 7, 7, 8]

    def test_a_project_without_desktops_here_has_none(self) -> None:
        now = queue(run(7, in_use=1), run(8, Q))
        now = replace(now, projects={**now.projects, Q: ProjectLoad(ProjectRules(), {"k8s": 9})})
        assert numbers(now, 2) == [8, 7]
        level = replace(now, projects={**now.projects, P: ProjectLoad(ProjectRules(), {"local": 0})})
        assert numbers(level, 3) == [7, 8, 7]

    def test_free_slots_for_programs_are_used_one_by_one(self) -> None:
        runs = run(7), run(8, urgency=Urgency.PROGRAM)
        now = queue(*runs, free=6, reserve=Reserve(2, {}, {Q: 1}))
        assert numbers(now, 9) == [8, 7, 7, 8, 7, 8]

    def test_excluded_runs_get_no_slots(self) -> None:
        assert turns(queue(run(7)), 3, without={UUID(int=7)}) == []

    @given(
        st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(-10, 10), st.booleans()), max_size=8),
        st.integers(0, 12),
        st.integers(0, 12),
        st.integers(0, 4),
    )
    def test_no_limit_is_ever_exceeded(
        self, made: list[tuple[int, int, int, bool]], quota: int, free: int, reserved: int
    ) -> None:
        runs = [
            run(10 + n, P if n % 2 else Q, in_use=busy, concurrency=busy + more or None, priority=priority)
            for n, (busy, more, priority, _) in enumerate(made)
        ]
        rules = {P: ProjectRules(quota={ALL: quota})}
        now = queue(*runs, rules=rules, free=free, reserve=Reserve(reserved, {}, {}))
        got = Counter(turns(now, 20))
        assert sum(got.values()) <= max(0, free - reserved)
        assert all(
            one.concurrency is None or one.in_use + got[one.id] <= max(one.concurrency, one.in_use) for one in runs
        )
        mine = sum(got[one.id] for one in runs if one.project_id == P)
        assert not mine or mine + sum(one.in_use for one in runs if one.project_id == P) <= quota


class TestHindrance:
    def test_unhindered_run_has_no_reason(self) -> None:
        assert hindrance(queue(run(7)), run(7)) is None

    def test_the_runs_own_limit(self) -> None:
        one = run(7, concurrency=2, in_use=2)
        assert hindrance(queue(one), one) == Reason(
            ReasonCode.CONCURRENCY_LIMIT, "parallel limit of the run reached: 2 of 2"
        )

    def test_model_rate_limit_is_the_reason(self) -> None:
        one = run(7, in_use=3, model_waits=1)
        assert hindrance(queue(one), one) == Reason(
            ReasonCode.MODEL_RATE_LIMIT, "model rate limit: 1 of its 3 episodes are waiting"
        )

    def test_project_quota_is_the_reason(self) -> None:
        one = run(7, in_use=2)
        rules = ProjectRules(quota={"local": 2})
        assert hindrance(queue(one, rules={P: rules}), one) == Reason(
            ReasonCode.QUOTA_REACHED, "project quota reached: 2 of 2 local desktops"
        )

    def test_slots_reserved_for_people(self) -> None:
        now = queue(run(7), free=1, reserve=Reserve(1, {}, {}))
        assert hindrance(now, run(7)) == Reason(
            ReasonCode.DESKTOPS_RESERVED, "free desktops are reserved for interactive episodes"
        )
        assert hindrance(now, run(7, urgency=Urgency.PERSON)) is None
