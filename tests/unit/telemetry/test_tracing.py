"""Traces: off at no cost, contexts as text, nothing of contents, and an endpoint that is down costs nothing."""

import json
import logging
import subprocess
import sys
import time

import pytest
from opentelemetry.trace import SpanKind, StatusCode

from backend.domain.errors import GuestLost
from backend.telemetry import tracing
from backend.telemetry.logs import JsonFormatter
from backend.telemetry.open_telemetry import MOST_TEXT
from tests.fakes.traces import traces_in_memory
from worker.attempt.agent_thread import AgentThread

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
UNSAMPLED = CALLER[:-1] + "0"


class TestOff:
    def test_opentelemetry_is_not_imported_when_off(self) -> None:
        code = (
            "import sys; from backend.telemetry import logs, tracing; tracing.begin('api');"
            "exec('with tracing.span(\"a\") as s: s.set({}); tracing.annotate({})'); assert not tracing.traceparent();"
            "print([name for name in sys.modules if name.startswith('opentelemetry')], tracing.is_on())"
        )
        words = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={})
        assert words.stdout == "[] False\n"

    @pytest.mark.parametrize(
        ("variables", "wanted"),
        [
            ({}, False),
            ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, True),
            ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"}, True),
            ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_SDK_DISABLED": "true"}, False),
            ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_TRACES_EXPORTER": "none"}, False),
            ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, False),
        ],
    )
    def test_the_standard_variables_decide(self, variables: dict[str, str], wanted: bool) -> None:  # noqa: FBT001
        assert tracing.is_wanted(variables) is wanted


class TestSpans:
    def test_parents_links_and_ids_of_traces(self) -> None:
        with traces_in_memory() as exporter:
            with tracing.span("outer", kind="server", parent="", links=[CALLER]) as outer:
                thread = AgentThread(lambda: None)
                inner_context = thread(tracing.traceparent, 5.0)  # An agent's code runs in a thread of its own.
                thread.close()
                with tracing.span("inner"):
                    pass
            tracing.begin_span("later", parent=outer.traceparent, kind="consumer").end()
            tracing.begin_span("apart", parent="", trace_id=7, links=[outer.traceparent]).end()
            tracing.begin_span("unsampled", parent=UNSAMPLED).end()
            tracing.begin_span("rolled back")
        spans = {span.name: span for span in exporter.get_finished_spans()}
        assert list(spans) == ["inner", "outer", "later", "apart"]
        assert inner_context == outer.traceparent
        assert spans["outer"].parent is None
        assert f"{spans['outer'].context.trace_id:032x}" not in CALLER
        assert f"{spans['outer'].links[0].context.trace_id:032x}" in CALLER
        for name in ("inner", "later"):
            parent = spans[name].parent
            assert parent is not None
            assert parent.span_id == spans["outer"].context.span_id
        assert (spans["later"].kind, spans["apart"].context.trace_id) == (SpanKind.CONSUMER, 7)
        assert spans["apart"].links[0].context.span_id == spans["outer"].context.span_id

    def test_a_failure_has_its_code_and_none_of_its_words(self) -> None:
        with traces_in_memory() as exporter:
            with pytest.raises(GuestLost), tracing.span("reset", {"name": "\x1b" + "x" * 1000, "none": None}):
                raise GuestLost("the guest typed hunter2", code="desktop_gone")
            with pytest.raises(ValueError, match="hunter2"), tracing.span("other"):
                raise ValueError("hunter2")
        first, second = exporter.get_finished_spans()
        assert first.status.status_code is second.status.status_code is StatusCode.ERROR
        assert dict(first.attributes or {})["error.type"] == "desktop_gone"
        assert dict(second.attributes or {}) == {"error.type": "ValueError"}
        assert len(str(dict(first.attributes or {})["name"])) == MOST_TEXT + 3  # The escape is longer than it was.
        assert "none" not in dict(first.attributes or {})
        assert "hunter2" not in first.to_json() + second.to_json()

    def test_logs_have_its_ids(self) -> None:
        record = logging.LogRecord("a", logging.INFO, "", 0, "words", None, None)
        with traces_in_memory(), tracing.span("outer") as outer:
            event = json.loads(JsonFormatter().format(record))
        assert outer.traceparent == f"00-{event['trace_id']}-{event['span_id']}-01"
        assert "trace_id" not in json.loads(JsonFormatter().format(record))

    @pytest.mark.parametrize(
        ("text", "trace_id"), [(CALLER, CALLER[3:35]), (UNSAMPLED, None), (None, None), ("", None), ("00-0", None)]
    )
    def test_only_sampled_traces_have_an_id(self, text: str | None, trace_id: str | None) -> None:
        assert tracing.sampled_trace_id(text) == trace_id

    @pytest.mark.parametrize("text", [f"00-{'0' * 32}-{'1' * 16}-01", CALLER.upper(), f"{CALLER}\n", f"01{CALLER[2:]}"])
    def test_invalid_contexts_are_rejected(self, text: str) -> None:
        assert not tracing.is_traceparent(text)


class TestEndpointDown:
    def test_costs_neither_time_nor_memory(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
        monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "16")
        monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "8")
        monkeypatch.setattr(tracing, "END_SECONDS", 0.2)
        tracing.begin("api")
        assert tracing.is_on()
        began = time.monotonic()
        for _ in range(200):
            with tracing.span("a"):
                pass
        tracing.end()
        assert time.monotonic() - began < 20.0
        assert not tracing.is_on()

    def test_invalid_variable_disables_tracing(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
        monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "16")  # Less than a batch.
        tracing.begin("api")
        assert not tracing.is_on()
        assert "traces are off" in caplog.text
