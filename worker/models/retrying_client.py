"""Sends requests to an endpoint with retries: the one place that waits, gives up, counts and hides keys."""

import json
import logging
import random
import re
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any, NoReturn
from urllib.parse import urlsplit

from backend.domain.errors import Invalid, ModelApiFailed
from backend.domain.model.prices import Tokens, price_of, usd
from backend.domain.model.trajectory import Usage
from backend.domain.ports.model import ModelReply, StopReason
from backend.services.capacity.model_endpoints import Endpoint
from backend.telemetry import tracing
from backend.telemetry.attributes import Attributes
from worker.models._errors import FaultAction, ModelFault, nonsense
from worker.models._http import EndpointConnections, HttpAnswer
from worker.models.rate_limiter import LOOK_SECONDS, RateLimiter
from worker.models.usage_meter import UsageMeter
from worker.models.wait_timer import WaitTimer

MOST_NONSENSE = 3
MOST_PAUSE = 60.0
FIRST_PAUSE = 1.0
MOST_MODEL_NAME = 100
_REFUSES = re.compile(
    r"unsupported|not (?:be )?support|deprecated|unrecogni[sz]ed|unknown|unexpected|not permitted|cannot both|"
    r"extra inputs|not allowed|only the default|removed",
    re.IGNORECASE,
)
_PROVIDERS = {
    "openai_chat": "openai",
    "openai_responses": "openai",
    "anthropic": "anthropic",
    "gemini": "gcp.gemini",
}
"""OpenTelemetry's names of vendors by API, also for servers that are compatible with it."""
_FINISH_REASONS = {StopReason.END: "stop", StopReason.TOOL: "tool_call", StopReason.REFUSAL: "content_filter"}
_STANDARD = frozenset({None, "auto", "default", "standard", "standard_only"})
logger = logging.getLogger(__name__)


@dataclass
class ApiRequest:
    """A request in its API's form.

    Attributes:
        path: after the endpoint's address.
        headers: besides those with the key.
        optional: fields of the body that may be dropped if the model rejects them, least important first: their path,
            and their name in ModelRequest.
        renamed: alternative name of a field, for models that require it.
        dropped: fields of the request that the API does not know.
    """

    model: str
    path: str
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)
    optional: Mapping[str, str] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True)
class ParsedReply:
    """A parsed reply, and its tokens as counted by the API; None = not counted."""

    reply: ModelReply
    tokens: Tokens | None


