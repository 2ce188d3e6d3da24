"""The worker dies, in every way it can: its desktop supervisor takes everything along, at once."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.integration.desktop_supervisor.helpers import (
    eventually,
    exists,
    family,
    groups_of,
    supervisor_options,
    worker_command,
)

pytestmark = pytest.mark.desktop
AT_ONCE = 5.0
"""Seconds; what is measured is well below one, and issues allow twenty."""


@contextmanager
def worker(flavour: str, then: str = "") -> Iterator[tuple["subprocess.Popen[str]", dict[str, Any]]]:
    """A worker process with a desktop supervisor and two desktops."""
    with supervisor_options(flavour) as options:
        process = subprocess.Popen(worker_command(options, then), stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            yield process, json.loads(process.stdout.readline())
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def everything(said: dict[str, Any]) -> list[int]:
    """Process ids of the desktop supervisor and of all its desktops' processes."""
    return [said["pid"], *(pid for each in said["desktops"] for pid in family(each))]


def traces(said: dict[str, Any], pids: list[int]) -> list[object]:
    """Remains of a desktop supervisor."""
    folder = Path(said["folder"])
    return [
        *(pid for pid in pids if exists(pid)),
        *groups_of(said["supervisor"]),
        *([folder] if folder.exists() else []),
    ]


@pytest.mark.sampled(7)
class TestRun:
    @pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM], ids=["kill", "term"])
    def test_a_worker_that_is_ended_leaves_nothing(self, flavour: str, signal_number: signal.Signals) -> None:
        with worker(flavour) as (process, said):
            pids = everything(said)
            assert len(pids) >= 5
            os.kill(process.pid, signal_number)
            process.wait()
            assert eventually(lambda: not traces(said, pids), AT_ONCE) < AT_ONCE

    def test_a_child_of_the_worker_that_lives_on_does_not_hide_its_death(self, flavour: str) -> None:
        """A forked child keeps the connection open, as those of a process pool do."""
        fork = "child = os.fork() if (os := __import__('os')) else 0\nprint(child, flush=True) if child else None"
        with worker(flavour, fork) as (process, said):
            pids = everything(said)
            assert process.stdout is not None
            child = int(process.stdout.readline())
            try:
                os.kill(process.pid, signal.SIGKILL)
                eventually(lambda: not traces(said, pids), AT_ONCE)
                assert exists(child)
            finally:
                os.kill(child, signal.SIGKILL)

    def test_a_thread_that_ends_takes_no_desktop_along(self, flavour: str) -> None:
        """Parent-death signals follow threads; the supervisor must not depend on the thread that started a desktop."""
        code = (
            "import threading\n"
            "found = []\n"
            "def spawn(): found.append(client.spawn(secret='s', screen=(1, 1), limits=DesktopLimits(), timeout=30))\n"
            "thread = threading.Thread(target=spawn); thread.start(); thread.join()\n"
            "print(json.dumps(client.status()), flush=True)"
        )
        with worker(flavour, code) as (process, said):
            assert process.stdout is not None
            assert len(json.loads(process.stdout.readline())) == 3
            assert all(exists(pid) for pid in said["desktops"])

    def test_a_supervisor_that_is_killed_takes_its_desktops_along(self, flavour: str) -> None:
        with worker(flavour) as (_, said):
            pids = everything(said)
            os.kill(said["pid"], signal.SIGKILL)
            eventually(lambda: not [pid for pid in pids if exists(pid)], AT_ONCE)

    def test_a_supervisor_that_is_asked_to_end_leaves_nothing(self, flavour: str) -> None:
        with worker(flavour) as (_, said):
            pids = everything(said)
            os.kill(said["pid"], signal.SIGTERM)
            eventually(lambda: not traces(said, pids), AT_ONCE)
