"""Nothing stays behind: processes, desktops, mounts, folders and sockets after their deadline."""

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tools.chaos import processes
from tools.chaos.facts import Facts
from tools.chaos.invariants import Violation
from tools.chaos.processes import ProcessInfo
from tools.chaos.stack import WORKERS, ChaosStack

GRACE = 40.0
"""Seconds after which ownerless objects must be gone: 10 of a lease, 10 of a guard, and a margin for a busy machine."""
PER_LEASE = 2
"""Desktops that a lease may hold: the attempt's, and the next one that is made ahead."""
HOST_NOTES = ("deskarena-trials-", "deskarena-accelerator-")
"""Folders with measurements of the host, shared by all its stacks until the next boot."""
SENTENCE = f"no process, desktop or folder of one is left {GRACE:g} s after its owner"


class WatchedStack(Protocol):
    """The inspected part of a stack. `desktop_supervisors`: names of all supervisors so far."""

    folder: Path
    tmp: Path
    desktop_supervisors: set[str]

    def pid(self, name: str) -> int | None:
        """Process id of a worker."""

    def orphans(self, facts: Facts) -> dict[str, str]:
        """Descriptions of possible leftovers besides processes, by name."""


@dataclass
class LeftoverWatch:
    """Notes what seems to be left behind; it counts once it was seen for the grace time."""

    since: dict[str, float] = field(default_factory=dict)

    def look(self, stack: WatchedStack, facts: Facts, moment: float | None = None) -> list[Violation]:
        """Leftovers that are too old at a moment (seconds since 1970; default: now)."""
        moment = time.time() if moment is None else moment
        now = dict(_orphans(stack, facts, moment))
        self.since = {key: self.since.get(key, moment) for key in now}
        return [Violation("orphans", SENTENCE, words) for key, words in now.items() if moment - self.since[key] > GRACE]


def _orphans(stack: WatchedStack, facts: Facts, moment: float) -> list[tuple[str, str]]:
    family = processes.below(os.getpid(), moment)
    known = {os.getpid(), *(process.pid for process in family)}
    note_desktop_supervisors(stack)
    findings = [
        (f"stranger {stranger.pid}", f"{stranger}, which is nobody's child")
        for stranger in processes.strangers(stack.folder, stack.desktop_supervisors, known, moment)
    ]
    findings += _desktops(stack, facts, processes.desktops(family), moment)
    return [*findings, *_of_dead_workers(stack, family), *stack.orphans(facts).items()]


def note_desktop_supervisors(stack: WatchedStack) -> None:
    """Remembers the names that desktop supervisors had: a desktop that outlives its own is known by nothing else."""
    stack.desktop_supervisors |= {
        path.name.removeprefix("supervisor-") for path in stack.tmp.glob("deskarena-supervisors-*/supervisor-*")
    }


def _desktops(
    stack: WatchedStack, facts: Facts, there: Mapping[str, float], moment: float
) -> Iterator[tuple[str, str]]:
    """Desktops beyond what leases may hold, older than any that a lease can still need, and folders without one."""
    lease_count = sum(lease.released_at is None for lease in facts.leases)
    if len(there) > lease_count * PER_LEASE:
        yield "desktops", f"{len(there)} desktops with {lease_count} leases: {sorted(there)}"
    needed = needed_since(facts)
    for name, age in there.items():
        if needed is None or moment - age < needed:
            yield f"desktop {name}", f"the desktop {name}, {age:.0f} s old, which no lease can need any more"
    for folder in stack.tmp.glob("deskarena-supervisors-*/supervisor-*/d[0-9]*"):
        if f"{folder.parent.name.removeprefix('supervisor-')}:{folder.name}" not in there:
            yield f"folder {folder}", f"the folder {folder} without its desktop"


def needed_since(facts: Facts) -> float | None:
    """When the oldest desktop can have been made that a lease still needs; None without a lease.

    A desktop is created for an attempt, or in advance during the previous one under the same lease.

    Returns:
        Seconds since 1970.
    """
    begins = []
    for lease in facts.leases:
        if lease.released_at is None:
            under = sorted(attempt.started_at for attempt in facts.attempts if attempt.lease_id == lease.id)
            begins.append(under[-2] if len(under) > 1 else lease.acquired_at)
    return min(begins).timestamp() if begins else None


def _of_dead_workers(stack: WatchedStack, family: list[ProcessInfo]) -> list[tuple[str, str]]:
    """Descendants of a guard that do not descend from the child it guards."""
    by_parent: dict[int, list[ProcessInfo]] = {}
    for process in family:
        by_parent.setdefault(process.parent, []).append(process)
    findings = []
    for name in WORKERS:
        pid = stack.pid(name)
        guard = next((process.parent for process in family if process.pid == pid), None)
        if guard is not None:
            findings += [
                (f"left {process.pid}", f"{process}, left behind by an earlier {name}")
                for process in by_parent[guard]
                if process.pid != pid
            ]
    return findings


def at_rest(stack: ChaosStack, facts: Facts) -> list[str]:
    """Descriptions of what an idle stack must not have; empty once it is at rest."""
    moment = time.time()
    family = processes.below(os.getpid(), moment)
    findings = [words for _, words in _orphans(stack, facts, moment)]
    findings += [f"desktop {name}" for name in sorted(processes.desktops(family))]
    findings += [f"an evaluator: {process}" for process in family if "worker.evaluation.child" in process.words]
    findings += [f"the folder {path}" for path in stack.tmp.glob("deskarena-evidence-*")]
    supervisors = list(stack.tmp.glob("deskarena-supervisors-*/supervisor-*"))
    findings += [f"the folder of a dead desktop supervisor {path}" for path in supervisors[len(WORKERS) :]]
    findings += stack.at_rest()
    findings += [f"a desktop's folder {path}" for supervisor in supervisors for path in supervisor.glob("d[0-9]*")]
    return findings


def after_the_end(stack: ChaosStack) -> list[str]:
    """Descriptions of leftovers of a stopped stack."""
    moment = time.time()
    known = {os.getpid()}
    findings = [
        f"process {stranger}"
        for stranger in processes.strangers(stack.folder, stack.desktop_supervisors, known, moment)
    ]
    findings += [
        f"mount {line}" for line in Path("/proc/self/mounts").read_text().splitlines() if str(stack.folder) in line
    ]
    findings += stack.left()
    findings += [f"file {path}" for path in stack.tmp.rglob("*") if not _is_host_note(path.relative_to(stack.tmp))]
    return findings


def _is_host_note(path: Path) -> bool:
    return path.parts[0].startswith(HOST_NOTES)
