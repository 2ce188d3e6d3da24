"""What an attempt's task can reach besides the desktop itself: its browsers, the web, the operator's secrets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from backend.domain.errors import ClusterLost, DeskarenaError, EvaluatorFailed, MissingInput
from backend.domain.machines.egress_rules import EgressRules, way_out_of
from backend.domain.model.task import Task
from backend.domain.ports.desktop import Desktop
from backend.domain.ports.web import Browser, Web, WebReply
from worker.devtools.servers import PUBLISHED, Servers


def no_secret(name: str) -> str:
    """Where no secrets were given at all.

    Raises:
        MissingInput: always.
    """
    raise MissingInput(f"the task needs the secret {name!r}, which was not given", code="secret_missing")


def no_judge() -> bytes:
    """Where the run has no judge.

    Raises:
        EvaluatorFailed: always.
    """
    raise EvaluatorFailed(
        "a model is to judge this task, and the run names none", code="no_judge", hint="See docs/judges.md."
    )


class SingleJudgement:
    """Asks a judge once: whoever asks later gets the same judgement, or the same failure."""

    def __init__(self, ask: Callable[[], bytes]) -> None:
        """Args: ask: the judge."""
        self._ask = ask
        self._found: bytes | None = None
        self._failed: EvaluatorFailed | None = None

    def __call__(self) -> bytes:
        """The judgement as JSON. Raises EvaluatorFailed if it came to none."""
        if self._failed is not None:
            raise self._failed
        try:
            self._found = self._found or self._ask()
        except EvaluatorFailed as error:
            self._failed = error
            raise
        return self._found


def nowhere(task: Task, assets: Mapping[str, str]) -> EgressRules:
    """No network, only the files that the task's own set-up brings."""
    return way_out_of(task, assets, egress="none", hosts=(), proxy="")


def missing_asset(name: str, benchmark: str) -> MissingInput:
    """Why a file that a task needs is not there, and how to get it."""
    if "://" not in name:
        return MissingInput(f"the task set has no asset {name!r}", code="asset_missing")
    called = benchmark or "NAME"
    return MissingInput(
        f"{name} has not been fetched",
        code="asset_not_fetched",
        hint=f"`deskarena benchmark fetch {called}` fetches what is missing; for a file obtained otherwise there is "
        f"`deskarena benchmark asset add {called} {name} FILE`.",
    )


@dataclass
class TaskContext:
    """SetupContext for one task on one desktop.

    Attributes:
        assets: name, or address of a file of the web, to hash.
        fetch: bytes of an artifact by hash.
        servers: inside the desktop.
        secrets: a secret by name.
        outputs: what steps have kept.
        benchmark: its name, for words to people.
        since: see the port.
        judge: what the run's judge says of the attempt.
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
        """See the port."""
        if name not in self.assets:
            raise missing_asset(name, self.benchmark)
        try:
            return self.fetch(self.assets[name])
        except DeskarenaError as error:
            raise ClusterLost(
                f"the asset {name!r} could not be read: {error.message}", code="service_unavailable", hint=error.hint
            ) from error

    def browser(self, port: int = PUBLISHED) -> Browser:
        """See the port."""
        return self.servers.browser(port)

    def http(self, port: int, path: str, *, headers: Mapping[str, str] | None = None) -> WebReply:
        """See the port."""
        return self.servers.http(port, path, headers)

    def keep(self, name: str, data: bytes) -> None:
        """See the port."""
        self.outputs[name] = data

    def kept(self, name: str) -> bytes | None:
        """See the port."""
        return self.outputs.get(name)

    def judgement(self) -> bytes:
        """See the port. What it says is kept for the attempt's other calls."""
        self._judgement = self._judgement or SingleJudgement(self.judge)
        return self._judgement()

    def secret(self, name: str) -> str:
        """See the port."""
        return self.secrets(name)
