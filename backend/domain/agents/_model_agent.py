"""Base of all agents that ask a model at every step."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain import registry
from backend.domain.agents._asking import Asker, ModelAnswer
from backend.domain.agents._messages import MOST_REASONING, prompt_text, words_of
from backend.domain.agents._model_params import ModelParams
from backend.domain.agents._templates import prompt_hashes, prompt_texts, render
from backend.domain.errors import AgentFailed, Invalid
from backend.domain.model.trajectory import Action, Decision, Observation
from backend.domain.ports.agent import ActionSpace, AgentContext, CoordinateFrame
from backend.domain.ports.model import Message, ModelReply
from backend.domain.registry import PluginKind


class ModelAgent(ABC):
    """Asks a model for each decision; subclasses build the request.

    Attributes:
        name: its registered name and the folder of its prompts.
        context: the episode's context; None before `reset`.
    """

    Params: type[ModelParams] = ModelParams
    name: str
    action_space: str
    privileged = False

    def __init__(self, params: Any) -> None:
        self.params: Any = self.Params.model_validate(dict(params))
        self.context: AgentContext | None = None

    @classmethod
    def prompts(cls) -> Mapping[str, str]:
        """Hashes of its prompts by name; a run records them."""
        return prompt_hashes(cls.name)

    @classmethod
    def prompt_texts(cls) -> Mapping[str, str]:
        """Its prompts by name, as this release has them."""
        return prompt_texts(cls.name)

    def reset(self, context: AgentContext) -> None:
        """Finds the model and the action space. Raises ModelApiFailed if the endpoint cannot be used."""
        self.context = context
        self._asker = Asker(context, self.params)
        self._space = action_space_of(context, self.action_space)
        self.begin()

    def act(self, observation: Observation) -> Decision:
        context = self.active_context
        sight = CoordinateFrame(
            screen=context.screen,
            view=observation.view,
            marks=observation.marks or (),
            platform=context.platform,
        )
        answer = self._asker.ask(lambda excluded: self.messages(observation, sight, excluded), self._space.tools(sight))
        decision = self._read(answer, sight)
        self.keep(observation, answer.reply, decision)
        return decision

    def follow(self, observation: Observation, decision: Decision) -> None:
        """Takes a recorded step as its own, without asking the model: its history when it is asked later."""
        self.keep(observation, ModelReply(text=decision.reply), decision)

    def close(self) -> None:  # noqa: B027 - most have nothing to do.
        """Does nothing: model clients belong to the attempt."""

    @property
    def active_context(self) -> AgentContext:
        """The context. Raises AgentFailed before reset."""
        if self.context is None:
            raise AgentFailed("the agent was asked before its episode started", code="agent_not_started")
        return self.context

    def begin(self) -> None:  # noqa: B027 - same.
        """Clears the state of the previous episode."""

    @abstractmethod
    def messages(self, observation: Observation, sight: CoordinateFrame, excluded: int) -> Sequence[Message] | None:
        """The request with `n` of the oldest inputs left out; None when nothing more can be left out."""

    def actions(self, reply: ModelReply, sight: CoordinateFrame) -> tuple[Action, ...]:
        """The actions of a reply. Raises Invalid."""
        return self._space.parse(reply, sight)

    def keep(self, observation: Observation, reply: ModelReply, decision: Decision) -> None:  # noqa: B027 - same.
        """Stores a step for later requests."""

    def instructions(self, sight: CoordinateFrame) -> str:
        """The description of the action format."""
        return self._space.instructions(sight)

    def prompt(self, part: str, **data: Any) -> str:
        """Renders one of its prompts."""
        return render(self.name, part, **data)

    def _read(self, answer: ModelAnswer, sight: CoordinateFrame) -> Decision:
        reply = answer.reply
        fields: dict[str, Any] = {
            "explanation": words_of(reply),
            "reply": verbatim(reply),
            "reasoning": reply.thinking[:MOST_REASONING],
            "usage": reply.usage,
            "prompt": prompt_text(answer.messages),
            "model": reply.model,
            "dropped": reply.dropped,
        }
        if reply.problem:
            return Decision(invalid=reply.problem, **fields)
        try:
            return Decision(actions=self.actions(reply, sight), **fields)
        except Invalid as error:
            return Decision(invalid=f"{error} {error.hint}".strip()[:2000], **fields)


def action_space_of(context: AgentContext, default: str) -> ActionSpace:
    """The run's action space with its options. Raises UnknownPlugin."""
    space_class: type[ActionSpace] = registry.lookup(PluginKind.ACTION_SPACE, context.action_space or default)
    return space_class(space_class.Params.model_validate(dict(context.action_params or {})))


def verbatim(reply: ModelReply) -> str:
    """A reply as stored: its text, then its calls as JSON, one per line."""
    calls = [json.dumps({"call": call.name, **call.arguments}, ensure_ascii=False, default=str) for call in reply.calls]
    return "\n".join(part for part in (reply.text, *calls) if part)
