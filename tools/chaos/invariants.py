"""Invariants under all faults: pure functions over facts, each with a name and one sentence."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from backend.domain.errors import FailureClass
from backend.domain.model.episode import Loss
from tools.chaos.facts import Facts

ENDED = {"scored", "handed_in", "lost", "cancelled"}
SILENT = 25.0
"""Seconds after which a live lease without heartbeat must be revoked on a healthy stack: 10 of the lease, 2 for the
poll, and a margin for a busy machine.
"""
WAITED = 20.0
"""Seconds: a time is that of its transaction's begin, which may have waited for a lock before it was seen."""
Expected = Mapping[tuple[str, str], float]
"""Score of the fault-free run by agent and task."""


@dataclass(frozen=True)
class Invariant:
    """Something that always holds.

    Attributes:
        name: short.
        sentence: what holds, for who reads that it did not.
        check: returns descriptions of contradicting facts.
        at_end: it must hold only once everything is at rest.
    """

    name: str
    sentence: str
    check: Callable[[Facts, Expected], Iterator[str]]
    at_end: bool = False


@dataclass(frozen=True)
class Violation:
    """An invariant that did not hold, with the facts."""

    name: str
    sentence: str
    facts: str

    def __str__(self) -> str:
        return f"{self.name}: {self.facts} (must hold: {self.sentence})"


def missing(facts: Facts, acknowledged: Mapping[UUID, int]) -> list[Violation]:
    """Runs that the API has acknowledged and that are not there, or without all of their episodes.

    Args:
        facts: at the end.
        acknowledged: number of episodes by run.
    """
    episodes = Counter(episode.run_id for episode in facts.episodes)
    sentence = "a run that the API has acknowledged is there, with all of its episodes"
    return [
        Violation("all there", sentence, f"run {run} has {episodes[run]} of {number} episodes")
        for run, number in acknowledged.items()
        if episodes[run] != number
    ]


def ends_once(facts: Facts, _: Expected) -> Iterator[str]:
    for episode in facts.episodes:
        at_most = 1 if episode.state in ENDED else 0
        if episode.endings > at_most:
            yield f"episode {episode.id} is {episode.state} and ended {episode.endings} times"
        if episode.state == "scored" and episode.endings != 1:
            yield f"episode {episode.id} is scored, but {episode.endings} events say so"


def one_verdict(facts: Facts, _: Expected) -> Iterator[str]:
    attempts = facts.attempts_of()
    for episode in facts.episodes:
        scored = [attempt for attempt in attempts[episode.id] if attempt.state == "scored"]
        if len(scored) != (episode.state == "scored"):
            yield f"episode {episode.id} is {episode.state} with {len(scored)} scored attempts"
    for attempt in facts.attempts:
        if attempt.verdicts != (attempt.state == "scored"):
            yield f"attempt {attempt.id} is {attempt.state} with {attempt.verdicts} verdicts"


def one_live(facts: Facts, _: Expected) -> Iterator[str]:
    for episode_id, attempts in facts.attempts_of().items():
        live = [attempt.number for attempt in attempts if attempt.live]
        if len(live) > 1:
            yield f"episode {episode_id} has the live attempts {live}"
    running = {episode.id for episode in facts.episodes if episode.state == "running"}
    for attempt in facts.attempts:
        if attempt.live and attempt.episode_id not in running:
            yield f"attempt {attempt.id} lives, its episode does not run"


def numbers(facts: Facts, _: Expected) -> Iterator[str]:
    attempts = facts.attempts_of()
    for episode in facts.episodes:
        actual = [attempt.number for attempt in attempts[episode.id]]
        if actual != list(range(1, episode.attempt_count + 1)):
            yield f"episode {episode.id} counts {episode.attempt_count} attempts and has {actual}"


def same_scores(facts: Facts, expected: Expected) -> Iterator[str]:
    for episode in facts.episodes:
        score = expected.get((episode.agent, episode.task))
        if episode.state == "scored" and episode.score != score:
            yield f"episode {episode.id}, {episode.agent} at {episode.task}: {episode.score}, without faults {score}"


def none_lost(facts: Facts, _: Expected) -> Iterator[str]:
    for episode in facts.episodes:
        if episode.state == "lost":
            yield f"episode {episode.id} ({episode.task}) is lost: {episode.failure_message[:300]}"


def bounded(facts: Facts, _: Expected) -> Iterator[str]:
    for episode_id, attempts in facts.attempts_of().items():
        losses = [
            Loss(FailureClass(attempt.failure_class), attempt.first_observation_at is not None, attempt.after_action)
            for attempt in attempts
            if attempt.failure_class is not None
        ]
        for kind, number in Counter(loss.counted_as for loss in losses).items():
            loss = next(candidate for candidate in losses if candidate.counted_as == kind)
            if number > loss.retries + 1:
                yield f"episode {episode_id} was lost {number} times as {loss}"


