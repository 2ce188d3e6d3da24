"""The way to run evaluation functions that others wrote in Python: only the process that judges has one.

The domain runs no foreign code. `worker.evaluation.child` brings a runner, where its fence can hold such code.
"""

import json
from collections.abc import Mapping
from typing import Protocol

from pydantic import Field

from backend.domain.errors import EvaluatorFailed
from backend.domain.model.task import JSON, Frozen

Fact = Mapping[str, JSON]


class FunctionAnswer(Frozen):
    """What an evaluation function said.

    Attributes:
        success, message, progress: its result; `progress` None = it gave none.
        wanted: checks that it asked for and that were not known; while there are any, the result means nothing.
    """

    success: bool = False
    message: str = Field(default="", max_length=2000)
    progress: float | None = Field(default=None, ge=0.0, le=1.0)
    wanted: tuple[Fact, ...] = ()


class Runner(Protocol):
    """Runs one evaluation function apart from everything."""

    def __call__(self, source: str, values: Mapping[str, JSON], facts: Mapping[str, bool]) -> FunctionAnswer:
        """Runs it to its end.

        A check that is not known is taken to hold for the time being, so that one run finds most of what is wanted.

        Args:
            source: defines `evaluate_agent_task_completion`.
            values: its parameters.
            facts: what is known; by `key_of`.

        Raises:
            EvaluatorFailed: it broke, took too long or too much, or tried what it may not.
        """
        ...


_runners: list[Runner] = []


def key_of(fact: Fact) -> str:
    """One text per check with its parameters."""
    return json.dumps(dict(fact), sort_keys=True)


def allow(runner: Runner) -> None:
    """Lets this process run evaluation functions, with this runner."""
    _runners[:] = [runner]


def run(source: str, values: Mapping[str, JSON], facts: Mapping[str, bool]) -> FunctionAnswer:
    """See Runner. Raises EvaluatorFailed where no foreign code can be held."""
    if not _runners:
        raise EvaluatorFailed(
            "evaluation functions in Python need a sandbox with its own file system, which this worker does not have",
            code="sandbox_not_available",
            hint="Install bubblewrap on the worker, or write an expression instead (docs/benchmarks/omnibench.md).",
        )
    return _runners[0](source, values, facts)
