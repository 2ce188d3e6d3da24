"""Shared parts of external agents: what they receive with an observation, and how their messages are read.

`worker/agents/redis_channel.py` documents the message format. Messages are untrusted and validated here again,
independently of earlier checks.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from backend.domain import registry
from backend.domain.errors import AgentFailed, Invalid
from backend.domain.model.episode import EndedBy
from backend.domain.model.trajectory import GUEST_CALLS, Action, ActionType, Decision, Observation
from backend.domain.model.validation_words import problem_words
from backend.domain.ports.agent import ActionSpace, AgentChannel, AgentContext, CoordinateFrame
from backend.domain.registry import PluginKind

LOOK_SECONDS = 2.0
LATER_SECONDS = 5.0
"""Grace after the episode's time limit, at which the loop normally ends the episode. Then the agent gives up."""
MOST_WORDS = 4_000
MOST_REPLY = 2**20
MOST_ACTIONS = 64
STOPS = frozenset({EndedBy.DONE, EndedBy.INFEASIBLE, EndedBy.STEPS})
_NO_CODE = frozenset({"computer_13"})
"""Action spaces whose agents use mouse and keyboard only: no code, scripts or files, not even by a typed action."""
_CODE = frozenset({ActionType.PYTHON}) | GUEST_CALLS


class OutsideAgent:
    """One attempt's conversation with an external agent."""

    def __init__(self, context: AgentContext) -> None:
        """Resolves the run's action space. Raises AgentFailed if there is no channel to the agent."""
        if context.line is None:
            raise AgentFailed(
                "this worker has no channel to agents outside",
                code="no_agent_channel",
                hint="Set REDIS_URL: it needs a broker.",
            )
        self.line: AgentChannel = context.line
        self._context = context
        plugin = registry.lookup(PluginKind.ACTION_SPACE, context.action_space)
        self._space: ActionSpace = plugin(plugin.Params.model_validate(dict(context.action_params or {})))

    def offer(self, observation: Observation) -> None:
        """Makes an observation available to the agent's next request."""
        context = self._context
        details = {
            "instruction": context.instruction,
            "max_steps": context.max_steps,
            "max_seconds": context.max_seconds,
            "screen": context.screen.model_dump(),
            "platform": context.platform,
            "action_space": context.action_space,
            "observation": context.observation,
            "seed": context.seed,
        }
        self.line.show(observation, details)

    def answer(self, observation: Observation) -> Decision:
        """Waits for the answer to this observation until the agent's time limit.

        Raises:
            AgentFailed: no answer came. The loop normally ends the episode by its time limit before that.
            ClusterLost: the channel is gone.
        """
        before, remaining = self.line.wait_seconds(), self._context.max_seconds + LATER_SECONDS
        while (more := remaining + self.line.wait_seconds() - before) > 0:
            message = self.line.take(min(LOOK_SECONDS, more))
            if message is None:
                remaining -= LOOK_SECONDS
            elif message.get("index") == observation.index:
                return self.read(message, observation)
        raise AgentFailed("no answer in time", code="agent_timeout")

    def read(self, message: Mapping[str, Any], observation: Observation) -> Decision:
        """The decision in a message; `invalid` says why a message cannot be understood."""
        reply, explanation = _text(message.get("reply"), MOST_REPLY), _text(message.get("explanation"), MOST_WORDS)
        try:
            return Decision(
                actions=self._actions(message, observation), explanation=explanation, reply=reply, stop=_stop(message)
            )
        except Invalid as error:
            return Decision(explanation=explanation, reply=reply, invalid=error.message)

    def _actions(self, message: Mapping[str, Any], observation: Observation) -> tuple[Action, ...]:
        typed = message.get("actions")
        if typed is None:
            return self._parse(message, observation)
        if not isinstance(typed, list) or len(typed) > MOST_ACTIONS:
            raise Invalid(f"expected a list of at most {MOST_ACTIONS} actions", code="invalid_answer", path="actions")
        try:
            actions = tuple(Action.model_validate(action) for action in typed)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise Invalid(
                problem_words(first), code="invalid_answer", path=".".join(["actions", *map(str, first["loc"])])
            ) from error
        code = next((action.type for action in actions if action.type in _CODE), None)
        if code and self._context.action_space in _NO_CODE:
            raise Invalid(
                f"{self._context.action_space} has no code, scripts or files, so {code} is not available",
                code="invalid_answer",
                path="actions",
            )
        return actions

    def _parse(self, message: Mapping[str, Any], observation: Observation) -> tuple[Action, ...]:
        reply = message.get("reply")
        if reply is None and message.get("stop"):
            return ()
        if not isinstance(reply, str) or len(reply) > MOST_REPLY:
            raise Invalid("expected `actions`, or `reply` as a text", code="invalid_answer", path="reply")
        context = self._context
        sight = CoordinateFrame(
            screen=context.screen, view=observation.view, marks=observation.marks or (), platform=context.platform
        )
        return self._space.parse(reply, sight)


def _text(value: Any, most: int) -> str:
    return value[:most] if isinstance(value, str) else ""


def _stop(message: Mapping[str, Any]) -> EndedBy | None:
    """The agent's final decision, if the message has one. Raises Invalid for a decision that it may not make."""
    value = message.get("stop")
    if value is None:
        return None
    if value not in STOPS:
        raise Invalid(f"expected one of {', '.join(sorted(STOPS))}", code="invalid_answer", path="stop")
    return EndedBy(value)


class ChannelAgent:
    """Agent that runs elsewhere: offers each observation over the channel and waits for the answer."""

    observation = "screenshot"
    action_space = "computer_13"
    privileged = False

    def __init__(self, params: Any) -> None:
        self.params = params
        self._outside: OutsideAgent | None = None

    def reset(self, context: AgentContext) -> None:
        """Takes the channel. Raises AgentFailed if this worker has none."""
        self._outside = OutsideAgent(context)

    def act(self, observation: Observation) -> Decision:
        """See the port. Raises AgentFailed when the agent ends without an answer."""
        if self._outside is None:
            raise RuntimeError("act() before reset()")
        self._outside.offer(observation)
        return self._outside.answer(observation)

    def close(self) -> None:
        """Nothing to release: the channel belongs to the attempt."""
