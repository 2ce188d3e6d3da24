"""`human`: a person acts through the episode's page; each message of the page is one step (docs/human.md)."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from backend.domain.errors import AgentFailed, Invalid
from backend.domain.model.episode import EndedBy
from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Decision, Observation
from backend.domain.people.remote_input import in_words, read_hand
from backend.domain.ports.agent import AgentContext
from backend.domain.registry import PluginKind, register

LOOK_SECONDS = 2.0
AT_ONCE = 0.01
"""Seconds in which a message that is already waiting is read."""
_NOT_SENT = {
    "frame": None,
    "agent_view": None,
    "previous": None,
    "a11y_tree": None,
    "clipboard": None,
    "terminal": None,
}


class HumanParams(Parameters):
    """Parameters of the `human` agent: who acts."""

    person: str = Field(
        default="",
        max_length=100,
        description="A name or number for the person; the board has a row for each person.",
    )
    look_again: bool = Field(
        default=False,
        description=(
            "Takes another screenshot before each action, as a step without an action, so that the record "
            "holds what the person saw. Recordings of own tasks need this."
        ),
    )


@register(PluginKind.AGENT, "human")
class Human:
    """Performs what a person does on the page, one action per step; Done or Infeasible ends the episode."""

    Params = HumanParams
    observation = "screenshot"
    action_space = "computer_13"
    about = (
        "A person acts through the page, with mouse and keyboard on the live screen, by the protocol for human studies."
    )
    privileged = False
    human = True

    def __init__(self, params: Any) -> None:
        self.params = params
        self._context: AgentContext | None = None
        self._pending: Mapping[str, Any] | None = None

    def reset(self, context: AgentContext) -> None:
        """Raises AgentFailed if there is no channel to a page."""
        if context.line is None:
            raise AgentFailed(
                "this worker has no channel to a person's page",
                code="no_agent_channel",
                hint="Set REDIS_URL: it needs a broker.",
            )
        self._context = context

    def act(self, observation: Observation) -> Decision:
        """Waits for the person until the agent's time limit. See the port.

        Raises:
            ClusterLost: the channel is gone.
        """
        context = self._context
        if context is None or context.line is None:
            raise RuntimeError("act() before reset()")
        # The page shows the live picture; the channel only announces the step.
        context.line.show(observation.model_copy(update=_NOT_SENT), {"max_steps": context.max_steps})
        if self._pending is not None:
            pending, self._pending = self._pending, None
            return self._read(pending, context)
        before, remaining, waited = context.line.wait_seconds(), context.max_seconds, False
        while (more := remaining + context.line.wait_seconds() - before) > 0:
            message = context.line.take(min(LOOK_SECONDS, more) if waited else AT_ONCE)
            if message is not None:
                return self._late_message(message, context, waited=waited)
            remaining -= LOOK_SECONDS if waited else 0.0
            waited = True
        return Decision(stop=EndedBy.TIME, explanation="Nobody acted any more.")

    def close(self) -> None:
        """Nothing to release: the channel belongs to the worker."""

    def _late_message(self, message: Mapping[str, Any], context: AgentContext, *, waited: bool) -> Decision:
        """Discards a message that arrived while waiting: it refers to a newer screen than this observation."""
        if waited and self.params.look_again:
            self._pending = message
            return Decision()
        return self._read(message, context)

    @staticmethod
    def _read(message: Mapping[str, Any], context: AgentContext) -> Decision:
        try:
            actions = read_hand(message.get("actions"), context.screen, may_end=True)
        except Invalid as error:
            return Decision(explanation="Nothing that could be done.", invalid=error.message)
        return Decision(actions=actions, explanation=in_words(actions))