class Caller:
    """One endpoint as used by one attempt. Thread-safe."""

    def __init__(
        self,
        endpoint: Endpoint,
        gate: RateLimiter,
        waited: WaitTimer,
        pause: Callable[[float], None],
        meter: UsageMeter | None = None,
    ) -> None:
        """Does not connect yet.

        Args:
            endpoint: with its key.
            gate: rate limiter shared by all attempts that use the endpoint.
            waited: waiting time of the attempt.
            pause: waits at most the given seconds, and raises if the attempt must stop.
            meter: counts requests of this process.
        """
        self.endpoint = endpoint
        self._gate = gate
        self._waited = waited
        self._pause = pause
        self._meter = meter or UsageMeter()

    def __repr__(self) -> str:
        return f"Caller({self.endpoint.name!r})"

    @cached_property
    def _wire(self) -> EndpointConnections:
        return EndpointConnections(lambda: self._pause(0.0))

    @property
    def key(self) -> str:
        """For the header with the key."""
        return self.endpoint.key.get_secret_value()

    def close(self) -> None:
        """Closes all connections once no request is running."""
        if "_wire" in self.__dict__:
            self._wire.close()

    def ask(self, post: ApiRequest, read: Callable[[HttpAnswer], ParsedReply]) -> ModelReply:
        """The reply to a request, with its cost and waiting time.

        Args:
            post: the request; fields that the model rejects are removed from it.
            read: parses a response; an exception in it means an invalid response.

        Raises:
            ModelApiFailed, Invalid: see ModelClient.
        """
        with tracing.span(f"chat {post.model[:MOST_MODEL_NAME]}", self._facts(post), kind="client") as span:
            reply = self._ask(post, read)
            span.set(reply_facts(reply))
        return reply

    def _facts(self, post: ApiRequest) -> Attributes:
        server = urlsplit(self.endpoint.base_url)
        return {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _PROVIDERS.get(self.endpoint.api, self.endpoint.api),
            "gen_ai.request.model": post.model,
            "server.address": server.hostname,
            "server.port": server.port,
            "deskarena.endpoint": self.endpoint.name,
        }

    def _ask(self, post: ApiRequest, read: Callable[[HttpAnswer], ParsedReply]) -> ModelReply:
        number, took = self._waited.begin(self.endpoint.name, post.model), 0.0
        try:
            result, took = self._insist(post, read, number)
        finally:
            wait_seconds = self._waited.end(number, took)
        dropped = tuple(sorted({*result.reply.dropped, *post.dropped}))
        usage = self._usage(post, result).model_copy(update={"wait_seconds": wait_seconds})
        self._meter.answered(self.endpoint.name, post.model, took, usage)
        return result.reply.model_copy(update={"usage": usage, "dropped": dropped})

    def _insist(
        self, post: ApiRequest, read: Callable[[HttpAnswer], ParsedReply], number: int
    ) -> tuple[ParsedReply, float]:
        patience = Patience(self.endpoint.patience_seconds)
        for field_name in sorted(self._gate.refused.get(post.model, ())):
            _leave_out(post, field_name)
        while True:
            self._waited.asking(number)
            try:
                return self._once(post, read, number)
            except ModelFault as fault:
                if self.key:  # Some APIs repeat it.
                    fault.hide(self.key)
                self._bear(fault, post, patience, number)

    def _bear(self, fault: ModelFault, post: ApiRequest, patience: "Patience", number: int) -> None:
        """Waits, or changes the request, so that it can be sent again; or gives up."""
        if fault.kind is FaultAction.WRONG and (refused := _rejected_field(fault.words, post)):
            self._gate.refused.setdefault(post.model, set()).add(refused)
            _leave_out(post, refused)
            return
        self._meter.failed(self.endpoint.name, post.model, fault.counted_as, fault.words)
        if fault.kind is FaultAction.WRONG:
            self._meter.gave_up(self.endpoint.name, post.model)
            raise Invalid(fault.words, code="model_request_invalid") from None
        if fault.kind is FaultAction.REFUSED:
            self._give_up(fault, post, "")
        seconds = patience.pause(fault)
        if seconds is None:
            self._give_up(fault, post, f" after {patience.spent():.0f} s of waiting")
        self._waited.failed(number, fault.words, seconds)
        logger.warning("%s: %s; retrying in %.1f s", self.endpoint.name, fault.words, seconds)
        if fault.shared and fault.after is not None:
            self._gate.rest(fault.after, post.model, fault.words)
            seconds += 2 * LOOK_SECONDS  # Those that wait for the end of the rest come first: else they might for ever.
        with self._waited.limited() if fault.shared else nullcontext():
            until = time.monotonic() + seconds
            while (remaining := until - time.monotonic()) > 0:
                self._pause(remaining)

    def _once(
        self, post: ApiRequest, read: Callable[[HttpAnswer], ParsedReply], number: int
    ) -> tuple[ParsedReply, float]:
        url = f"{self.endpoint.base_url}{post.path}"
        body = json.dumps(post.body, ensure_ascii=False).encode(errors="replace")
        headers = {"User-Agent": "deskarena", **self.endpoint.headers, **post.headers}
        on_rest = partial(self._waited.resting, number)
        with self._waited.limited() as let_through, self._gate.turn(self._pause, post.model, on_rest) as turn:
            let_through()
            self._waited.asking(number)
            start = time.monotonic()
            with self._wire.post(url, headers, body, self.endpoint.timeout_seconds) as answer:
                result = _read(answer, read)
            if result.tokens is not None:
                turn.tokens = result.tokens.sent + result.tokens.answered
            return result, time.monotonic() - start

    def _usage(self, post: ApiRequest, result: ParsedReply) -> Usage:
        tokens = result.tokens
        if tokens is None:
            return Usage(calls=1, priced=False)
        price = price_of(post.model, datetime.now(UTC).date(), tokens.sent, self.endpoint.prices)
        is_priced = price is not None and post.body.get("service_tier") in _STANDARD
        return Usage(
            input_tokens=tokens.sent,
            output_tokens=tokens.answered,
            cached_tokens=tokens.cached,
            usd=usd(price, tokens) if price is not None and is_priced else 0.0,
            priced=is_priced,
            calls=1,
        )

    def _give_up(self, fault: ModelFault, post: ApiRequest, when: str) -> NoReturn:
        self._meter.gave_up(self.endpoint.name, post.model)
        message = f"the model endpoint {self.endpoint.name!r} gave no reply{when}: {fault.words}"
        raise ModelApiFailed(
            message, code="model_api_failed", hint=("See docs/models.md, and /workers for the configured endpoints.")
        ) from None


