"""A container engine with one container; a test decides its answers and when the container ends."""

import json
import os
from pathlib import Path

from worker.agents.containers import Engine

_PROGRAM = """#!/bin/sh
cd '{folder}' || exit 99
echo "$*" >> calls
[ "$1" = run ] && {{ echo began; read -r code < ends; [ "$code" = KILL ] && kill -9 $$; exit "$code"; }}
[ -f away ] && {{ echo 'Cannot connect to the daemon' >&2; exit 1; }}
[ "$1" = inspect ] && {{ cat state 2> /dev/null || {{ echo 'No such container' >&2; exit 1; }} }}
[ "$1" = rm ] && [ -f missing ] && {{ echo 'Error: No such container: x' >&2; exit 1; }}
exit 0
"""


class ScriptedEngine:
    """A program in place of `docker`.

    Attributes:
        engine: for whom it is one.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        os.mkfifo(folder / "ends")
        program = folder / "docker"
        program.write_text(_PROGRAM.format(folder=folder))
        program.chmod(0o755)
        self.engine = Engine(str(program))

    def calls(self, verb: str) -> list[str]:
        """Commands of this kind that it got."""
        calls = self.folder / "calls"
        return [line for line in calls.read_text().splitlines() if line.startswith(verb)] if calls.exists() else []

    def ends(self, code: int | str, status: str = "exited", *, oom: bool = False) -> None:
        """Ends the container with this code (`KILL`: kills the engine's program); the engine reports it."""
        (self.folder / "state").write_text(json.dumps({"Status": status, "OOMKilled": oom, "ExitCode": 0, "Error": ""}))
        self.exits(code)

    def exits(self, code: int | str) -> None:
        """The same, while the engine knows of no such container."""
        (self.folder / "ends").write_text(f"{code}\n")

    def goes_away(self) -> None:
        """It answers nobody any more."""
        (self.folder / "away").touch()

    def comes_back(self) -> None:
        """It answers again."""
        (self.folder / "away").unlink()
