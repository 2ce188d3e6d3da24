"""Report of mutation testing: tables of samples, and the mutants that no test killed."""

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.mutant_trials import MutantOutcome, MutantTrial

PACKAGES = (
    "backend/domain/model",
    "backend/domain/scheduling",
    "backend/domain/statistics",
    "backend/services/lifecycle",
    "backend/services/results",
    "backend/services/scheduling",
)
AIM = 0.88
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.csv")
"""Mutants that behave like the original: `module`, the `original` line, its `mutant`, and the `reason`."""


@dataclass(frozen=True)
class SampleTrials:
    """A seeded sample of `size` mutants: latest outcomes of those that were tried, and those of their first trials."""

    seed: int
    size: int
    trials: Sequence[MutantTrial]
    first: Sequence[MutantTrial]


def share_killed(trials: Sequence[MutantTrial]) -> float:
    """Share of the mutants that some test noticed, by failing or by not ending."""
    return sum(trial.outcome is not MutantOutcome.SURVIVED for trial in trials) / len(trials) if trials else 1.0


def table(trials: Sequence[MutantTrial]) -> list[str]:
    """One row per package, and one for all."""
    lines = ["| package | mutants | killed | timeout | survived | killed of all |", "|---|---|---|---|---|---|"]
    groups = [(f"`{name}`", [trial for trial in trials if _is_in(trial, name)]) for name in PACKAGES]
    for name, some in [*groups, ("all", list(trials))]:
        counts = Counter(trial.outcome for trial in some)
        figures = " | ".join(
            str(counts[outcome]) for outcome in (MutantOutcome.KILLED, MutantOutcome.TIMEOUT, MutantOutcome.SURVIVED)
        )
        share = f"{share_killed(some):.0%}" if some else "-"
        lines.append(f"| {name} | {len(some)} | {figures} | {share} |")
    return lines


def _is_in(trial: MutantTrial, package: str) -> bool:
    module: Path = trial.mutation.module_path
    return module.is_relative_to(package)


def survivors(trials: Iterable[MutantTrial]) -> list[str]:
    """One line per surviving mutant: where, the changed line, and why no test can notice it if that is known."""
    reasons = equivalent_mutants()
    lines = []
    for trial in trials:
        if trial.outcome is MutantOutcome.SURVIVED:
            before, after = trial.changed_line("-"), trial.changed_line("+")
            reason = reasons.get((str(trial.mutation.module_path), before, after))
            where = f"- `{trial.place}` in `{trial.mutation.definition_name}`: `{before}` -> `{after}`"
            lines.append(f"{where}. Equivalent: {reason}" if reason else where)
    return lines


def equivalent_mutants() -> dict[tuple[str, str, str], str]:
    """Why a mutant behaves like the original, by module, original line and changed line."""
    with EQUIVALENT.open() as file:
        return {(row["module"], row["original"], row["mutant"]): row["reason"] for row in csv.DictReader(file)}


def page(command: str, samples: Sequence[SampleTrials]) -> str:
    """The report as Markdown."""
    head = f"""# Mutation testing

Written by `{command}`.

Cosmic Ray changes the code in a small way; a mutant is killed if a test then fails or does not end. Aim: {AIM:.0%}
killed. Each mutant is tried against the tests that execute its line, out of those of its module's
path and those that import the module most (`covering` in `tools/mutants.py`). Mutants that behave like the original
(known ones are in `tools/equivalent_mutants.csv`) count as survivors.
"""
    return "\n".join([head, *(line for sample in samples for line in _section(sample))]) + "\n"


def _section(sample: SampleTrials) -> list[str]:
    dates = Counter((trial.commit, trial.day) for trial in sample.trials)
    tried = ", ".join(f"{number} at `{commit}` ({day})" for (commit, day), number in dates.items())
    lines = [f"## {sample.size} mutants, seed {sample.seed}", "", f"Tried: {tried}."]
    if len(sample.trials) < sample.size:
        lines.append(f"The other {sample.size - len(sample.trials)} have not been tried.")
    if any(first != second for first, second in zip(sample.first, sample.trials, strict=True)):
        lines.append(
            f"At first {share_killed(sample.first):.0%} were killed; the survivors were tried again with more tests."
        )
    return [*lines, "", *table(sample.trials), "", "Survivors:", "", *survivors(sample.trials), ""]
