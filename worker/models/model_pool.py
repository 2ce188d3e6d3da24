"""Model clients of a worker: endpoints, rate limits, and waiting time per attempt."""

import logging
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Protocol

from backend.config import Settings
from backend.domain import registry
from backend.domain.errors import Invalid, ModelApiFailed, UnknownPlugin
from backend.domain.model.model_wait import ModelWait
from backend.domain.ports.model import ModelClient
from backend.domain.registry import PluginKind
from backend.services.capacity.model_endpoints import Endpoint, Endpoints
from backend.services.capacity.task_secrets import TaskSecrets
from worker.models._listing import answers
from worker.models.cassette import RecordingClient
from worker.models.rate_limiter import RateLimiter
from worker.models.retrying_client import Caller
from worker.models.usage_meter import UsageMeter
from worker.models.wait_timer import WaitTimer

if TYPE_CHECKING:  # `deskarena doctor` uses endpoints as well, without a database.
    from backend.services.scheduling.claims import Claim
    from worker.base.lease import HeldLease

LOOK_SECONDS = 0.5
LONG_SECONDS = 2.0
"""A call that waits longer is reported by the heartbeat; if a rate limit holds it, the run starts no more episodes."""
_MOST_ASKED = 8
logger = logging.getLogger(__name__)
_HINT = "See docs/models.md, and /workers for the available endpoints."


class Interruption(Protocol):
    """How a caller of a model waits, and what interrupts it."""

    def pause(self, seconds: float) -> None:
        """Waits for the given seconds, or until it must stop."""
        ...

    def check(self) -> None:
        """Raises if it must stop."""
        ...


class ModelPool:
    """Model access shared by the attempts of one worker. Thread-safe.

    Attributes:
        meter: counts all requests.
    """

    def __init__(self, endpoints: Endpoints) -> None:
        self.meter = UsageMeter()
        self._endpoints = endpoints
        self._gates: dict[tuple[Any, ...], RateLimiter] = {}
        self._lock = Lock()

    @classmethod
    def from_settings(cls, settings: Settings, environ: Mapping[str, str] | None = None) -> "ModelPool":
        """The pool of a worker with these settings; `environ`: default, the process's."""
        secrets = TaskSecrets(settings.data_dir / "secrets")
        return cls(Endpoints(settings.models_path, secrets, os.environ if environ is None else environ))

    def attempt(self, _claim: "Claim", hold: "HeldLease") -> "AttemptModels":
        """Models of one attempt; waiting ends when it must stop, and is reported by its heartbeats."""
        models = self.models(hold)
        hold.waits = models.waits
        return models

    def models(self, waits: Interruption) -> "AttemptModels":
        """Models for a caller with its own waiting rules."""
        return AttemptModels(self, waits)

    def offers(self, *, vendors: bool = False) -> dict[str, dict[str, Any]]:
        """For the worker's row, by endpoint: `{api, ok, reason, answers, prices}`; `prices` are the operator's own.

        `ok`: it is configured. `answers`: it listed its models just now, which costs nothing; None if not requested.
        `reason`: what went wrong.

        Args:
            vendors: also request vendors' own addresses. Workers do not: each request counts towards the rate limits.
        """
        try:
            endpoints = self._endpoints.all()
        except Invalid as error:
            logger.error("no model endpoint can be used: %s", error.message)  # noqa: TRY400 - the message says it all.
            return {"models.toml": {"api": "", "ok": False, "answers": None, "reason": error.message}}
        with ThreadPoolExecutor(max_workers=_MOST_ASKED) as pool:
            offers = pool.map(lambda endpoint: self._offer(endpoint, vendors=vendors), endpoints.values())
            named = zip(endpoints.values(), offers, strict=True)
            return dict(sorted((endpoint.name, {"api": endpoint.api, **offer}) for endpoint, offer in named))

    def _offer(self, endpoint: Endpoint, *, vendors: bool) -> dict[str, Any]:
        prices = [price.model_dump(mode="json") for price in endpoint.prices]
        try:
            ready = self.ready(endpoint)
        except Invalid as error:
            return {"ok": False, "answers": None, "reason": error.text, "prices": prices}
        address = f"{ready.cassette or ready.base_url}"
        own = ready.cassette is not None or endpoint.base_url not in {
            "",
            registry.lookup(PluginKind.MODEL, endpoint.api).base_url,
        }
        problem = answers(ready) if vendors or own else None
        reason = f"{address} {problem}" if problem else address
        return {"ok": True, "answers": None if problem is None else not problem, "reason": reason, "prices": prices}

    def ready(self, endpoint: Endpoint) -> Endpoint:
        """An endpoint with its key and complete address.

        Raises:
            Invalid: its key is missing, or its API is unknown.
        """
        plugin = registry.lookup(PluginKind.MODEL, endpoint.api)
        base = endpoint.base_url or plugin.base_url
        if endpoint.api == "recorded" and (endpoint.cassette is None or not endpoint.cassette.is_file()):
            raise Invalid(
                f"the endpoint {endpoint.name!r} has no cassette: {endpoint.cassette} is not a file",
                code="cassette_not_usable",
            )
        return self._endpoints.with_key(endpoint).model_copy(update={"base_url": base})

    def find(self, name: str) -> Endpoint:
        """The endpoint of that name, ready for use.

        Raises:
            ModelApiFailed: there is none, or it cannot be used; the message says why.
        """
        try:
            endpoints = self._endpoints.all()
            if name not in endpoints:
                names = ", ".join(sorted(endpoints))
                raise ModelApiFailed(
                    f"there is no model endpoint {name[:100]!r}; configured: {names}",
                    code="unknown_endpoint",
                    hint=_HINT,
                )
            return self.ready(endpoints[name])
        except (Invalid, UnknownPlugin) as error:
            raise ModelApiFailed(error.message, code="model_endpoint_not_usable", hint=error.hint or _HINT) from None

    def gate(self, endpoint: Endpoint) -> RateLimiter:
        """The rate limiter of an endpoint with its current limits."""
        limits = (endpoint.at_once, endpoint.requests_per_minute, endpoint.tokens_per_minute)
        with self._lock:
            return self._gates.setdefault((endpoint.name, endpoint.base_url, *limits), RateLimiter(*limits))


