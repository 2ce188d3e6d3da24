"""Spans by OpenTelemetry's SDK. `tracing` imports it only where traces are wanted."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Thread

from opentelemetry.context import Context, attach, detach
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.environment_variables import OTEL_EXPORTER_OTLP_TIMEOUT, OTEL_EXPORTER_OTLP_TRACES_TIMEOUT
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    get_current_span,
    set_span_in_context,
)

from backend.domain.formats.foreign_text import visible
from backend.telemetry.attributes import Attributes, Kind, Value

MOST_TEXT, MOST_VALUES = 200, 16
"""Characters of an attribute, and values of a list of them."""
EXPORT_SECONDS = 5.0
"""Time limit of one request to the endpoint, unless OTEL_EXPORTER_OTLP_TIMEOUT is set."""
_TIMEOUTS = (OTEL_EXPORTER_OTLP_TIMEOUT, OTEL_EXPORTER_OTLP_TRACES_TIMEOUT)
_next_trace_id: ContextVar[int | None] = ContextVar("next_trace_id", default=None)


class _Ids(RandomIdGenerator):
    """Random ids, except where a trace is to have a certain one."""

    def generate_trace_id(self) -> int:
        return _next_trace_id.get() or super().generate_trace_id()


class OpenSpan:
    """A running span."""

    def __init__(self, span: Span) -> None:
        self._span = span

    @property
    def traceparent(self) -> str:
        """Its context as text; empty if it is invalid."""
        context = self._span.get_span_context()
        if not context.is_valid:
            return ""
        return f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags) & 1:02x}"

    def set(self, attributes: Attributes) -> None:
        """Adds attributes, bounded."""
        for name, value in attributes.items():
            if value is not None:
                self._span.set_attribute(name, _fit(value))

    def rename(self, name: str) -> None:
        """Gives it another name."""
        self._span.update_name(name)

    def fail(self, error_type: str) -> None:
        """Marks it as failed."""
        self.set({"error.type": error_type})
        self._span.set_status(Status(StatusCode.ERROR))

    def end(self) -> None:
        self._span.end()

    @contextmanager
    def current(self) -> Iterator[None]:
        """Within the block it is the current span."""
        token = attach(set_span_in_context(self._span))
        try:
            yield
        finally:
            detach(token)


class Tracing:
    """The traces of one process."""

    def __init__(self, processor: SpanProcessor, service: str = "deskarena", version: str = "") -> None:
        """`processor` gets spans that have ended. The standard variables choose what is sampled."""
        # Named variables take precedence.
        resource = Resource({SERVICE_NAME: service, SERVICE_VERSION: version}).merge(_of_environment())
        self._provider = TracerProvider(
            resource=resource,
            id_generator=_Ids(),
            span_limits=SpanLimits(max_span_attributes=64, max_links=8, max_events=32),
            shutdown_on_exit=False,  # It would wait for an endpoint that is down.
        )
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("deskarena", version)

    def begin_span(  # noqa: PLR0913 - what a span has
        self,
        name: str,
        attributes: Attributes,
        *,
        kind: Kind,
        parent: str | None,
        trace_id: int | None,
        links: Sequence[str],
    ) -> OpenSpan:
        """A span that starts now; arguments as in `tracing.begin_span`."""
        token = _next_trace_id.set(trace_id)
        try:
            span = self._tracer.start_span(
                name,
                _context(parent),
                SpanKind[kind.upper()],
                {key: _fit(value) for key, value in attributes.items() if value is not None},
                [Link(_span_context(link)) for link in links],
                record_exception=False,  # Messages of errors quote guests, models and tasks.
                set_status_on_exception=False,
            )
        finally:
            _next_trace_id.reset(token)
        return OpenSpan(span)

    @staticmethod
    def current_span() -> OpenSpan:
        """The current span; without one, a span that records nothing."""
        return OpenSpan(get_current_span())

    def end(self, seconds: float) -> None:
        """Sends what is left, for at most the given time."""
        # A thread, as a request that has begun is not interrupted.
        ending = Thread(target=self._provider.shutdown, name="end-traces", daemon=True)
        ending.start()
        ending.join(seconds)


def to_endpoint(service: str, version: str) -> Tracing:
    """Traces that are sent in batches, in the background, to the endpoint of the standard variables.

    What does not fit into the queue (OTEL_BSP_MAX_QUEUE_SIZE) is dropped.
    """
    timeout = None if any(os.environ.get(name) for name in _TIMEOUTS) else EXPORT_SECONDS
    return Tracing(BatchSpanProcessor(OTLPSpanExporter(timeout=timeout)), service, version)


def _of_environment() -> Resource:
    """OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME."""
    resource = Resource.create()
    named = dict(resource.attributes)
    if str(named.get(SERVICE_NAME, "")).startswith("unknown_service"):
        del named[SERVICE_NAME]
    return Resource(named)


def _context(parent: str | None) -> Context | None:
    if parent is None:
        return None
    return set_span_in_context(NonRecordingSpan(_span_context(parent)), Context()) if parent else Context()


def _span_context(traceparent: str) -> SpanContext:
    _, trace_id, span_id, flags = traceparent.split("-")
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=TraceFlags(int(flags, 16)))


def _fit(value: Value) -> Value:
    if isinstance(value, str):
        return visible(value[:MOST_TEXT])
    if isinstance(value, Sequence):
        return [visible(str(item)[:MOST_TEXT]) for item in value[:MOST_VALUES]]
    return value
