import json
from typing import Any

import pytest

from worker.models._errors import FaultAction, fault_of, fault_within, retry_after


def body(**error: Any) -> bytes:
    return json.dumps({"error": error}).encode()


class TestRetryAfter:
    @pytest.mark.parametrize(
        ("told", "seconds"),
        [
            ("20", 20.0),
            ("0.5", 0.5),
            ("-3", 0.0),
            ("nan", None),
            ("inf", None),
            ("soon", None),
            ("", None),
            ("Sun, 22 Nov 2026 06:00:30 GMT", 30.0),
            ("Sun, 22 Nov 2026 05:00:00 GMT", 0.0),
            ("Sun, 99 Nov 2026 05:00:00 GMT", None),
        ],
    )
    def test_seconds_or_a_date(self, told: str, seconds: float | None) -> None:
        assert retry_after({"retry-after": told}, now=1_795_327_200.0) == seconds

    def test_milliseconds_are_more_exact(self) -> None:
        assert retry_after({"retry-after-ms": "1500", "retry-after": "2"}) == 1.5


class TestFaultOf:
    @pytest.mark.parametrize("status", [402, 408, 409, 425, 429, 500, 502, 503, 504, 529])
    def test_transient_faults_are_retried(self, status: int) -> None:
        assert fault_of(status, {}, b"busy").kind is FaultAction.HOLD

    @pytest.mark.parametrize("status", [301, 302, 307, 401, 403, 404, 405])
    def test_permanent_faults_are_not_retried(self, status: int) -> None:
        assert fault_of(status, {"location": "http://elsewhere"}, b"no").kind is FaultAction.REFUSED

    @pytest.mark.parametrize("status", [400, 413, 422])
    def test_client_error_is_not_retried(self, status: int) -> None:
        assert fault_of(status, {}, body(message="messages: too long")).kind is FaultAction.WRONG

    def test_gemini_s_wrong_key_is_a_400(self) -> None:
        words = "API key not valid. Please pass a valid API key."
        assert fault_of(400, {}, body(message=words, status="INVALID_ARGUMENT")).kind is FaultAction.REFUSED

    def test_anthropic_s_empty_account_is_a_400(self) -> None:
        assert fault_of(400, {}, body(message="Your credit balance is too low")).kind is FaultAction.HOLD

    def test_gemini_retry_delay_is_read_from_the_body(self) -> None:
        details = [{"@type": "x"}, {"retryDelay": "34.5s"}]
        assert fault_of(429, {}, body(message="slow", details=details)).after == 34.5

    @pytest.mark.parametrize("told", [b'{"error": {"details": [3, {"retryDelay": 4}]}}', b"[]", b"3", b'{"error": 3}'])
    def test_invalid_bodies_give_no_retry_delay(self, told: bytes) -> None:
        assert fault_of(429, {}, told).after is None

    def test_message_is_one_bounded_line_without_control_characters(self) -> None:
        words = fault_of(400, {}, body(message="a\x1b[31m\n\n b" + "c" * 9000)).words
        assert words.startswith("HTTP 400: a[31m bc")
        assert len(words) < 600


class TestFaultWithin:
    @pytest.mark.parametrize(
        ("error", "kind"),
        [
            ({"type": "overloaded_error", "message": "Overloaded"}, FaultAction.HOLD),
            ({"code": "rate_limit_exceeded", "message": "Slow down"}, FaultAction.HOLD),
            ({"code": "server_error", "message": "Sorry"}, FaultAction.HOLD),
            ({"code": 503, "message": "away", "status": "UNAVAILABLE"}, FaultAction.HOLD),
            ({"code": 400, "message": "too long"}, FaultAction.WRONG),
            ({"type": "invalid_request_error", "message": "too long"}, FaultAction.WRONG),
            ("the context is too long", FaultAction.WRONG),
            (None, FaultAction.WRONG),
        ],
    )
    def test_error_code_decides_the_action(self, error: Any, kind: FaultAction) -> None:
        assert fault_within(error).kind is kind
