"""Endpoints and clients of models for tests, and requests to them."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from backend.domain import registry
from backend.domain.model.trajectory import Frame
from backend.domain.ports.model import Message, MessagePart, ModelClient, ModelRequest, Tool
from backend.domain.registry import PluginKind
from backend.services.capacity.model_endpoints import Endpoint
from worker.models.rate_limiter import RateLimiter
from worker.models.retrying_client import Caller
from worker.models.usage_meter import UsageMeter
from worker.models.wait_timer import WaitTimer

KEY = "sk-test-0123456789-do-not-tell"
LIVE = ("openai_chat", "openai_responses", "anthropic", "gemini")
PICTURE = Frame(data=b"\x89PNG picture", media_type="image/png", width=4, height=3)
CLICK = Tool(
    name="click",
    about="Clicks.",
    schema_={"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
)


_callers: list[Caller] = []


def endpoint(api: str, address: str = "", **options: Any) -> Endpoint:
    """An endpoint with a key; its default timeout is 30 s."""
    defaults = {"patience_seconds": 30.0, "timeout_seconds": 30.0, "key": SecretStr(KEY), **options}
    return Endpoint.model_validate({"name": "test", "api": api, "base_url": address, **defaults})


def never(seconds: float) -> None:
    """Waits, and never stops."""
    threading.Event().wait(seconds)


def client(
    endpoint_config: Endpoint,
    *,
    gate: RateLimiter | None = None,
    waited: WaitTimer | None = None,
    pause: Callable[[float], None] = never,
    meter: UsageMeter | None = None,
) -> ModelClient:
    """The client of an endpoint, as an attempt has it."""
    import worker.models.anthropic
    import worker.models.gemini
    import worker.models.openai_chat
    import worker.models.openai_responses
    import worker.models.recorded  # noqa: F401 - registers itself, like the others.

    caller = Caller(endpoint_config, gate or RateLimiter(endpoint_config.at_once), waited or WaitTimer(), pause, meter)
    _callers.append(caller)
    model_client: ModelClient = registry.lookup(PluginKind.MODEL, endpoint_config.api)(caller)
    return model_client


def close_clients() -> None:
    """Closes the connections of all clients created here."""
    while _callers:
        _callers.pop().close()


def asked(*content: str | MessagePart | Message, **options: Any) -> ModelRequest:
    """A request; texts and parts become one message of the user."""
    parts = tuple(
        MessagePart(text=part) if isinstance(part, str) else part for part in content if not isinstance(part, Message)
    )
    messages = tuple(message for message in content if isinstance(message, Message))
    all_messages = (*messages, Message(role="user", parts=parts)) if parts else messages
    return ModelRequest.model_validate({"model": "model-1", "messages": all_messages, **options})


def cassette(folder: Path, *lines: Any) -> Path:
    """A cassette with these lines; texts stand for replies."""
    file = folder / "cassette.jsonl"
    entries = [{"reply": line} if isinstance(line, str) else line for line in lines]
    file.write_text("".join(json.dumps(line) + "\n" for line in entries))
    return file
