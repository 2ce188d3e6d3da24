"""Safety checks of the vendors' computer tools: what a client reads, and how it acknowledges them."""

from collections.abc import Iterator
from typing import Any

import pytest

from backend.domain.model.trajectory import SafetyCheck
from backend.domain.ports.model import Message, MessagePart, ModelReply, ToolCall
from tests.factories.models import PICTURE, asked, client, endpoint
from tests.fakes.model_server import ModelServer, model_server

PENDING = {"id": "s1", "code": "malicious_instructions", "message": "The page gives instructions."}
ACTION = {"type": "click", "x": 3, "y": 4, "button": "left"}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


def reply_of(server: ModelServer, api: str, *said: Any) -> ModelReply:
    return client(endpoint(api, f"{server.address}/v1")).complete(asked(*(said or ("Hi",))))


def sent_after(server: ModelServer, api: str, reply: ModelReply, *, failed: bool = False) -> Any:
    """The next request, in which the reply's call has its result."""
    server.say("Well.")
    parts = (*(MessagePart(raw=raw) for raw in reply.raw), *(MessagePart(call=call) for call in reply.calls))
    result = MessagePart(result=(reply.calls[0].id, "no such key" if failed else "done"), failed=failed)
    user = Message(role="user", parts=(result, MessagePart(image=PICTURE)))
    reply_of(server, api, asked("Hi").messages[0], Message(role="assistant", parts=parts), user)
    return server.asked[-1].body


class TestOpenAI:
    @pytest.mark.parametrize("pending", [[PENDING], [PENDING, {"id": "s2"}], []])
    def test_each_is_read_and_acknowledged(self, server: ModelServer, pending: list[dict[str, str]]) -> None:
        call = {"type": "computer_call", "call_id": "c", "status": "completed", "action": ACTION}
        server.say(wire={"status": "completed", "output": [{**call, "pending_safety_checks": pending}]})
        reply = reply_of(server, "openai_responses")
        expected = [SafetyCheck(code=each.get("code", ""), message=each.get("message", "")) for each in pending]
        assert (list(reply.safety_checks), reply.stop) == (expected, "tool")
        output = sent_after(server, "openai_responses", reply)["input"][-1]
        assert output.get("acknowledged_safety_checks", []) == pending

    def test_results_of_a_call_follow_its_screen(self, server: ModelServer) -> None:
        call = {"type": "computer_call", "call_id": "c", "status": "completed", "action": ACTION}
        server.say(wire={"status": "completed", "output": [call]})
        reply = reply_of(server, "openai_responses")
        *_, output, message = sent_after(server, "openai_responses", reply, failed=True)["input"]
        assert output["type"] == "computer_call_output"
        assert message["content"] == [{"type": "input_text", "text": "no such key"}]


class TestGemini:
    @pytest.mark.parametrize(
        ("decision", "checks", "stop"),
        [
            (None, [], "tool"),
            ({"decision": "regular"}, [], "tool"),
            ({"decision": "allowed", "explanation": "It is harmless."}, [], "tool"),
            (
                {"decision": "require_confirmation", "explanation": "A banner."},
                [SafetyCheck(code="require_confirmation", message="A banner.")],
                "tool",
            ),
            ({"decision": "REQUIRE_CONFIRMATION"}, [SafetyCheck(code="require_confirmation")], "tool"),
            ({"decision": "blocked", "explanation": "No."}, [SafetyCheck(code="blocked", message="No.")], "refusal"),
            ("blocked", [SafetyCheck(code="blocked")], "refusal"),
        ],
    )
    def test_each_is_read_and_acknowledged(
        self, server: ModelServer, decision: Any, checks: list[SafetyCheck], stop: str
    ) -> None:
        arguments = {"x": 5, "y": 5} if decision is None else {"x": 5, "y": 5, "safety_decision": decision}
        server.say(calls=[("click_at", arguments)])
        reply = reply_of(server, "gemini")
        assert (list(reply.safety_checks), reply.stop) == (checks, stop)
        for failed in (False, True):
            part = sent_after(server, "gemini", reply, failed=failed)["contents"][-1]["parts"][0]
            acknowledged = part["functionResponse"]["response"].get("safety_acknowledgement")
            assert acknowledged == ("true" if checks and stop == "tool" else None)

    def test_also_without_the_raw_turn(self, server: ModelServer) -> None:
        call = ToolCall(id="1", name="click_at", arguments={"safety_decision": {"decision": "require_confirmation"}})
        part = sent_after(server, "gemini", ModelReply(calls=(call,)))["contents"][-1]["parts"][0]
        assert part["functionResponse"]["response"] == {"output": "done", "safety_acknowledgement": "true"}