@dataclass
class AttemptModels:
    """Implements the Models port."""

    room: ModelPool = field(repr=False)
    hold: Interruption = field(repr=False)
    _waited: WaitTimer = field(default_factory=WaitTimer, repr=False)
    _over: Event = field(default_factory=Event, repr=False)
    _clients: dict[str, ModelClient] = field(default_factory=dict, repr=False)
    _callers: list[Caller] = field(default_factory=list, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def client(self, endpoint: str) -> ModelClient:
        with self._lock:
            if endpoint not in self._clients:
                self._clients[endpoint] = self._make_client(self.room.find(endpoint))
            return self._clients[endpoint]

    def wait_seconds(self) -> float:
        return self._waited.seconds()

    def waits(self) -> ModelWait | None:
        """The call that the attempt has been waiting for longest; None if it has just started."""
        return self._waited.longest(LONG_SECONDS)

    def close(self) -> None:
        self._over.set()
        with self._lock:
            for caller in self._callers:
                caller.close()

    def _make_client(self, endpoint: Endpoint) -> ModelClient:
        caller = Caller(endpoint, self.room.gate(endpoint), self._waited, self._pause, self.room.meter)
        self._callers.append(caller)
        client: ModelClient = registry.lookup(PluginKind.MODEL, endpoint.api)(caller)
        return client if endpoint.record is None else RecordingClient(client, endpoint.record)

    def _pause(self, seconds: float) -> None:
        """Waits, at most half a second, so that every end of the attempt is noticed; raises if it must stop."""
        if seconds > 0:
            self.hold.pause(min(seconds, LOOK_SECONDS))
        self.hold.check()
        if self._over.is_set():
            raise ModelApiFailed("the attempt was over before the model responded", code="model_request_abandoned")
