"""Leftovers are found, also those without a mark of the stack on them."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.integration.tools.chaos.test_invariants import LEASE, LOST, SCORED, SECOND, SOUND, at, number
from tests.waiting import until
from tools.chaos.facts import Facts
from tools.chaos.leftovers import GRACE, LeftoverWatch, needed_since
from worker.desktop_supervisor.folders import title

SUPERVISOR = "abcd"
IDLE = replace(SOUND, leases=[replace(LEASE, released_at=at(1))], attempts=[])
Start = Callable[[str], None]


class EmptyStack:
    """A stack with an empty folder and no processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = self.tmp = folder
        self.desktop_supervisors: set[str] = set()
        self.supervisor = folder / "deskarena-supervisors-0" / f"supervisor-{SUPERVISOR}"
        self.supervisor.mkdir(parents=True)

    def pid(self, name: str) -> int | None:  # noqa: ARG002
        return None

    def orphans(self, facts: Facts) -> dict[str, str]:  # noqa: ARG002
        return {}


@pytest.fixture
def looked(tmp_path: Path) -> EmptyStack:
    return EmptyStack(tmp_path)


@pytest.fixture
def desktop() -> Iterator[Start]:
    """Starts the first process of a desktop, as far as its command line goes."""
    with ExitStack() as ends:

        def start(name: str) -> None:
            words = [title(SUPERVISOR, name), "60"]
            process = subprocess.Popen(words, executable="/bin/sleep", env={})
            ends.callback(process.wait)
            ends.callback(process.kill)
            until(lambda: psutil.Process(process.pid).cmdline() == words, what="it runs")

        yield start


def leases_now() -> Facts:
    """One lease that lives, taken a minute ago."""
    moment = at(0).fromtimestamp(time.time() - 60, at(0).tzinfo)
    return replace(SOUND, leases=[replace(SECOND, acquired_at=moment, released_at=None)], attempts=[])


def seen(stack: EmptyStack, facts: Facts) -> list[str]:
    """Leftovers in a look that comes longer than the grace time after the first one."""
    watch, moment = LeftoverWatch(), time.time()
    assert watch.look(stack, facts, moment) == []
    return [violation.facts for violation in watch.look(stack, facts, moment + GRACE + 1)]


class TestDesktops:
    def test_no_desktops_no_leftovers(self, looked: EmptyStack) -> None:
        assert seen(looked, IDLE) == []

    def test_leased_desktop_is_not_a_leftover(self, looked: EmptyStack, desktop: Start) -> None:
        desktop("d1")
        assert seen(looked, leases_now()) == []

    def test_desktop_without_a_lease_is_a_leftover(self, looked: EmptyStack, desktop: Start) -> None:
        watch, moment, later = LeftoverWatch(), time.time(), replace(SECOND, acquired_at=at(10**9), released_at=None)
        facts = replace(SOUND, leases=[later], attempts=[])
        desktop("d1")
        assert watch.look(looked, facts, moment) == []
        desktop("d2")
        (found,) = watch.look(looked, facts, moment + GRACE + 1)
        assert found.facts.startswith(f"the desktop {SUPERVISOR}:d1, ")

    def test_too_many_are_found_though_they_change(self, looked: EmptyStack, desktop: Start) -> None:
        watch, moment = LeftoverWatch(), time.time()
        for name in ("d1", "d2", "d3"):
            desktop(name)
        assert watch.look(looked, leases_now(), moment) == []
        desktop("d4")
        (found,) = watch.look(looked, leases_now(), moment + GRACE + 1)
        assert found.facts.startswith("4 desktops with 1 leases")

    def test_a_folder_without_its_desktop_is_found(self, looked: EmptyStack) -> None:
        (looked.supervisor / "d7").mkdir()
        assert seen(looked, IDLE) == [f"the folder {looked.supervisor / 'd7'} without its desktop"]

    def test_orphan_is_identified_by_its_supervisor(self, looked: EmptyStack) -> None:
        words = f"exec -a {title(SUPERVISOR, 'd1')} /bin/sleep 60 >/dev/null 2>&1 & echo $!"
        pid = int(subprocess.run(["bash", "-c", words], capture_output=True, check=True, env={}).stdout)
        try:
            until(lambda: psutil.Process(pid).ppid() != os.getpid(), what="it is nobody's child")
            until(lambda: psutil.Process(pid).cmdline()[0] == title(SUPERVISOR, "d1"), what="it runs")
            watch, moment = LeftoverWatch(), time.time()
            watch.look(looked, IDLE, moment)
            looked.supervisor.rmdir()  # Its desktop supervisor is gone, too.
            found = watch.look(looked, IDLE, moment + GRACE + 1)
        finally:
            os.kill(pid, 9)
        assert [violation.facts.split(" ", 1)[0] for violation in found] == [str(pid)]


class TestNeededSince:
    def test_no_lease_needs_nothing(self) -> None:
        assert needed_since(IDLE) is None

    def test_a_lease_may_need_what_was_made_ahead_during_the_attempt_before(self) -> None:
        lease = replace(LEASE, released_at=None)
        third = replace(LOST, id=number(43), started_at=at(9), ended_at=None)
        second = replace(LOST, id=number(42), started_at=at(5))
        facts = replace(
            SOUND, leases=[lease, replace(SECOND, released_at=at(21))], attempts=[LOST, second, third, SCORED]
        )
        assert needed_since(facts) == at(5).timestamp()

    def test_the_first_attempt_has_one_of_its_lease(self) -> None:
        facts = replace(SOUND, leases=[replace(LEASE, released_at=None)], attempts=[LOST])
        assert needed_since(facts) == LEASE.acquired_at.timestamp()
