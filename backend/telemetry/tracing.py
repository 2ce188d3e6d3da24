"""Traces: spans from the request that submits a run to the score of its episodes.

Off unless the environment names an OTLP endpoint (`OTEL_EXPORTER_OTLP_ENDPOINT`); then nothing of OpenTelemetry is
imported and a span costs some microseconds. Attributes are ids, names and numbers, never prompts, typed text, contents
of tasks or messages of errors. Contexts that outlive a process are text in the form of W3C's `traceparent`.

Sources: https://www.w3.org/TR/trace-context/ and https://opentelemetry.io/docs/specs/semconv/.
"""

import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from backend.telemetry.attributes import Attributes, Kind

if TYPE_CHECKING:
    from backend.telemetry.open_telemetry import OpenSpan, Tracing

log = logging.getLogger(__name__)
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
END_SECONDS = 3.0
"""Time limit for sending what is left when a process ends."""
_TRACEPARENT = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})")
_tracing: "Tracing | None" = None


class Span:
    """A span, or None without tracing."""

    def __init__(self, span: "OpenSpan | None" = None) -> None:
        self._span = span

    @property
    def traceparent(self) -> str:
        """Its context as text; empty without one."""
        return self._span.traceparent if self._span is not None else ""

    def set(self, attributes: Attributes) -> None:
        """Adds attributes."""
        if self._span is not None:
            self._span.set(attributes)

    def rename(self, name: str) -> None:
        """Gives it the name that is known only later."""
        if self._span is not None:
            self._span.rename(name)

    def fail(self, error_type: str) -> None:
        """Marks it as failed; `error_type` is a code or the name of a class, never a message."""
        if self._span is not None:
            self._span.fail(error_type)

    def end(self) -> None:
        """Ends it. One that never ends is never sent."""
        if self._span is not None:
            self._span.end()


NO_SPAN = Span()


def begin(service: str, version: str = "") -> None:
    """Starts the traces of this process if the environment asks for them. A wrong variable leaves them off.

    Args:
        service: name of the kind of process, unless OTEL_SERVICE_NAME is set.
        version: of this release.
    """
    global _tracing  # noqa: PLW0603 - one per process, as its log.
    if not is_wanted(os.environ) or _tracing is not None:
        return
    from backend.telemetry import open_telemetry

    try:
        _tracing = open_telemetry.to_endpoint(service, version)
    except Exception as error:  # noqa: BLE001 - whatever a variable breaks; its value may be a secret.
        log.warning("traces are off: OpenTelemetry rejects its settings (%s)", type(error).__name__)


def is_wanted(environ: Mapping[str, str]) -> bool:
    """Whether the environment asks for traces that can be sent."""
    disabled = environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    exporter = environ.get("OTEL_TRACES_EXPORTER", "").strip() or "otlp"
    if disabled or exporter != "otlp" or not any(environ.get(name) for name in ENDPOINTS):
        return False
    protocol = next((environ[name] for name in PROTOCOLS if environ.get(name)), "http/protobuf")
    if protocol != "http/protobuf":
        log.warning("traces are off: OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf (port 4318)")
        return False
    return True


def end() -> None:
    """Sends what is left, within END_SECONDS. Safe to call twice."""
    replace(None)


def replace(tracing: "Tracing | None") -> None:
    """Uses other traces from now on, such as a test's; ends those before."""
    global _tracing  # noqa: PLW0603 - as in begin()
    before, _tracing = _tracing, tracing
    if before is not None:
        before.end(END_SECONDS)


def is_on() -> bool:
    """Whether this process has traces."""
    return _tracing is not None


def begin_span(  # noqa: PLR0913 - what a span has
    name: str,
    attributes: Attributes | None = None,
    *,
    kind: Kind = "internal",
    parent: str | None = None,
    trace_id: int | None = None,
    links: Sequence[str] = (),
) -> Span:
    """A span that starts now and ends when its `end` is called.

    Args:
        name: bounded in its values: no ids.
        attributes: facts that are known already.
        kind: OpenTelemetry's.
        parent: context of its parent; None: the current span. Empty: it is the first of its trace.
        trace_id: of the new trace, for an empty parent; None: a random one.
        links: contexts of what it belongs to otherwise.
    """
    if _tracing is None:
        return NO_SPAN
    return Span(_tracing.begin_span(name, attributes or {}, kind=kind, parent=parent, trace_id=trace_id, links=links))


@contextmanager
def span(
    name: str,
    attributes: Attributes | None = None,
    *,
    kind: Kind = "internal",
    parent: str | None = None,
    links: Sequence[str] = (),
) -> Iterator[Span]:
    """A span around the block, current within it and in threads that `logs.in_this_context` starts. See `begin_span`.

    An error that leaves the block marks it as failed.
    """
    if _tracing is None:
        yield NO_SPAN
        return
    new = _tracing.begin_span(name, attributes or {}, kind=kind, parent=parent, trace_id=None, links=links)
    try:
        with new.current():
            yield Span(new)
    except BaseException as error:
        new.fail(str(getattr(error, "code", "") or type(error).__name__))
        raise
    finally:
        new.end()


def annotate(attributes: Attributes) -> None:
    """Adds attributes to the current span."""
    if _tracing is not None:
        _tracing.current_span().set(attributes)


def fail_current(error_type: str) -> None:
    """Marks the current span as failed; see `Span.fail`."""
    if _tracing is not None:
        _tracing.current_span().fail(error_type)


def traceparent() -> str:
    """Context of the current span; empty without one."""
    return "" if _tracing is None else _tracing.current_span().traceparent


def current_ids() -> Mapping[str, str]:
    """`trace_id` and `span_id` of the current span, for logs."""
    context = _TRACEPARENT.fullmatch(traceparent())
    return {} if context is None else {"trace_id": context[1], "span_id": context[2]}


def is_traceparent(text: str) -> bool:
    """Whether a text is a context of version 00."""
    return _TRACEPARENT.fullmatch(text) is not None


def sampled_trace_id(text: str | None) -> str | None:
    """The trace id of a context whose spans are sent; else None."""
    context = _TRACEPARENT.fullmatch(text or "")
    return context[1] if context is not None and int(context[3], 16) & 1 else None
