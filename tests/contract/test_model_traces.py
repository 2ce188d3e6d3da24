"""The span of a call of a model, whichever API it speaks: names and numbers."""

from collections.abc import Iterator

import pytest
from opentelemetry.trace import SpanKind
from pydantic import SecretStr

from backend.domain.errors import ModelApiFailed
from backend.domain.ports.model import Message, MessagePart
from tests.factories.models import KEY, LIVE, asked, client, close_clients, endpoint
from tests.fakes.model_server import ModelServer, model_server
from tests.fakes.traces import traces_in_memory

SYSTEM = Message(role="system", parts=(MessagePart(text="Be brief."),))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as made:
        made.key = KEY
        yield made
    close_clients()


@pytest.mark.parametrize("api", LIVE)
def test_has_names_and_numbers_and_no_words(server: ModelServer, api: str) -> None:
    address = f"{server.address}/v1"
    server.say("I click.", tokens=(100, 40, 10), model="model-1-0506")
    with traces_in_memory() as exporter:
        client(endpoint(api, address)).complete(asked(SYSTEM, "What now?"))
        with pytest.raises(ModelApiFailed):
            client(endpoint(api, address, key=SecretStr("sk-wrong"))).complete(asked("What now?"))
    answered, refused = exporter.get_finished_spans()
    assert (answered.name, answered.kind) == ("chat model-1", SpanKind.CLIENT)
    facts = dict(answered.attributes or {})
    assert facts["gen_ai.operation.name"] == "chat"
    assert facts["gen_ai.response.model"] == "model-1-0506"
    assert (facts["gen_ai.usage.input_tokens"], facts["gen_ai.usage.output_tokens"]) == (100, 10)
    assert facts["gen_ai.response.finish_reasons"] == ("stop",)
    assert facts["server.address"] == "127.0.0.1"
    assert dict(refused.attributes or {})["error.type"] == "model_api_failed"
    words = answered.to_json() + refused.to_json()
    assert not any(each in words for each in ("click", "What now", "brief", KEY, "sk-wrong"))
