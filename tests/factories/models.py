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
    told = {"patience_seconds": 30.0, "timeout_seconds": 30.0, "key": SecretStr(KEY), **options}
    return Endpoint.model_validate({"name": "test", "api": api, "base_url": address, **told})


def never(seconds: float) -> None:
    """Waits, and never stops."""
    threading.Event().wait(seconds)


def client(
    told: Endpoint,
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

    caller = Caller(told, gate or RateLimiter(told.at_once), waited or WaitTimer(), pause, meter)
    _callers.append(caller)
    found: ModelClient = registry.lookup(PluginKind.MODEL, told.api)(caller)
    return found


def close_clients() -> None:
    """Closes the connections of all clients created here."""
    while _callers:
        _callers.pop().close()


def asked(*said: str | MessagePart | Message, **options: Any) -> ModelRequest:
    """A request; texts and parts become one message of the user."""
    parts = tuple(
        MessagePart(text=one) if isinstance(one, str) else one for one in said if not isinstance(one, Message)
    )
    messages = tuple(one for one in said if isinstance(one, Message))
    told = (*messages, Message(role="user", parts=parts)) if parts else messages
    return ModelRequest.model_validate({"model": "model-1", "messages": told, **options})


def cassette(folder: Path, *lines: Any) -> Path:
    """A cassette with these lines; texts stand for replies."""
    file = folder / "cassette.jsonl"
    told = [{"reply": line} if isinstance(line, str) else line for line in lines]
    file.write_text("".join(json.dumps(line) + "\n" for line in told))
    return file
