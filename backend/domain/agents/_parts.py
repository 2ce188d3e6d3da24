"""Calls of the models of agents that ask several."""

from collections.abc import Sequence

from backend.domain.agents._asking import ModelAnswer
from backend.domain.agents._messages import MOST_WORDS
from backend.domain.agents._model_agent import verbatim
from backend.domain.agents._model_params import ModelParams
from backend.domain.model.model_calls import CallFailure, ModelPart
from backend.domain.model.trajectory import Decision, ModelCall, Usage


def call_of(
    part: ModelPart,
    params: ModelParams,
    answer: ModelAnswer,
    failure: CallFailure | None = None,
    *,
    query: str = "",
) -> ModelCall:
    """The record of an answer. `query`: what was asked for; without one, the step's own reply is the answer."""
    return ModelCall(
        part=part,
        endpoint=params.endpoint,
        model=answer.reply.model or params.model,
        query=query,
        reply=verbatim(answer.reply)[:MOST_WORDS] if query else "",
        seconds=answer.seconds,
        usage=answer.reply.usage,
        failure=failure,
    )


def with_calls(decision: Decision, calls: Sequence[ModelCall]) -> Decision:
    """The decision with its calls, and what they used together."""
    usage = sum((call.usage for call in calls), Usage())
    return decision.model_copy(update={"model_calls": tuple(calls), "usage": usage})
