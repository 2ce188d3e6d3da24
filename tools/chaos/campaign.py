"""A campaign: volley after volley on the running stack, and after each the question whether everything still holds."""

import contextlib
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random
from threading import Event
from uuid import UUID

import httpx
from sqlalchemy import text

from backend.domain.errors import Unavailable
from tools.chaos import leftovers, processes, report, stale
from tools.chaos.facts import Facts, read
from tools.chaos.faults import KINDS, Scene
from tools.chaos.invariants import Expected, Violation, missing, violations
from tools.chaos.load import EpisodeLoad, Workload, expected_scores
from tools.chaos.marks import attempts_on_closed_nodes, named, unasked
from tools.chaos.plan import PlannedFault, Volley
from tools.chaos.recovery import LIMIT, uptakes
from tools.chaos.report import CampaignOutcome
from tools.chaos.stack import ChaosStack, now

STARTER = (
    "terminal/count_lines",
    "terminal/restore_poem",
    "terminal/pack_site",
    "terminal/make_executable",
    "terminal/collect_errors",
    "editor/add_milk",
    "editor/bold_deadline",
    "editor/write_invitation",
    "files/move_thesis",
    "files/rename_report",
)
LOCAL = Workload(
    benchmark="starter",
    tasks=STARTER,
    # The oracle more often: it works longer, and its 1 is what a fault must not turn into a 0.
    agents=("oracle", "oracle", "oracle", "noop"),
    best="oracle",
    more={"screen": {"width": 1280, "height": 800}},
    outside="editor/bold_deadline",
)
WELL_SECONDS = 150.0
END_SECONDS = 420.0
UNDER_WAY = 3
"""Episodes at a time on four slots: so that a slot is free when a worker is lost."""
BUSY = 2
"""Episodes that run before the next fault comes."""
WORN = 3
"""Losses of one episode after which nothing is broken until it has ended: the policy gives it up at the sixth."""


@dataclass
class CampaignSettings:
    """How a campaign is run.

    Attributes:
        stop: end at the first violation.
        keep: leave the stack's folder there even if everything held.
        work: what the agents work on.
        stack: makes the stack.
    """

    seed: int
    stop: bool = False
    keep: bool = False
    work: Workload = LOCAL
    stack: Callable[[], ChaosStack] = ChaosStack


