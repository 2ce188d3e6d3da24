"""Things that a task can reach besides the desktop: its browsers, the web, configured secrets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from backend.domain.errors import ClusterLost, DeskarenaError, EvaluatorFailed, MissingInput
from backend.domain.machines.egress_rules import EgressRules, way_out_of
from backend.domain.model.task import Task
from backend.domain.ports.desktop import Desktop
from backend.domain.ports.web import Browser, Web, WebReply
from worker.devtools.servers import PUBLISHED, Servers


def no_secret(name: str) -> str:
    """Used where no secrets are configured.

    Raises:
        MissingInput: always.
    """
    raise MissingInput(f"the task needs the secret {name!r}, which is not configured", code="secret_missing")


def no_judge() -> bytes:
    """Used where the run has no judge.

    Raises:
        EvaluatorFailed: always.
    """
    raise EvaluatorFailed(
        "this task needs a judge model, and the run has none",
        code="no_judge",
        hint=("Pass --judge endpoint=... --judge model=... (docs/judges.md)."),
    )


class SingleJudgement:
    """Calls a judge once and returns the same judgement, or raises the same failure, to later callers."""

    def __init__(self, ask: Callable[[], bytes]) -> None:
        """Args: ask: calls the judge."""
        self._ask = ask
        self._judgement: bytes | None = None
        self._failed: EvaluatorFailed | None = None

    def __call__(self) -> bytes:
        """The judgement as JSON. Raises EvaluatorFailed if there is none."""
        if self._failed is not None:
            raise self._failed
        try:
            self._judgement = self._judgement or self._ask()
        except EvaluatorFailed as error:
            self._failed = error
            raise
        return self._judgement


def nowhere(task: Task, assets: Mapping[str, str]) -> EgressRules:
    """Egress rules without network: only files of the task's own set-up."""
    return way_out_of(task, assets, egress="none", hosts=(), proxy="")


def missing_asset(name: str, benchmark: str) -> MissingInput:
    """Error for a missing file of a task, with how to get it."""
    if "://" not in name:
        return MissingInput(f"the task set has no asset {name!r}", code="asset_missing")
    called = benchmark or "NAME"
    return MissingInput(
        f"{name} has not been downloaded",
        code="asset_not_fetched",
        hint=f"Download missing files with `deskarena benchmark fetch {called}`, or add a copy with "
        f"`deskarena benchmark asset add {called} {name} FILE`.",
    )


@dataclass
class TaskContext:
    """SetupContext for one task on one desktop.

    Attributes:
        assets: name, or address of a web file -> hash.
        fetch: bytes of an artifact by hash.
        servers: programs that listen inside the desktop.
        secrets: returns a secret by name.
        outputs: values stored by steps.
        benchmark: its name, for messages.
        since: see the port.
        judge: returns the verdict of the run's judge.
    """

    desktop: Desktop
    task: Task
    web: Web
    assets: Mapping[str, str]
    fetch: Callable[[str], bytes]
    servers: Servers
    secrets: Callable[[str], str] = no_secret
    outputs: dict[str, bytes] = field(default_factory=dict)
    benchmark: str = ""
    since: int = 0
    judge: Callable[[], bytes] = no_judge
    _judgement: "SingleJudgement | None" = field(default=None, init=False, repr=False)

    def asset(self, name: str) -> bytes:
        if name not in self.assets:
            raise missing_asset(name, self.benchmark)
        try:
            return self.fetch(self.assets[name])
        except DeskarenaError as error:
            raise ClusterLost(
                f"asset {name!r} cannot be read: {error.message}", code="service_unavailable", hint=error.hint
            ) from error

    def browser(self, port: int = PUBLISHED) -> Browser:
        return self.servers.browser(port)

    def http(self, port: int, path: str, *, headers: Mapping[str, str] | None = None) -> WebReply:
        return self.servers.http(port, path, headers)

    def keep(self, name: str, data: bytes) -> None:
        self.outputs[name] = data

    def output(self, name: str) -> bytes | None:
        return self.outputs.get(name)

    def judgement(self) -> bytes:
        """Judges once; the result is reused for the attempt's other calls."""
        self._judgement = self._judgement or SingleJudgement(self.judge)
        return self._judgement()

    def secret(self, name: str) -> str:
        return self.secrets(name)
