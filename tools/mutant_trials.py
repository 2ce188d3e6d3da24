"""Mutants that were tried, and the record of their outcomes."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from cosmic_ray.work_item import MutationSpec


class MutantOutcome(StrEnum):
    """Result of a mutant."""

    KILLED = "killed"
    TIMEOUT = "timeout"
    SURVIVED = "survived"


@dataclass(frozen=True)
class MutantTrial:
    """A mutant that was tried.

    Attributes:
        change: the difference that it makes.
        commit: the tests' commit, abbreviated.
        day: when, as YYYY-MM-DD.
    """

    mutation: MutationSpec
    outcome: MutantOutcome
    change: str
    commit: str = ""
    day: str = ""

    @property
    def place(self) -> str:
        """`module:line`."""
        return f"{self.mutation.module_path}:{self.mutation.start_pos[0]}"

    def changed_line(self, sign: str) -> str:
        """The lines that the mutant removes (-) or adds (+), as one."""
        lines = self.change.splitlines()
        return " ".join(line[1:].strip() for line in lines if line.startswith(sign) and not line.startswith(sign * 3))


class TrialRecord:
    """Outcomes, one JSON line each, in the order of the trials. Mutants of a module that has changed are new ones."""

    def __init__(self, path: Path | None) -> None:
        """Reads the file, if there is one; None keeps nothing."""
        self._path = path
        self._trials: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for line in path.read_text().splitlines() if path and path.exists() else ():
            values = json.loads(line)
            self._trials[values.pop("key")].append(values)

    def add(self, trial: MutantTrial) -> None:
        """Adds a trial to the end."""
        values = {"outcome": trial.outcome, "change": trial.change, "commit": trial.commit, "day": trial.day}
        key = _key(trial.mutation)
        self._trials[key].append(values)
        if self._path:
            with self._path.open("a") as file:
                file.write(json.dumps({"key": key, **values}) + "\n")

    def first(self, mutation: MutationSpec) -> MutantTrial | None:
        """The first trial of a mutant."""
        return next(self._of(mutation), None)

    def last(self, mutation: MutationSpec) -> MutantTrial | None:
        """The latest trial of a mutant."""
        return next(reversed(list(self._of(mutation))), None)

    def _of(self, mutation: MutationSpec) -> Iterator[MutantTrial]:
        for values in self._trials.get(_key(mutation), ()):
            yield MutantTrial(mutation, **{**values, "outcome": MutantOutcome(values["outcome"])})


def _key(mutation: MutationSpec) -> str:
    arguments = json.dumps(mutation.operator_args, sort_keys=True, default=str)
    key = f"{mutation.module_path} {_source_hash(mutation.module_path)} {mutation.occurrence}"
    return f"{key} {mutation.operator_name} {arguments}"


@cache
def _source_hash(module: Path) -> str:
    return hashlib.sha256(module.read_bytes()).hexdigest()[:16]