@dataclass
class Campaign:
    """One campaign on one stack."""

    settings: CampaignSettings
    stack: ChaosStack
    outcome: CampaignOutcome
    expected: Expected = field(default_factory=dict)
    watch: leftovers.LeftoverWatch = field(default_factory=leftovers.LeftoverWatch)
    tried: set[object] = field(default_factory=set)
    reported: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.scene = Scene(self.stack)
        self.load = EpisodeLoad(self.stack, self.settings.work, Random(f"load {self.settings.seed}"))
        self.pids: dict[int, list[tuple[float, UUID]]] = {}
        self.stale_writes = 0
        self._heals: list[Future[None]] = []

    def run(self, volleys: Sequence[Volley]) -> None:
        """Everything, from the fault-free run to the end of all episodes."""
        began = time.monotonic()
        if not self._wait_well("at the start"):
            raise RuntimeError("the stack did not come up; nothing was broken yet")
        self.stack.furnish()
        say(f"fault-free run of {len(self.settings.work.tasks)} tasks")
        self.expected = expected_scores(self.stack, self.load)
        say(f"done in {time.monotonic() - began:.0f} s; {sum(len(volley.faults) for volley in volleys)} faults follow")
        self.load.start(UNDER_WAY)
        try:
            for volley in volleys:
                self._run_volley(volley)
                if self.settings.stop and self.outcome.violations:
                    break
        except KeyboardInterrupt:
            say("interrupted: what was begun is brought to its end; a second interrupt ends at once")
        finally:
            # An interrupt must not wait for paused processes.
            processes.signal_all([process.pid for process in processes.below(os.getpid(), now())], signal.SIGCONT)
            self.load.stop()
        self._end()
        self.outcome.seconds = time.monotonic() - began

    # ---- one volley

    def _run_volley(self, volley: Volley) -> None:
        if not self._wait_for_work(volley.wait):
            self.outcome.unready.append(volley.numbers)
        self._note_workers()
        self.outcome.load.append(report.load_now())
        noted = [len(note) for note in self.scene.notes]
        for words in self._fire(volley):
            say(words)
        healed = time.monotonic()
        for known, notes in zip(noted, self.scene.notes, strict=True):
            for note in notes[known:]:
                note.alone = len(volley.faults) == 1
        well = self._wait_well(volley.numbers)
        for planned in volley.faults:
            self.outcome.recoveries.setdefault(planned.kind, []).append(time.monotonic() - healed)
        if well:
            self._check(volley)
        self.stack.forgive()

    def _fire(self, volley: Volley) -> Iterator[str]:
        """Injects each fault at its time and prints it. Heals all at the end.

        Healing has its own threads, because injecting one fault may block while another lasts.
        """
        began, pause = time.monotonic(), Event()
        with ThreadPoolExecutor(len(volley.faults), thread_name_prefix="heal") as healing:
            for planned in sorted(volley.faults, key=lambda fault: fault.after):
                pause.wait(max(0.0, began + planned.after - time.monotonic()))
                yield f"{planned.number:4} {planned.kind}: {self._inject(planned)}"
                self._heals.append(healing.submit(self._heal, planned))
        while self._heals:
            try:
                self._heals.pop().result()
            except (Unavailable, TimeoutError, httpx.HTTPError) as error:
                sentence = "what was broken for a time is mended again"
                self._note_violations(
                    volley.numbers, [Violation("mended", sentence, f"{type(error).__name__}: {error}")]
                )

    def _heal(self, planned: PlannedFault) -> None:
        Event().wait(planned.fault.seconds)
        planned.fault.heal(self.scene)

    def _inject(self, planned: PlannedFault) -> str:
        self.outcome.injected[planned.kind] = self.outcome.injected.get(planned.kind, 0) + 1
        try:
            message = planned.fault.inject(self.scene)
        except (Unavailable, TimeoutError) as error:
            message = f"nothing: {error}"
        if message.startswith(("no ", "nothing")) or "away" in message or "left alone" in message:
            self.outcome.idle[planned.kind] = self.outcome.idle.get(planned.kind, 0) + 1
        return message

    def _note_workers(self) -> None:
        """Which row each worker's process has: a process id is used again some day."""
        with contextlib.suppress(Unavailable), self.stack.world.work() as session:
            for row in session.execute(text("SELECT id, pid, extract(epoch FROM started_at) AS at FROM worker")):
                known = self.pids.setdefault(row.pid, [])
                if all(row.id != worker for _, worker in known):
                    known.append((float(row.at), row.id))

    # ---- waiting

    def _wait_for_work(self, seconds: float) -> bool:
        """Until enough runs, and worn episodes have ended; False if that took too long."""
        Event().wait(seconds)
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline:
            with contextlib.suppress(Unavailable):
                running, worn = self._under_way()
                if running >= BUSY and not worn:
                    return True
            Event().wait(0.2)
        return False

    def _under_way(self) -> tuple[int, int]:
        query = """SELECT count(*) FILTER (WHERE e.state = 'running') AS running, count(*) FILTER (WHERE (
                SELECT count(*) FROM attempt a WHERE a.episode_id = e.id AND a.state = 'lost') >= :worn) AS worn
            FROM episode e JOIN run r ON r.id = e.run_id
            WHERE e.state IN ('waiting', 'running') AND r.state IN ('queued', 'running')"""
        with self.stack.world.work() as session:
            row = session.execute(text(query), {"worn": WORN}).one()
        return row.running, row.worn

    def _wait_well(self, numbers: str) -> bool:
        deadline = time.monotonic() + WELL_SECONDS
        reason = "not asked"
        while time.monotonic() < deadline:
            try:
                reason = self.stack.unwell()
            except Unavailable as error:
                reason = error.message
            if not reason:
                return True
            Event().wait(0.1)
        self._note_violations(
            numbers, [Violation("well again", f"everything works within {WELL_SECONDS:g} s of a fault", reason)]
        )
        return False

    # ---- checking

    def _check(self, volley: Volley) -> None:
        try:
            facts = read(self.stack.world, provider=self.settings.work.provider)
            number, accepted = stale.replayed(self.stack.world, facts, self.tried)
        except Unavailable as error:
            say(f"     not checked: {error.message}")
            self.outcome.unchecked.append(volley.numbers)
            return
        self.stale_writes += number
        self._note_violations(
            volley.numbers, [*violations(facts, self.expected), *self.watch.look(self.stack, facts), *accepted]
        )

    def _note_violations(self, numbers: str, new_violations: Sequence[Violation]) -> None:
        for violation in new_violations:
            if str(violation) in self.reported:
                continue
            self.reported.add(str(violation))
            self.outcome.violations.append((numbers, violation))
            say(f"VIOLATED after fault {numbers}: {violation}")
            again = f"{self.outcome.command} ONLY={numbers}"
            say(f"     repeat with: {again}; logs are in {self.stack.data / 'logs'}")

    def _end(self) -> None:
        """Waits until all episodes have ended and the stack is at rest, then reads all figures."""
        say("waiting for all episodes to end")
        try:
            facts = self._await_facts()
            number, accepted = stale.replayed(self.stack.world, facts, self.tried)
        except Unavailable as error:
            self._note_violations("end", [Violation("read", "at the end the database can be read", error.message)])
            return
        self.stale_writes += number
        self._note_violations(
            "end",
            [
                *missing(facts, self.load.runs),
                *violations(facts, self.expected, at_end=True),
                *accepted,
                *named(facts, self.scene.marks),
                *attempts_on_closed_nodes(facts, self.scene.closed),
                *unasked(facts, self.scene.cancelled),
            ],
        )
        self._rest(facts)
        self._note_workers()
        blows = [(row, blow.at, blow.alone) for blow in self.scene.blows if (row := self._row(blow.pid, blow.at))]
        self.outcome.uptakes = uptakes(facts, blows)
        for slow in self.outcome.slow:
            message = f"episode {slow.episode_id} after {slow.seconds:.1f} s"
            self._note_violations(
                "end", [Violation("taken up", f"a lost worker's episode is taken up within {LIMIT:g} s", message)]
            )
        self.outcome.counts = {
            **{f"episodes {state}": count for state, count in sorted(Counter(e.state for e in facts.episodes).items())},
            "attempts": len(facts.attempts),
            "runs": len(facts.runs),
            "stale writes refused": self.stale_writes,
        }
        self.outcome.losses = dict(Counter(a.failure_class for a in facts.attempts if a.failure_class))

    def _row(self, pid: int, at: float) -> UUID | None:
        """The worker that had a process id at a moment."""
        known = [(since, worker) for since, worker in self.pids.get(pid, []) if since <= at]
        return max(known)[1] if known else None

    def _await_facts(self) -> Facts:
        """Raises Unavailable: the database could not be read in all that time."""
        deadline = time.monotonic() + END_SECONDS
        while True:
            late = time.monotonic() > deadline
            try:
                facts = read(self.stack.world, provider=self.settings.work.provider, all_cubes=True)
                if late or not violations_of_rest(facts):
                    return facts
            except Unavailable:
                if late:
                    raise
            Event().wait(0.5)

    def _rest(self, facts: Facts) -> None:
        seconds = self.stack.rest_seconds
        deadline = time.monotonic() + seconds
        while (remaining := leftovers.at_rest(self.stack, facts)) and time.monotonic() < deadline:
            Event().wait(0.5)
        sentence = f"{seconds:g} s after its last episode a stack has no desktop, evaluator or folder of one"
        self._note_violations("end", [Violation("at rest", sentence, words) for words in remaining])


