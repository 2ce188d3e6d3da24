"""Each invariant finds its violation, and nothing in a correct history."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tools.chaos.facts import AttemptFact, EpisodeFact, Facts, LeaseFact, RunFact
from tools.chaos.faults.base import ClosedNode, PodMark
from tools.chaos.invariants import missing, violations
from tools.chaos.marks import attempts_on_closed_nodes, named, unasked
from tools.chaos.recovery import uptakes

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
EXPECTED = {("oracle", "terminal/pack_site"): 1.0}


def number(value: int) -> UUID:
    return UUID(int=value)


def at(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


LEASE = LeaseFact(number(30), number(20), number(10), number(1), 7, at(0), at(9), at(12))
SECOND = replace(LEASE, id=number(31), slot_id=number(21), node_id=number(11), worker_id=number(2), fencing_token=8)
SECOND = replace(SECOND, acquired_at=at(13), heartbeat_at=at(20), released_at=at(21))
LOST = AttemptFact(
    id=number(40),
    episode_id=number(50),
    number=1,
    state="lost",
    live=False,
    worker_id=number(1),
    slot_id=number(20),
    lease_id=number(30),
    fencing_token=7,
    failure_class="cluster",
    failure_message="",
    after_action=False,
    started_at=at(1),
    first_observation_at=at(2),
    ended_at=at(12),
    verdicts=0,
    late=0,
    pod="uid-1",
    node="node-1",
)
SCORED = replace(LOST, id=number(41), number=2, state="scored", worker_id=number(2), slot_id=number(21), verdicts=1)
SCORED = replace(SCORED, lease_id=number(31), fencing_token=8, failure_class=None, started_at=at(13), ended_at=at(20))
SCORED = replace(SCORED, first_observation_at=at(14))
EPISODE = EpisodeFact(
    id=number(50),
    run_id=number(60),
    run_state="completed",
    agent="oracle",
    task="terminal/pack_site",
    state="scored",
    outcome="scored",
    score=1.0,
    attempt_count=2,
    endings=1,
    failure_message="",
)
RUN = RunFact(number(60), "completed", "chaos-1", 13, 12, 1, 12, stale=False)
SOUND = Facts(
    now=at(22),
    episodes=[EPISODE],
    attempts=[LOST, SCORED],
    leases=[LEASE, SECOND],
    runs=[RUN],
    slots={number(10): 1, number(11): 1},
    workers={number(1): number(10), number(2): number(11)},
    cubes={RUN.id: ({"all:": {"scored": 1}}, {"all:": {"scored": 1}})},
)


def with_episode(**more: Any) -> Facts:
    return replace(SOUND, episodes=[replace(EPISODE, **more)])


def with_scored(**more: Any) -> Facts:
    return replace(SOUND, attempts=[LOST, replace(SCORED, **more)])


UNSOUND = {
    "one ending": with_episode(endings=2),
    "one verdict": with_scored(verdicts=2),
    "one live": replace(SOUND, attempts=[replace(LOST, live=True), replace(SCORED, live=True)]),
    "numbers": with_scored(number=3),
    "same scores": with_episode(score=0.0),
    "none lost": with_episode(state="lost"),
    "bounded": replace(
        SOUND,
        attempts=[replace(LOST, id=number(70 + each), number=each, failure_class="guest") for each in range(1, 5)],
    ),
    "fenced": with_scored(late=1),
    "times": with_scored(first_observation_at=at(3600)),
    "events": replace(SOUND, runs=[replace(RUN, events=11)]),
    "roll-ups": replace(SOUND, cubes={RUN.id: ({"all:": {"scored": 0}}, {"all:": {"scored": 1}})}),
    "submitted once": replace(SOUND, runs=[RUN, replace(RUN, id=number(61))]),
    "leases beat": replace(SOUND, now=at(60), leases=[replace(LEASE, released_at=None)]),
    "all ended": with_episode(state="waiting", endings=0),
    "none held": replace(SOUND, leases=[replace(LEASE, released_at=None)]),
    "fresh roll-ups": replace(SOUND, runs=[replace(RUN, stale=True)]),
}


class TestViolations:
    def test_a_sound_history_has_none(self) -> None:
        assert violations(SOUND, EXPECTED, at_end=True) == []

    @pytest.mark.parametrize("name", UNSOUND)
    def test_each_is_found(self, name: str) -> None:
        assert name in {violation.name for violation in violations(UNSOUND[name], EXPECTED, at_end=True)}

    @pytest.mark.parametrize("name", ["all ended", "none held", "fresh roll-ups"])
    def test_final_invariants_are_not_checked_earlier(self, name: str) -> None:
        assert name not in {violation.name for violation in violations(UNSOUND[name], EXPECTED)}

    def test_a_score_that_the_fault_free_run_does_not_know_is_found(self) -> None:
        assert [violation.name for violation in violations(SOUND, {})] == ["same scores"]

    def test_a_smaller_token_after_a_larger_one_is_found(self) -> None:
        later = replace(LEASE, id=number(32), fencing_token=6, acquired_at=at(14))
        facts = replace(SOUND, leases=[LEASE, SECOND, later])
        assert [violation.name for violation in violations(facts, EXPECTED)] == ["fenced"]


class TestMissing:
    def test_says_nothing_where_all_is_there(self) -> None:
        assert missing(SOUND, {EPISODE.run_id: 1}) == []

    def test_finds_a_run_that_is_gone_and_one_without_its_episodes(self) -> None:
        found = missing(SOUND, {EPISODE.run_id: 2, number(61): 1})
        assert [violation.facts for violation in found] == [
            f"run {EPISODE.run_id} has 1 of 2 episodes",
            f"run {number(61)} has 0 of 1 episodes",
        ]


class TestUptakes:
    def test_counts_from_the_loss_of_the_worker_to_the_next_attempt(self) -> None:
        (found,) = uptakes(SOUND, [(number(1), at(3).timestamp(), True)])
        assert (found.seconds, found.other, found.free, found.counts) == (10.0, True, True, True)

    def test_an_attempt_that_had_ended_was_not_lost_with_it(self) -> None:
        assert uptakes(SOUND, [(number(1), at(14).timestamp(), True)]) == []

    def test_does_not_count_where_every_other_slot_was_held(self) -> None:
        other = replace(SCORED, id=number(43), episode_id=number(51), started_at=at(2), ended_at=None)
        facts = replace(SOUND, attempts=[LOST, SCORED, other])
        assert not uptakes(facts, [(number(1), at(3).timestamp(), True)])[0].counts

    def test_later_use_of_the_slot_does_not_matter(self) -> None:
        after = replace(SCORED, id=number(43), episode_id=number(51), started_at=at(17), ended_at=None)
        facts = replace(SOUND, attempts=[LOST, replace(SCORED, ended_at=at(16)), after])
        assert uptakes(facts, [(number(1), at(3).timestamp(), True)])[0].counts

    def test_a_lease_that_carries_nothing_holds_no_slot(self) -> None:
        idle = replace(SECOND, id=number(33), acquired_at=at(2), released_at=None)
        facts = replace(SOUND, leases=[LEASE, idle])
        assert uptakes(facts, [(number(1), at(3).timestamp(), True)])[0].counts

    def test_does_not_count_where_something_else_was_broken(self) -> None:
        assert not uptakes(SOUND, [(number(1), at(3).timestamp(), False)])[0].counts


class TestNamed:
    EVICTED = PodMark("uid-1", at(3).timestamp(), ("the pod was evicted",))

    def found(self, mark: PodMark = EVICTED, **more: Any) -> list[str]:
        facts = replace(SOUND, attempts=[replace(LOST, **more), SCORED])
        return [violation.name for violation in named(facts, [mark])]

    def test_an_attempt_that_was_lost_with_its_pod_says_why(self) -> None:
        assert self.found(failure_message="the desktop is gone: the pod was evicted: Eviction API: evicting") == []

    def test_other_words_and_another_class_are_found(self) -> None:
        assert self.found(failure_message="the desktop does not answer") == ["named"]
        assert self.found(failure_message="the pod was evicted", failure_class="guest") == ["named"]

    def test_other_pods_and_attempts_that_had_ended_need_not_say_it(self) -> None:
        assert self.found(pod="uid-2") == []
        assert self.found(ended_at=at(2)) == []

    def test_losses_near_another_fault_may_have_its_cause(self) -> None:
        assert self.found(replace(self.EVICTED, alone=False)) == []


class TestUnasked:
    def found(self, state: str, *cancelled: str) -> list[str]:
        return [violation.name for violation in unasked(with_episode(state=state), cancelled)]

    def test_a_run_that_nobody_cancelled_is_not_cancelled(self) -> None:
        assert self.found("cancelled", str(number(61))) == ["none given up"]
        assert self.found("cancelled", str(RUN.id)) == []

    def test_a_task_with_an_evaluator_is_not_handed_in(self) -> None:
        assert self.found("handed_in", str(RUN.id)) == ["none given up"]

    def test_a_scored_one_is_well(self) -> None:
        assert self.found("scored") == []


class TestBegunOnClosed:
    CLOSED = ClosedNode("node-1", since=at(-9).timestamp(), until=at(9).timestamp())

    def found(self, closed: ClosedNode) -> list[str]:
        return [violation.facts.split()[1] for violation in attempts_on_closed_nodes(SOUND, [closed])]

    def test_an_attempt_that_began_long_after_the_node_was_closed_is_found(self) -> None:
        assert self.found(self.CLOSED) == [str(LOST.id)]

    def test_not_on_another_node_nor_at_once_nor_afterwards(self) -> None:
        assert self.found(replace(self.CLOSED, node="node-2")) == []
        assert self.found(replace(self.CLOSED, since=at(-4).timestamp())) == []
        assert self.found(replace(self.CLOSED, until=at(0).timestamp())) == []
        assert self.found(replace(self.CLOSED, alone=False)) == []
