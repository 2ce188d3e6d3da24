"""The behaviour common to all model clients, whichever API they speak; each asks a server on this machine over HTTP."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from unittest.mock import Mock

import pytest

from backend.domain.errors import Cancelled, Invalid, ModelApiFailed
from backend.domain.model.prices import Price
from backend.domain.ports.model import Message, MessagePart, ModelClient
from tests.error_codes import raises_code
from tests.factories.models import CLICK, KEY, LIVE, PICTURE, asked, client, close_clients, endpoint
from tests.fakes.model_server import ModelServer, model_server
from worker.models.rate_limiter import RateLimiter
from worker.models.wait_timer import WaitTimer

PRICE = Price(model="model-*", since=date(2020, 1, 1), input=10, cached=1, output=100)
PATIENCE = 0.03
"""Seconds; less than the first pause, so that there is one more try."""
SYSTEM = Message(role="system", parts=(MessagePart(text="Be brief."),))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as found:
        found.key = KEY
        yield found


@pytest.fixture(autouse=True)
def _closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("worker.models.retrying_client.FIRST_PAUSE", 0.05)
    yield
    close_clients()


@pytest.fixture(params=LIVE)
def api(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def of(server: ModelServer, api: str, **options: Any) -> ModelClient:
    return client(endpoint(api, f"{server.address}/v1", **options))


class TestReply:
    @pytest.mark.parametrize("streamed", [False, True])
    def test_reply_has_text_calls_reasoning_and_tokens(self, server: ModelServer, api: str, streamed: bool) -> None:  # noqa: FBT001
        server.say(
            "I click.", calls=[("click", {"x": 3})], thinking="Where?", tokens=(100, 40, 10), model="model-1-0506"
        )
        heard: list[str] = []
        reply = of(server, api, prices=(PRICE,)).complete(
            asked(SYSTEM, "What now?", tools=(CLICK,)), on_text=heard.append if streamed else None
        )
        assert (reply.text, reply.thinking, reply.stop, reply.model) == ("I click.", "Where?", "tool", "model-1-0506")
        assert [(call.name, dict(call.arguments)) for call in reply.calls] == [("click", {"x": 3})]
        assert (reply.usage.input_tokens, reply.usage.cached_tokens, reply.usage.output_tokens) == (100, 40, 10)
        assert reply.usage.usd == pytest.approx((60 * 10 + 40 * 1 + 10 * 100) / 1e6)
        assert (reply.usage.priced, reply.usage.calls) == (True, 1)
        assert "".join(heard) == ("I click." if streamed else "")
        assert bool(server.asked[0].body.get("stream") or "stream" in server.asked[0].path) is streamed

    @pytest.mark.parametrize("streamed", [False, True])
    @pytest.mark.parametrize("stop", ["end", "length", "refusal"])
    def test_why_it_stopped(self, server: ModelServer, api: str, stop: str, streamed: bool) -> None:  # noqa: FBT001
        server.say("Well.", stop=stop)
        heard: list[str] = []
        assert of(server, api).complete(asked("Hi"), on_text=heard.append if streamed else None).stop == stop

    def test_a_model_without_a_price_is_unpriced_and_not_free(self, server: ModelServer, api: str) -> None:
        server.say("Hello.")
        usage = of(server, api).complete(asked("Hi", model="nobody-knows")).usage
        assert (usage.usd, usage.priced, usage.input_tokens) == (0.0, False, 100)

    def test_an_answer_of_a_megabyte_is_bounded(self, server: ModelServer, api: str) -> None:
        server.say("x" * (2**20 + 100))
        assert len(of(server, api).complete(asked("Hi")).text) == 2**20

    def test_at_most_64_calls(self, server: ModelServer, api: str) -> None:
        server.say(calls=[("click", {"x": at}) for at in range(70)])
        server.say(calls=[("click", {"x": at}) for at in range(70)])
        speaker = of(server, api)
        assert len(speaker.complete(asked("Hi")).calls) == 64
        assert len(speaker.complete(asked("Hi"), on_text=lambda _: None).calls) == 64


class TestRequest:
    def test_a_picture_is_sent_in_base64(self, server: ModelServer, api: str) -> None:
        server.say("Seen.")
        of(server, api).complete(asked("Look", MessagePart(image=PICTURE)))
        assert "iVBORyBwaWN0dXJl" in server.asked[0].text

    def test_a_conversation_with_calls_results_and_what_the_api_wants_back(self, server: ModelServer, api: str) -> None:
        server.say("First.", calls=[("click", {"x": 1}), ("click", {"x": 2})], thinking="Two clicks.")
        server.say("Done.")
        speaker = of(server, api)
        first = speaker.complete(asked(SYSTEM, "Do it", tools=(CLICK,)))
        turn = Message(
            role="assistant",
            parts=(
                *(MessagePart(raw=raw) for raw in first.raw),
                MessagePart(text=first.text),
                *(MessagePart(call=call) for call in first.calls),
            ),
        )
        results = [MessagePart(result=(call.id, "clicked")) for call in first.calls]
        last = speaker.complete(
            asked(
                SYSTEM,
                _user("Do it"),
                turn,
                _user(*results, MessagePart(image=PICTURE), MessagePart(text="Go on")),
                tools=(CLICK,),
            )
        )
        assert last.text == "Done."
        sent = server.asked[1].text
        assert sent.count("First.") == 1
        assert sent.count("clicked") == 2
        assert "Go on" in sent
        assert "iVBORyBwaWN0dXJl" in sent

    def test_the_same_conversation_without_what_it_gave_back(self, server: ModelServer, api: str) -> None:
        server.say("First.", calls=[("click", {"x": 1})])
        server.say("Done.")
        speaker = of(server, api)
        first = speaker.complete(asked("Do it", tools=(CLICK,)))
        foreign = MessagePart(raw={"api": "another", "content": [{"type": "signed"}]})
        turn = Message(
            role="assistant", parts=(foreign, MessagePart(text=first.text), MessagePart(call=first.calls[0]))
        )
        last = speaker.complete(asked(_user("Do it"), turn, _user(MessagePart(result=(first.calls[0].id, "clicked")))))
        assert last.text == "Done."
        assert "signed" not in server.asked[1].text

    def test_sampling_is_sent_and_unsupported_options_are_reported(self, server: ModelServer, api: str) -> None:
        server.say("Hello.")
        reply = of(server, api).complete(
            asked("Hi", temperature=0.3, top_p=0.8, max_tokens=77, seed=5, stop=("END",), extra={"user": "deskarena"})
        )
        sent = server.asked[0].text
        assert all(value in sent for value in ("0.3", "0.8", "77", "deskarena"))
        assert reply.dropped == {"anthropic": ("seed",), "openai_responses": ("seed", "stop")}.get(api, ())
        assert ("END" in sent) is (api != "openai_responses")

    def test_a_refused_field_is_left_out_and_not_sent_again(self, server: ModelServer, api: str) -> None:
        place = {"gemini": "topP"}.get(api, "top_p")
        server.fail(400, text=f"Unsupported parameter: '{place}' is not supported with this model.")
        server.say("Hello.")
        server.say("Again.")
        speaker = of(server, api)
        for _ in range(2):
            assert speaker.complete(asked("Hi", temperature=0.3, top_p=0.8)).dropped == ("top_p",)
        assert [("0.8" in one.text, "0.3" in one.text) for one in server.asked] == [
            (True, True),
            (False, True),
            (False, True),
        ]

    def test_the_key_is_in_its_header_and_nowhere_else(self, server: ModelServer, api: str) -> None:
        server.say("Hello.")
        of(server, api).complete(asked("Hi"))
        sent = server.asked[0]
        assert KEY in " ".join(sent.headers.values())
        assert KEY not in sent.path
        assert KEY not in sent.text


class TestWaiting:
    @pytest.mark.parametrize("streamed", [False, True])
    def test_limits_failures_and_a_cut_connection_cost_nothing(
        self,
        server: ModelServer,
        api: str,
        streamed: bool,  # noqa: FBT001
    ) -> None:
        server.fail(429, retry_after="0.3", times=2)
        server.fail(500)
        server.cut()
        server.say("At last.")
        waited = WaitTimer()
        told = endpoint(api, f"{server.address}/v1")
        reply = client(told, waited=waited).complete(asked("Hi"), on_text=(lambda _: None) if streamed else None)
        assert reply.text == "At last."
        assert len(server.asked) == 5
        assert reply.usage.wait_seconds >= 0.6
        assert waited.seconds() == pytest.approx(reply.usage.wait_seconds)
        assert reply.usage.calls == 1

    @pytest.mark.parametrize("status", [402, 408, 409, 429, 500, 502, 503, 529])
    def test_waits_as_long_as_it_is_patient_then_the_attempt_is_lost(
        self, server: ModelServer, api: str, status: int
    ) -> None:
        server.answer = None
        server.fail_for(60, status)
        with raises_code(ModelApiFailed, "model_api_failed", mentions=f"HTTP {status}"):
            of(server, api, patience_seconds=PATIENCE).complete(asked("Hi"))
        assert len(server.asked) == 2  # The last try is made when patience ends.

    def test_a_date_says_when_to_come_back(self, server: ModelServer, api: str) -> None:
        server.fail(429, retry_after=format_datetime(datetime.now(UTC) + timedelta(seconds=600), usegmt=True))
        waits: list[float] = []

        def pause(seconds: float) -> None:
            if seconds > 0:
                waits.append(seconds)
                raise Cancelled("that was all")

        told = endpoint(api, f"{server.address}/v1", patience_seconds=3600)
        with pytest.raises(Cancelled):
            client(told, pause=pause).complete(asked("Hi"))
        assert len(waits) == 1
        assert 300 < waits[0] <= 601

    def test_an_api_that_hangs_is_left_and_asked_again(self, server: ModelServer, api: str) -> None:
        server.hang()
        server.drip()
        server.say("Hello.")
        reply = of(server, api, timeout_seconds=1.5).complete(asked("Hi"))
        assert reply.text == "Hello."
        assert reply.usage.wait_seconds >= 3.0

    @pytest.mark.parametrize("fault", ["hang", "drip", "busy"])
    def test_the_attempt_s_end_ends_the_waiting(self, server: ModelServer, api: str, fault: str) -> None:
        {"hang": server.hang, "drip": server.drip, "busy": lambda: server.fail_for(60, retry_after="50")}[fault]()
        stop = threading.Event()

        def pause(seconds: float) -> None:
            if stop.wait(min(seconds, 0.2)):
                raise Cancelled("the run was cancelled")

        raised: list[BaseException] = []

        def ask() -> None:
            try:
                client(endpoint(api, f"{server.address}/v1"), pause=pause).complete(asked("Hi"))
            except Cancelled as error:
                raised.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        _until(lambda: bool(server.asked))
        stop.set()
        thread.join(60)
        assert not thread.is_alive()
        assert [str(error) for error in raised] == ["the run was cancelled"]

    def test_all_attempts_rest_when_the_api_asks_for_it(self, server: ModelServer, api: str) -> None:
        server.fail(429, retry_after="1.5")
        server.say("One.")
        server.say("Two.")
        gate, told = RateLimiter(8), endpoint(api, f"{server.address}/v1")
        gate.rest = rest = Mock(wraps=gate.rest)  # type: ignore[method-assign]
        other = threading.Thread(target=lambda: client(told, gate=gate).complete(asked("Hi")))
        other.start()
        _until(lambda: rest.called)
        client(told, gate=gate).complete(asked("Hi"))
        other.join()
        assert all(one.at - server.asked[0].at >= 1.4 for one in server.asked[1:])


class TestGivingUp:
    @pytest.mark.parametrize("status", [401, 403, 404])
    def test_a_refused_key_or_an_unknown_model_is_not_waited_for(
        self, server: ModelServer, api: str, status: int
    ) -> None:
        server.fail(status, text="no such model for you")
        with raises_code(ModelApiFailed, "model_api_failed", mentions=(str(status), "no such model")) as raised:
            of(server, api).complete(asked("Hi"))
        assert len(server.asked) == 1
        assert "docs/models.md" in raised.value.hint

    @pytest.mark.parametrize("status", [400, 413, 422])
    def test_a_wrong_request_is_invalid_in_the_api_s_words(self, server: ModelServer, api: str, status: int) -> None:
        server.fail(status, text="prompt is too long: 300000 tokens > 200000 maximum " + "y" * 9000)
        with raises_code(Invalid, "model_request_invalid", mentions="prompt is too long") as raised:
            of(server, api).complete(asked("Hi"))
        assert len(str(raised.value)) < 1000

    def test_no_money_left_is_waited_for_although_it_is_a_400(self, server: ModelServer, api: str) -> None:
        server.fail(400, text="Your credit balance is too low to access the API.")
        server.say("Paid.")
        assert of(server, api).complete(asked("Hi")).text == "Paid."

    @pytest.mark.parametrize("streamed", [False, True])
    @pytest.mark.parametrize(
        "body", [b"<html>busy</html>", b"", b"[]", b"{}", b'{"choices": 3, "output": 3, "content": 3, "candidates": 3}']
    )
    def test_an_answer_that_is_none_is_asked_for_twice_more(
        self,
        server: ModelServer,
        api: str,
        body: bytes,
        streamed: bool,  # noqa: FBT001
    ) -> None:
        server.nonsense(body, times=3)
        with raises_code(ModelApiFailed, "model_api_failed"):
            of(server, api).complete(asked("Hi"), on_text=(lambda _: None) if streamed else None)
        assert (len(server.asked), server.left()) == (3, 0)

    def test_two_gigabytes_are_not_read(self, server: ModelServer, api: str) -> None:
        server.flood(times=3)
        began = time.monotonic()
        with raises_code(ModelApiFailed, "model_api_failed", mentions="2147483648 bytes"):
            of(server, api).complete(asked("Hi"))
        assert time.monotonic() - began < 20

    def test_oversized_stream_is_refused(self, server: ModelServer, api: str) -> None:
        server.flood(times=3)
        with raises_code(ModelApiFailed, "model_api_failed"):
            of(server, api).complete(asked("Hi"), on_text=lambda _: None)

    def test_deep_nesting_is_nonsense(self, server: ModelServer, api: str) -> None:
        server.nonsense(b'{"choices":' + b"[" * 200_000, times=3)
        with pytest.raises(ModelApiFailed):
            of(server, api).complete(asked("Hi"))

    def test_no_redirect_is_followed(self, server: ModelServer, api: str) -> None:
        with model_server() as elsewhere:
            server.redirect(f"{elsewhere.address}/v1/chat/completions")
            with raises_code(ModelApiFailed, "model_api_failed"):
                of(server, api).complete(asked("Hi"))
            assert elsewhere.asked == []

    def test_unreachable_api_fails(self, api: str) -> None:
        with raises_code(ModelApiFailed, "model_api_failed"):
            client(endpoint(api, "http://127.0.0.1:9/v1", patience_seconds=0)).complete(asked("Hi"))


class TestKey:
    def test_key_is_in_no_error_log_or_repr(
        self, server: ModelServer, api: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        told = endpoint(api, f"{server.address}/v1", patience_seconds=PATIENCE)
        errors: list[str] = []
        faults: tuple[Callable[[], None], ...] = (
            lambda: server.fail(401, text=f"Incorrect API key provided: {KEY}"),
            lambda: server.fail(400, text=f"bad header {KEY}"),
            lambda: server.fail(429, text=f"too fast, {KEY}", times=2),
            lambda: server.nonsense(f"who is {KEY}?".encode(), times=3),
            lambda: server.cut(times=2),
            lambda: server.redirect(f"http://127.0.0.1/{KEY}"),
        )
        for fault in faults:
            fault()
            with pytest.raises((ModelApiFailed, Invalid)) as raised:
                client(told).complete(asked("Hi"))
            errors.append(_everything(raised.value))
        speaker = client(told)
        shown = [repr(speaker), repr(told), str(told), repr(vars(speaker)), told.model_dump_json()]
        assert [words for words in (*errors, *shown) if KEY in words] == []
        assert [record for record in caplog.records if KEY in f"{record.getMessage()}{record.exc_text}"] == []


def _user(*said: str | MessagePart) -> Message:
    return Message(role="user", parts=tuple(MessagePart(text=one) if isinstance(one, str) else one for one in said))


def _until(true: Any, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it never came"
        threading.Event().wait(0.01)


def _everything(error: BaseException) -> str:
    """All that a log would show of an error, and what led to it."""
    import traceback

    told = "".join(traceback.format_exception(error))
    return f"{told}{error!r}{getattr(error, 'hint', '')}{error.__cause__!r}{error.__context__!r}"
