"""Ports of what a task consists of: set-up steps, getters, metrics, scoring protocols, readers of benchmarks.

A port's docstring is the specification.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from backend.domain.model.score import Blob, MetricValue, PartResult, Verdict
from backend.domain.model.task import EvaluatorSpec, LoadedBenchmark, Task
from backend.domain.ports.desktop import Desktop
from backend.domain.ports.web import Browser, Web, WebReply


class SetupContext(Protocol):
    """Interface for set-up steps and for the worker's half of getters.

    Attributes:
        web: SSRF-safe HTTP client, for getters of live pages.
        since: number of the last interaction before the evaluated part became current; see `Desktop.interactions`. 0
            where nothing was logged.
    """

    desktop: Desktop
    task: Task
    web: Web
    since: int

    def asset(self, name: str) -> bytes:
        """Bytes of an asset of the task set: `NAME` of its assets folder, or the URL that a task downloads.

        Raises:
            MissingInput: it is missing; the message says how to get it.
        """
        ...

    def browser(self, port: int = 9222) -> Browser:
        """The browser on that port of the desktop. Cheap; its calls tell whether it answers."""
        ...

    def http(self, port: int, path: str, *, headers: Mapping[str, str] | None = None) -> WebReply:
        """Sends GET to a program on that port of the desktop, through the guest API's `/tunnel`.

        Args:
            port: on the tunnel's allow-list, for example 8080, where VLC answers.
            path: begins with `/`, may have a query.
            headers: of the request.

        Raises:
            GuestLost: the desktop is dead.
            GuestRefused: nothing listens there (`refused`), or the response is not HTTP, too large or too slow. A
                status code is an answer.
        """
        ...

    def keep(self, name: str, data: bytes) -> None:
        """Stores the named output of a step (`stdout`, `stderr`) for this attempt, replacing an earlier one."""
        ...

    def output(self, name: str) -> bytes | None:
        """The output stored by `keep`, None without one; used by the getter `cache_file`."""
        ...

    def judgement(self) -> bytes:
        """The judge's judgement of the attempt as JSON, requested once and cached. Call it after the agent's end.

        Raises:
            EvaluatorFailed: the run has no judge, or it gave no judgement.
        """
        ...

    def secret(self, name: str) -> str:
        """A secret that the operator gave for tasks (`googledrive_settings`, ...).

        Raises:
            MissingInput: it is missing; the message says where to put it.
        """
        ...


class SetupStepType(Protocol):
    """A set-up step type."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Raises Invalid with the parameter's path if they are wrong. Needs no desktop; used by `lint`."""
        ...

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        """Does it and returns when its effect is there. Raises TaskSetupFailed, GuestRefused or GuestLost."""
        ...


class Getter(Protocol):
    """Provides a metric's input, in two halves, so that re-evaluation needs no desktop."""

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        """In the worker: raw bytes through the guest port only. Absence is a Blob without data, not an error."""
        ...

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        """In the child process: the value that metrics take, often a path under `folder`; None if absent.

        Raises:
            EvaluatorFailed: the answer is unknown.
        """
        ...


class Metric(Protocol):
    """Compares. A plain function; positional `result` and, if the task gives one, `expected`; options by keyword."""

    def __call__(self, *args: Any, **options: Any) -> MetricValue:
        """Damaged or absent results are verdicts with reasons; raising means the evaluator failed."""
        ...


class ScoringProtocol(Protocol):
    """How a benchmark makes score and measures of a task's metric calls and parts.

    Attributes:
        primary: the measure by which agents are ranked: one of its own, or `score`.
    """

    primary: ClassVar[str]

    def __call__(self, spec: EvaluatorSpec, score: float | None, parts: Sequence[PartResult]) -> Verdict:
        """Computes the verdict.

        Args:
            spec: the task's evaluator.
            score: joined score of the calls on the final state; None without calls.
            parts: results of the parts, in the task's order.

        Returns:
            Score and measures. A measure that is undefined for this task is left out: it is not 0.

        Raises:
            EvaluatorFailed: the task does not have what the protocol needs.
        """
        ...


class BenchmarkReader(Protocol):
    """Reads one published benchmark's files into tasks."""

    kind: str

    def load(self, path: Path) -> LoadedBenchmark:
        """Reads all. Raises Invalid naming file, key and what was expected, for the first broken file."""
        ...
