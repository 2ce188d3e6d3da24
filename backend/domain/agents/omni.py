"""`omni`: OmniBench's agent: one JSON object per step with its perception, its thought and one call on one control.

Source of its rules: OmniBench (protocols §5); the prompts are ours. The run's image view makes the pictures: the
previous screen with the last click boxed beside the current one, or the current one alone.
"""

import json
from collections.abc import Sequence

from pydantic import Field

from backend.domain.agents._messages import message
from backend.domain.agents._model_agent import ModelAgent
from backend.domain.agents._model_params import ModelParams
from backend.domain.agents._seen import controls_table, titles
from backend.domain.model.trajectory import Decision, Observation
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.ports.model import Message, ModelReply
from backend.domain.registry import PluginKind, register

MOST_DONE = 2_000
"""Maximum characters of an earlier step."""


class OmniParams(ModelParams):
    """Parameters of the `omni` agent."""

    history: int = Field(default=10, ge=0, le=1000, description="Number of earlier steps listed, the oldest first.")
    control_tokens: int = Field(
        default=10_000, ge=100, description="Length at which the list of controls is cut, in estimated tokens."
    )


@register(PluginKind.AGENT, "omni")
class OmniAgent(ModelAgent):
    """Sends one request per step; earlier steps appear as a list of thoughts and actions."""

    Params = OmniParams
    name = "omni"
    observation = "set_of_marks"
    action_space = "omni"
    about = (
        "OmniBench's agent: replies with one JSON object that holds a status, a thought and one "
        "function call on a control."
    )

    def begin(self) -> None:
        self._done: list[str] = []

    def messages(self, observation: Observation, sight: CoordinateFrame, excluded: int) -> Sequence[Message] | None:
        """The request. The oldest actions are dropped first."""
        entries = self._done[-self.params.history :] if self.params.history else []
        if excluded > len(entries):
            return None
        front, _ = titles(observation.windows or ())
        question = self.prompt(
            "step",
            instruction=self.active_context.instruction,
            note=observation.note,
            front=front,
            done=entries[excluded:],
            beside=observation.view is not None and observation.view.left > 0 and observation.index > 0,
            controls=controls_table(observation.marks, observation.a11y_tree, self.params.control_tokens)
            if observation.marks
            else "",
        )
        system = self.prompt("system", actions=self.instructions(sight), platform=sight.platform)
        return [message("system", system), message("user", question, observation.picture)]

    def keep(self, observation: Observation, reply: ModelReply, decision: Decision) -> None:  # noqa: ARG002
        """Stores thought and action in one line."""
        done = [action.model_dump(mode="json", exclude_defaults=True) for action in decision.actions]
        message = f"{decision.explanation[:MOST_DONE]} -> {json.dumps(done, ensure_ascii=False)[:MOST_DONE]}"
        self._done.append(f"not carried out: {decision.invalid}" if decision.invalid else " ".join(message.split()))