def violations_of_rest(facts: Facts) -> bool:
    """Violations while something is not at rest yet."""
    ended = all(episode.state in {"scored", "handed_in", "lost", "cancelled"} for episode in facts.episodes)
    has_lease = any(lease.released_at is None for lease in facts.leases)
    return not ended or has_lease or any(run.stale for run in facts.runs)


def able(stack: ChaosStack, outcome: CampaignOutcome, volleys: Sequence[Volley]) -> list[Volley]:
    """The volleys without what this machine cannot have; notes why."""
    scene, usable = Scene(stack), []
    for volley in volleys:
        faults = []
        for planned in volley.faults:
            if reason := planned.fault.why_not(scene):
                outcome.skipped[planned.kind] = reason
            else:
                faults.append(planned)
        if faults:
            usable.append(Volley(tuple(faults), volley.wait))
    return usable


def conduct(settings: CampaignSettings, outcome: CampaignOutcome, volleys: Sequence[Volley]) -> CampaignOutcome:
    """Starts a stack, runs the campaign on it and stops it; then looks whether anything is left."""
    stack = settings.stack()
    say(f"the stack runs at {stack.url}, its files are in {stack.folder}")
    try:
        Campaign(settings, stack, outcome).run(able(stack, outcome, volleys))
    finally:
        stack.close()
    sentence = "a stack that was stopped leaves no process, mount or file"
    remains = leftovers.after_the_end(stack)
    outcome.violations += [("end", Violation("after the end", sentence, words)) for words in remains]
    for words in remains:
        say(f"VIOLATED: left after the end: {words}")
    tidy(stack, outcome, keep=settings.keep)
    return outcome


def tidy(stack: ChaosStack, outcome: CampaignOutcome, *, keep: bool) -> None:
    """Removes the folder of a stack on which everything held; prints the path otherwise."""
    if outcome.passed and not keep:
        stack.discard()
    else:
        say(f"what is left of the stack, with its logs, is in {stack.folder}")


def kinds(flavour: str = "local") -> list[str]:
    """Kinds of faults that a flavour of the stack has."""
    return [kind.name for kind in KINDS.values() if kind.flavour in {"", flavour}]


def say(message: str) -> None:
    """Prints the progress."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S', time.gmtime(now()))} {message}\n")
    sys.stderr.flush()