class Patience:
    """Waiting time of one call so far, and the next delay."""

    def __init__(self, seconds: float) -> None:
        """`seconds`: maximum waiting time."""
        self._seconds = seconds
        self._since: float | None = None
        self._next = FIRST_PAUSE
        self._nonsense = 0

    def spent(self) -> float:
        """Seconds since the first failure."""
        return 0.0 if self._since is None else time.monotonic() - self._since

    def pause(self, fault: ModelFault) -> float | None:
        """Delay before the next try; None if there is none. The last try is made at the maximum waiting time."""
        if self._since is None:
            self._since = time.monotonic()
        self._nonsense += fault.kind is FaultAction.NONSENSE
        left = self._seconds - self.spent()
        if left <= 0 or self._nonsense >= MOST_NONSENSE:
            return None
        if fault.after:  # The API's own delay (0 = none) does not lengthen later pauses.
            return min(fault.after, left)
        # Jitter, so that attempts that failed together do not retry together.
        pause = self._next * random.uniform(0.75, 1.0)  # noqa: S311
        self._next = min(MOST_PAUSE, self._next * 2)
        return min(pause, left)


def reply_facts(reply: ModelReply) -> Attributes:
    """Trace attributes of a reply: numbers and names, none of its text."""
    usage = reply.usage
    return {
        "gen_ai.response.model": reply.model or None,
        "gen_ai.response.finish_reasons": [_FINISH_REASONS.get(reply.stop, reply.stop.value)],
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
        "deskarena.usage.usd": usage.usd if usage.priced else None,
        "deskarena.wait_seconds": usage.wait_seconds,
    }


def _read(answer: HttpAnswer, read: Callable[[HttpAnswer], ParsedReply]) -> ParsedReply:
    try:
        return read(answer)
    except ModelFault:
        raise
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise nonsense(f"the response does not have the API's form: {type(error).__name__}: {error}"[:300]) from None


def _rejected_field(message: str, post: ApiRequest) -> str:
    """The field of the body that a model's API rejects; empty if the message is about something else."""
    if not _REFUSES.search(message):
        return ""
    candidates = [name for name in (*post.optional, *post.renamed) if _last(name) in _holder(post, name)]
    named = [name for name in candidates if re.search(rf"(?<![\w.]){re.escape(_last(name))}(?!\w)", message)]
    return named[0] if named else ""


def _leave_out(post: ApiRequest, name: str) -> None:
    holder, last = _holder(post, name), _last(name)
    if last not in holder:
        return
    value = holder.pop(last)
    if name in post.renamed:
        holder[post.renamed[name]] = value
    else:
        post.dropped = (*post.dropped, post.optional[name])


def _holder(post: ApiRequest, name: str) -> dict[str, Any]:
    """The object that contains a field, whose name may have a dot: `generationConfig.seed`."""
    outer, _, _ = name.rpartition(".")
    parent = post.body.get(outer, {}) if outer else post.body
    return parent if isinstance(parent, dict) else {}


def _last(name: str) -> str:
    return name.rpartition(".")[2]
