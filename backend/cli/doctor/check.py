"""One finding of `deskarena doctor`, and running the small programs that find it."""

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

PROBE_SECONDS = 10.0


class CheckState(StrEnum):
    """How something is: it works, it is not there, it is there and does not work, or nobody could try it."""

    OK = "ok"
    MISSING = "missing"
    BROKEN = "broken"
    UNTRIED = "untried"


@dataclass(frozen=True, kw_only=True)
class DoctorCheck:
    """One line of the report.

    Args:
        name: Short stable name.
        state: What was found.
        detail: What was seen: a version, an error.
        means: What works because of it, or does not.
        install: What to do where it does not work.
    """

    name: str
    state: CheckState
    detail: str
    means: str
    install: str = ""


@dataclass(frozen=True, kw_only=True)
class CheckWords:
    """Words for a check, apart from what is found.

    Args:
        name: Short stable name.
        works: What it means when it works.
        lacks: What it means when it does not.
        install: What to do then.
    """

    name: str
    works: str
    lacks: str
    install: str

    def found(self, state: CheckState, detail: str) -> DoctorCheck:
        """It is as the state says."""
        if state is CheckState.OK:
            return DoctorCheck(name=self.name, state=state, detail=detail, means=self.works)
        return DoctorCheck(name=self.name, state=state, detail=detail, means=self.lacks, install=self.install)

    def ok(self, detail: str) -> DoctorCheck:
        """It works."""
        return self.found(CheckState.OK, detail)

    def missing(self, detail: str) -> DoctorCheck:
        """It is not there."""
        return self.found(CheckState.MISSING, detail)

    def untried(self, detail: str) -> DoctorCheck:
        """It could not be tried."""
        return DoctorCheck(
            name=self.name, state=CheckState.UNTRIED, detail=detail, means=self.lacks, install=self.install
        )

    def broken(self, detail: str) -> DoctorCheck:
        """It is there and does not work."""
        return self.found(CheckState.BROKEN, detail)

    def program(self, argv: Sequence[str], read: Callable[[str], str] = lambda text: text) -> DoctorCheck:
        """Run a program that ends with 0 if all is well.

        Args:
            argv: The program and its arguments.
            read: Makes the detail out of its output.
        """
        try:
            done = subprocess.run(
                argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False
            )
        except FileNotFoundError:
            return self.missing(f"no program {argv[0]}")
        except subprocess.TimeoutExpired:
            return self.broken(f"{argv[0]} did not end in {PROBE_SECONDS:g} s")
        except OSError as error:
            return self.broken(f"{argv[0]}: {error.strerror}")
        if done.returncode != 0:
            return self.broken(first_line(done.stderr or done.stdout) or f"exit code {done.returncode}")
        return self.ok(read(first_line(done.stdout or done.stderr)))


def first_line(text: str) -> str:
    """The first line that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
