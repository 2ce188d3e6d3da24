"""The worker's own tests of this machine, run in a separate process."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.cli.doctor.check import CheckState, CheckWords, DoctorCheck, first_line

SECONDS = 120.0
"""Time limit. Wine's first desktop on a busy machine takes longest."""
EXAMINE = "worker.commands.examine"


@dataclass(frozen=True)
class Trials:
    """Results of the tests.

    Attributes:
        findings: state and detail by name; empty if the tests failed.
        why_not: why the tests failed.
    """

    findings: Mapping[str, tuple[CheckState, str]]
    why_not: str = ""

    def check(self, probe: CheckWords) -> DoctorCheck:
        """The check for one finding."""
        state, detail = self.findings.get(probe.name, (CheckState.UNTRIED, self.why_not or "not tested"))
        return probe.check(state, detail)

    def ok(self, name: str) -> bool:
        """Whether the finding is ok."""
        return self.findings.get(name, (CheckState.UNTRIED,))[0] is CheckState.OK


def run_trials(environment: Mapping[str, str], programs: Mapping[str, Sequence[str]], module: str = EXAMINE) -> Trials:
    """Runs all tests.

    Args:
        environment: Environment of the process.
        programs: Commands to run in a desktop, by name.
        module: Module to run.
    """
    command = [sys.executable, "-P", "-m", module, json.dumps(programs)]
    try:
        result = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False,
            env=dict(environment),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Trials({}, f"the tests did not finish: {module} took longer than {SECONDS:g} s")
    except OSError as error:
        return Trials({}, f"the tests failed: {error}")
    if result.returncode != 0:
        # The last line of a traceback has the error.
        return Trials({}, (f"the tests failed: {first_line(chr(10).join(reversed(result.stderr.splitlines())))}"))
    try:
        results = json.loads(result.stdout.splitlines()[-1])
        return Trials({name: (CheckState(result["state"]), str(result["detail"])) for name, result in results.items()})
    except (ValueError, LookupError, TypeError, AttributeError):
        return Trials({}, f"the tests failed: the output of {module} cannot be parsed")
