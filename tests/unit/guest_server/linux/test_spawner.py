"""Programs that give up signals, in processes of their own: the restriction stays with a thread for good."""

import subprocess
import sys

import pytest

RESTRICTED = """
import os, signal, subprocess, sys
from guest_server.linux.spawner import Spawner, give_up_signals
if sys.argv[1] == "can":
    sys.exit(not give_up_signals())
spawner = Spawner(protected=sys.argv[1] == "protected")
first, second = (spawner.run(lambda: subprocess.Popen(["sleep", "60"])) for _ in range(2))
kill = f"kill -0 {first.pid} && kill {first.pid}; kill -TERM {os.getpid()} && echo reached"
signal.signal(signal.SIGTERM, lambda *_: None)
done = spawner.run(lambda: subprocess.Popen(["sh", "-c", kill], stdout=subprocess.PIPE, text=True))
print(done.communicate()[0].strip(), first.wait())
second.kill()
second.wait()
"""


def run(how: str) -> "subprocess.CompletedProcess[str]":
    """The script as the guest server's Python would run it."""
    command = [sys.executable, "-c", RESTRICTED, how]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd="vm_images", timeout=60)


class TestSpawner:
    def test_without_protection_its_programs_reach_us(self) -> None:
        assert run("open").stdout.split() == ["reached", "-15"]

    def test_with_it_they_reach_only_each_other(self) -> None:
        if run("can").returncode:
            pytest.skip("needs Landlock with scopes: Linux 6.12")
        assert run("protected").stdout.split() == ["-15"]