def fenced(facts: Facts, _: Expected) -> Iterator[str]:
    for attempt in facts.attempts:
        if attempt.late:
            yield f"attempt {attempt.id} ({attempt.state}): {attempt.late} steps were written after its end"
    by_slot: dict[object, int] = {}
    for lease in sorted(facts.leases, key=lambda lease: lease.acquired_at):
        if lease.fencing_token < by_slot.get(lease.slot_id, 0):
            yield f"lease {lease.id} came later and has a smaller token than one before it"
        by_slot[lease.slot_id] = lease.fencing_token


def in_order(facts: Facts, _: Expected) -> Iterator[str]:
    for attempt in facts.attempts:
        times = [moment for moment in (attempt.started_at, attempt.first_observation_at, attempt.ended_at) if moment]
        if any((before - after).total_seconds() > WAITED for before, after in itertools.pairwise(times)):
            yield f"attempt {attempt.id} began, was first seen and ended at {[str(time) for time in times]}"


def events_complete(facts: Facts, _: Expected) -> Iterator[str]:
    for run in facts.runs:
        span = run.last_event - run.first_event + 1 if run.events else 0
        if run.events and (run.first_event != 1 or span != run.events or run.next_event_seq != run.last_event + 1):
            yield f"run {run.id}: {run.events} events from {run.first_event} to {run.last_event}"


def cubes_right(facts: Facts, _: Expected) -> Iterator[str]:
    for run_id, (stored, cells) in facts.cubes.items():
        wrong = [key for key in sorted(set(stored) | set(cells)) if stored.get(key) != cells.get(key)]
        if wrong:
            example = f"of {wrong[0]} stored {stored.get(wrong[0])}, recomputed {cells.get(wrong[0])}"
            yield f"run {run_id}: {len(wrong)} cells are wrong: {example}"


def submitted_once(facts: Facts, _: Expected) -> Iterator[str]:
    names = [run.name for run in facts.runs if run.name.startswith("chaos-")]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{names.count(name)} runs were submitted as {name}"


def leases_beat(facts: Facts, _: Expected) -> Iterator[str]:
    for lease in facts.leases:
        age = (facts.now - lease.heartbeat_at).total_seconds()
        if lease.released_at is None and age > SILENT:
            yield f"lease {lease.id} of worker {lease.worker_id} has had no heartbeat for {age:.0f} s"


def all_ended(facts: Facts, _: Expected) -> Iterator[str]:
    for episode in facts.episodes:
        if episode.state not in ENDED:
            yield f"episode {episode.id} ({episode.task}) of a {episode.run_state} run is still {episode.state}"


def none_held(facts: Facts, _: Expected) -> Iterator[str]:
    for lease in facts.leases:
        if lease.released_at is None:
            yield f"lease {lease.id} of worker {lease.worker_id} is still held"


def cubes_fresh(facts: Facts, _: Expected) -> Iterator[str]:
    for run in facts.runs:
        if run.stale:
            yield f"the roll-up of run {run.id} is out of date"


ALL = (
    Invariant("one ending", "every episode ends exactly once", ends_once),
    Invariant(
        "one verdict", "a scored episode has one scored attempt with one current verdict, others none", one_verdict
    ),
    Invariant("one live", "an episode has at most one live attempt, and only while it runs", one_live),
    Invariant("numbers", "attempts of an episode are numbered from 1 without a gap", numbers),
    Invariant("same scores", "every score is that of the fault-free run: no fault became a score", same_scores),
    Invariant("none lost", "no episode is lost", none_lost),
    Invariant("bounded", "an episode is not tried again more often than its policy says", bounded),
    Invariant("fenced", "nothing is written of an attempt after its end, and tokens grow", fenced),
    Invariant("times", "an attempt begins, is seen and ends in this order, whatever its worker's clock says", in_order),
    Invariant("events", "a run's events are numbered from 1 without a gap", events_complete),
    Invariant("roll-ups", "a run's roll-up equals its recomputation", cubes_right),
    Invariant("submitted once", "a request that is repeated with its key gives one run", submitted_once),
    Invariant("leases beat", f"no lease is held for {SILENT:g} s without a heartbeat", leases_beat),
    Invariant("all ended", "in the end every episode has an outcome", all_ended, at_end=True),
    Invariant("none held", "in the end no lease is held", none_held, at_end=True),
    Invariant("fresh roll-ups", "in the end every roll-up is up to date", cubes_fresh, at_end=True),
)


def violations(facts: Facts, expected: Expected, *, at_end: bool = False) -> list[Violation]:
    """All that does not hold; before the end without what holds only then."""
    return [
        Violation(invariant.name, invariant.sentence, words)
        for invariant in ALL
        if at_end or not invariant.at_end
        for words in invariant.check(facts, expected)
    ]
