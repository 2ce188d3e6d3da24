"""Asks a model: chooses the client, sends the request, and drops the oldest input when it is too long."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.domain.agents._messages import message_tokens
from backend.domain.agents._model_params import ModelParams
from backend.domain.errors import AgentFailed, Invalid, ModelApiFailed
from backend.domain.ports.agent import AgentContext
from backend.domain.ports.model import Message, ModelReply, ModelRequest, Tool

Build = Callable[[int], Sequence[Message] | None]
"""Messages of a step with `n` of the oldest inputs left out; None when nothing more can be left out."""
_LENGTH = re.compile(r"context|too (long|large|many)|maximum|length|tokens?\b|exceed", re.IGNORECASE)


@dataclass(frozen=True)
class ModelAnswer:
    """A reply and the prompt it answers.

    Attributes:
        seconds: until the answer, without waiting for the API.
    """

    reply: ModelReply
    messages: tuple[Message, ...]
    seconds: float = 0.0


class Asker:
    """Asks one model for one episode."""

    def __init__(self, context: AgentContext, params: ModelParams) -> None:
        """Looks up the endpoint's client.

        Raises:
            AgentFailed: no model is configured, or there are no model clients.
            ModelApiFailed: the endpoint does not exist here, or it has no key.
        """
        if context.models is None:
            raise AgentFailed("this agent asks a model, and there are no model clients here", code="no_model_client")
        if not params.model:
            raise AgentFailed("no model was chosen", code="no_model", hint="Set the parameter model.")
        self._client = context.models.client(params.endpoint)
        self._params = params
        self._seed = context.seed if params.send_seed else None
        self._answered = False

    def ask(self, build: Build, tools: Sequence[Tool] = ()) -> ModelAnswer:
        """The model's answer. While the request exceeds the model's context, the oldest input is dropped.

        Raises:
            ModelApiFailed: the API gave no answer, or refused the first request.
            AgentFailed: the API refused a later request.
        """
        skipped, messages = 0, build(0) or ()
        while True:
            shorter = build(skipped + 1)
            if shorter is None or not self._is_too_long(messages):
                start = time.monotonic()
                try:
                    reply = self._client.complete(self._request(messages, tools))
                except Invalid as error:
                    if shorter is None or not _LENGTH.search(error.message):
                        raise self._setup_error(error) from error
                else:
                    self._answered = True
                    seconds = time.monotonic() - start - reply.usage.wait_seconds
                    return ModelAnswer(reply, tuple(messages), max(0.0, round(seconds, 3)))
            skipped, messages = skipped + 1, shorter

    def _is_too_long(self, messages: Sequence[Message]) -> bool:
        most = self._params.max_input_tokens
        return most is not None and message_tokens(messages) > most

    def _request(self, messages: Sequence[Message], tools: Sequence[Tool]) -> ModelRequest:
        params = self._params
        return ModelRequest(
            model=params.model,
            messages=tuple(messages),
            tools=tuple(tools),
            temperature=params.temperature,
            top_p=params.top_p,
            max_tokens=params.max_tokens,
            seed=self._seed,
            extra=params.extra,
        )

    def _setup_error(self, error: Invalid) -> AgentFailed | ModelApiFailed:
        """Turns a refusal of the first request into a setup error, which must not count as a score."""
        message = f"the model's API refused the request: {error.message}"
        if self._answered:
            return AgentFailed(message, code="model_context_full")
        return ModelApiFailed(
            message,
            code="model_request_rejected",
            hint="Look at the agent's parameters: model, sampling, extra fields.",
        )
