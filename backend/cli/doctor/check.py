"""Result of one check of `deskarena doctor`, and a helper for checks that run a program."""

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

PROBE_SECONDS = 10.0


class CheckState(StrEnum):
    """State of a check."""

    OK = "ok"
    MISSING = "missing"
    BROKEN = "broken"
    UNTRIED = "untried"


@dataclass(frozen=True, kw_only=True)
class DoctorCheck:
    """One line of the report.

    Args:
        name: Short stable name.
        state: Result.
        detail: Evidence, such as a version or an error.
        means: What depends on it.
        install: How to mend it.
    """

    name: str
    state: CheckState
    detail: str
    means: str
    install: str = ""


@dataclass(frozen=True, kw_only=True)
class CheckWords:
    """Texts of a check that do not depend on its result.

    Args:
        name: Short stable name.
        works: Meaning of success.
        lacks: Meaning of failure.
        install: How to mend a failure.
    """

    name: str
    works: str
    lacks: str
    install: str

    def check(self, state: CheckState, detail: str) -> DoctorCheck:
        """The check with the given state."""
        if state is CheckState.OK:
            return DoctorCheck(name=self.name, state=state, detail=detail, means=self.works)
        return DoctorCheck(name=self.name, state=state, detail=detail, means=self.lacks, install=self.install)

    def ok(self, detail: str) -> DoctorCheck:
        """Works."""
        return self.check(CheckState.OK, detail)

    def missing(self, detail: str) -> DoctorCheck:
        """Not installed."""
        return self.check(CheckState.MISSING, detail)

    def untried(self, detail: str) -> DoctorCheck:
        """Not tested."""
        return DoctorCheck(
            name=self.name, state=CheckState.UNTRIED, detail=detail, means=self.lacks, install=self.install
        )

    def broken(self, detail: str) -> DoctorCheck:
        """Installed, but does not work."""
        return self.check(CheckState.BROKEN, detail)

    def program(self, argv: Sequence[str], read: Callable[[str], str] = lambda text: text) -> DoctorCheck:
        """Runs a program that exits with 0 on success.

        Args:
            argv: Program and arguments.
            read: Extracts the detail from the output.
        """
        try:
            result = subprocess.run(
                argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False
            )
        except FileNotFoundError:
            return self.missing(f"program {argv[0]} not found")
        except subprocess.TimeoutExpired:
            return self.broken(f"{argv[0]} did not exit within {PROBE_SECONDS:g} s")
        except OSError as error:
            return self.broken(f"{argv[0]}: {error.strerror}")
        if result.returncode != 0:
            return self.broken(first_line(result.stderr or result.stdout) or f"exit code {result.returncode}")
        return self.ok(read(first_line(result.stdout or result.stderr)))


def first_line(text: str) -> str:
    """First non-empty line."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
