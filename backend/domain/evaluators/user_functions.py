"""Runs third-party evaluation functions in Python; only the evaluating process has a runner.

The domain runs no third-party code. `worker.evaluation.child` installs a runner if its sandbox can contain such code.
"""

import json
from collections.abc import Mapping
from typing import Protocol

from pydantic import Field

from backend.domain.errors import EvaluatorFailed
from backend.domain.model.task import JSON, Frozen

Fact = Mapping[str, JSON]


class FunctionAnswer(Frozen):
    """Result of an evaluation function.

    Attributes:
        success, message, progress: its result; `progress` may be None.
        missing: checks that it needs and that are not known; if there are any, the result is meaningless.
    """

    success: bool = False
    message: str = Field(default="", max_length=2000)
    progress: float | None = Field(default=None, ge=0.0, le=1.0)
    missing: tuple[Fact, ...] = ()


class Runner(Protocol):
    """Runs one evaluation function in isolation."""

    def __call__(self, source: str, values: Mapping[str, JSON], facts: Mapping[str, bool]) -> FunctionAnswer:
        """Runs the function to its end.

        Unknown checks are assumed to hold, so that one run finds most of the checks that it needs.

        Args:
            source: code that defines `evaluate_agent_task_completion`.
            values: parameters of the function.
            facts: known facts by `key_of`.

        Raises:
            EvaluatorFailed: it crashed, exceeded its limits, or tried something forbidden.
        """
        ...


_runners: list[Runner] = []


def key_of(fact: Fact) -> str:
    """A unique text for a check with its parameters."""
    return json.dumps(dict(fact), sort_keys=True)


def allow(runner: Runner) -> None:
    """Lets this process run evaluation functions with this runner."""
    _runners[:] = [runner]


def run(source: str, values: Mapping[str, JSON], facts: Mapping[str, bool]) -> FunctionAnswer:
    """See Runner. Raises EvaluatorFailed without a runner."""
    if not _runners:
        raise EvaluatorFailed(
            "evaluation functions in Python need a sandbox with its own file system, which this worker does not have",
            code="sandbox_not_available",
            hint="Install bubblewrap on the worker, or write an expression instead (docs/benchmarks/omnibench.md).",
        )
    return _runners[0](source, values, facts)
