"""Spans of this process in memory, and an OTLP/HTTP endpoint on a loopback port that keeps those of any process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from backend.telemetry import tracing
from backend.telemetry.open_telemetry import Tracing


@contextmanager
def traces_in_memory() -> Iterator[InMemorySpanExporter]:
    """Traces of this process within the block."""
    exporter = InMemorySpanExporter()
    tracing.replace(Tracing(SimpleSpanProcessor(exporter)))
    try:
        yield exporter
    finally:
        tracing.replace(None)


@dataclass(frozen=True)
class ReceivedSpan:
    """A span as it was sent; ids in hex, `parent` empty for the first of its trace, `links` are ids of spans."""

    service: str
    name: str
    trace_id: str
    span_id: str
    parent: str
    links: tuple[str, ...]
    attributes: dict[str, Any]


@dataclass
class TraceReceiver:
    """The running endpoint."""

    port: int = 0
    spans: list[ReceivedSpan] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def keep(self, body: bytes) -> None:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            service = _values(resource.resource.attributes)["service.name"]
            for scope in resource.scope_spans:
                self.spans += [
                    ReceivedSpan(
                        service,
                        span.name,
                        span.trace_id.hex(),
                        span.span_id.hex(),
                        span.parent_span_id.hex(),
                        tuple(link.span_id.hex() for link in span.links),
                        _values(span.attributes),
                    )
                    for span in scope.spans
                ]


def _values(attributes: Any) -> dict[str, Any]:
    return {attribute.key: getattr(attribute.value, attribute.value.WhichOneof("value")) for attribute in attributes}


@contextmanager
def trace_receiver() -> Iterator[TraceReceiver]:
    """A running endpoint."""
    receiver = TraceReceiver()

    class TraceHandler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # noqa: N802 - the name that http.server looks for
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert (self.path, self.headers["Content-Type"]) == ("/v1/traces", "application/x-protobuf")
            receiver.keep(body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *words: object) -> None:
            """Tests look at spans."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), TraceHandler)
    server.daemon_threads = True
    receiver.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
