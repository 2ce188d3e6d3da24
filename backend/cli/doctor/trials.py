"""What this machine can do for a worker, tried by the worker's own code in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.cli.doctor.check import CheckState, CheckWords, DoctorCheck, first_line

SECONDS = 120.0
"""Wine's first desktop on a busy machine takes longest."""
EXAMINE = "worker.commands.examine"


@dataclass(frozen=True)
class Trials:
    """What came of them.

    Attributes:
        findings: state and detail by name; none where they could not be made.
        why_not: why they could not be made.
    """

    findings: Mapping[str, tuple[CheckState, str]]
    why_not: str = ""

    def check(self, probe: CheckWords) -> DoctorCheck:
        """What was found of one thing, with what that means."""
        state, detail = self.findings.get(probe.name, (CheckState.UNTRIED, self.why_not or "it was not tried"))
        return probe.found(state, detail)

    def ok(self, name: str) -> bool:
        """Whether that works."""
        return self.findings.get(name, (CheckState.UNTRIED,))[0] is CheckState.OK


def run_trials(environment: Mapping[str, str], programs: Mapping[str, Sequence[str]], module: str = EXAMINE) -> Trials:
    """Has everything tried.

    Args:
        environment: of the process.
        programs: by name, the command that is run in a desktop.
        module: that is run.
    """
    command = [sys.executable, "-P", "-m", module, json.dumps(programs)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False,
            env=dict(environment),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Trials({}, f"it was not tried to the end: {module} took longer than {SECONDS:g} s")
    except OSError as error:
        return Trials({}, f"it could not be tried: {error}")
    if done.returncode != 0:
        # The last line of a traceback says what it was.
        return Trials({}, f"it could not be tried: {first_line(chr(10).join(reversed(done.stderr.splitlines())))}")
    try:
        results = json.loads(done.stdout.splitlines()[-1])
        return Trials({name: (CheckState(each["state"]), str(each["detail"])) for name, each in results.items()})
    except (ValueError, LookupError, TypeError, AttributeError):
        return Trials({}, f"it could not be tried: what {module} printed cannot be read")
