"""Nothing stays behind: processes, desktops, mounts, folders and sockets after their deadline."""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos import processes
from tests.chaos.facts import Facts
from tests.chaos.invariants import Violation
from tests.chaos.processes import Seen
from tests.chaos.stack import WORKERS, ChaosStack

GRACE = 40.0
"""Seconds after which what has no owner any more must be gone: 10 of a lease, 10 of a guard, and a busy machine."""
PER_LEASE = 2
"""Desktops that a lease may hold: the attempt's, and the next one that is made ahead."""
SENTENCE = f"no process, desktop, mount, folder or socket is left {GRACE:g} s after its owner"


@dataclass
class Watch:
    """Notes what seems to be left behind; it counts once it was seen for the grace time."""

    since: dict[str, float] = field(default_factory=dict)

    def look(self, stack: ChaosStack, facts: Facts) -> list[Violation]:
        """What has been left behind for too long."""
        moment = time.time()
        now = dict(_orphans(stack, facts, moment))
        self.since = {key: self.since.get(key, moment) for key in now}
        return [Violation("orphans", SENTENCE, words) for key, words in now.items() if moment - self.since[key] > GRACE]


def _orphans(stack: ChaosStack, facts: Facts, moment: float) -> list[tuple[str, str]]:
    family = processes.below(os.getpid(), moment)
    known = {os.getpid(), *(each.pid for each in family)}
    found = [
        (f"stranger {each.pid}", f"{each}, which is nobody's child")
        for each in processes.strangers(stack.folder, known, moment)
    ]
    desktops = processes.desktop_names(family)
    held = sum(lease.released_at is None for lease in facts.leases)
    if len(desktops) > held * PER_LEASE:
        found.append(
            (f"desktops {sorted(desktops)}", f"{len(desktops)} desktops with {held} leases: {sorted(desktops)}")
        )
    return [*found, *_of_dead_workers(stack, family), *stack.orphans(facts).items()]


def _of_dead_workers(stack: ChaosStack, family: list[Seen]) -> list[tuple[str, str]]:
    """What descends from a guard, but not from the child that it guards."""
    by_parent: dict[int, list[Seen]] = {}
    for each in family:
        by_parent.setdefault(each.parent, []).append(each)
    found = []
    for name in WORKERS:
        pid = stack.pid(name)
        guard = next((each.parent for each in family if each.pid == pid), None)
        if guard is not None:
            found += [
                (f"left {each.pid}", f"{each}, left behind by an earlier {name}")
                for each in by_parent[guard]
                if each.pid != pid
            ]
    return found


def at_rest(stack: ChaosStack, facts: Facts) -> list[str]:
    """What a stack without work must not have, in words; empty once it is at rest."""
    moment = time.time()
    family = processes.below(os.getpid(), moment)
    found = [words for _, words in _orphans(stack, facts, moment)]
    found += [f"desktop {name}" for name in sorted(processes.desktop_names(family))]
    found += [f"an evaluator: {each}" for each in family if "worker.evaluation.child" in each.words]
    found += [f"the folder {path}" for path in stack.tmp.glob("deskarena-evidence-*")]
    keepers = list(stack.tmp.glob("deskarena-keepers-*/keeper-*"))
    found += [f"the folder of a dead keeper {path}" for path in keepers[len(WORKERS) :]]
    found += stack.at_rest()
    found += [f"a desktop's folder {path}" for keeper in keepers for path in keeper.glob("d[0-9]*")]
    return found


def after_the_end(stack: ChaosStack) -> list[str]:
    """What is left of a stack that was stopped, in words."""
    moment = time.time()
    known = {os.getpid()}
    found = [f"process {each}" for each in processes.strangers(stack.folder, known, moment)]
    found += [
        f"mount {line}" for line in Path("/proc/self/mounts").read_text().splitlines() if str(stack.folder) in line
    ]
    found += stack.left()
    return found + [f"file {path}" for path in stack.tmp.rglob("*")]
