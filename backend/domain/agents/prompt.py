"""`prompt`: OSWorld's baseline agent: a system message, the last N steps as chat turns, the current screen.

Its four input settings are four observation spaces; the model sees what the observation contains. Source: OSWorld,
arXiv 2404.07972, and its `mm_agents/agent.py`; the prompts are ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from backend.domain.agents._messages import message, reply_message
from backend.domain.agents._model_agent import ModelAgent
from backend.domain.agents._model_params import ModelParams
from backend.domain.agents._seen import marks_table, tree_text
from backend.domain.model.trajectory import Decision, Frame, Observation
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.ports.model import Message, ModelReply
from backend.domain.registry import PluginKind, register


class PromptParams(ModelParams):
    """Parameters of `prompt`; the defaults are OSWorld's."""

    top_p: float | None = Field(
        default=0.9, gt=0, le=1, description="Nucleus sampling (top-p); null: the API's default."
    )
    history: int = Field(
        default=3, ge=0, le=1000, description="Number of earlier steps shown again, as turns of the chat."
    )
    images: int | None = Field(
        default=None, ge=1, description="Maximum pictures, the newest included; null: one of every step shown."
    )
    tree_tokens: int = Field(
        default=10_000,
        ge=100,
        description="Length at which the linearised accessibility tree is cut, in estimated tokens.",
    )
    tree_form: Literal["suites", "paper"] = Field(
        default="suites",
        description="Columns of the linearised tree: as in OSWorld's code, or as in its paper, which has two fewer.",
    )
    user_password: str = Field(
        default="", max_length=100, description="Password of the desktop's user, told to the model where tasks need it."
    )


@dataclass(frozen=True)
class _Turn:
    """A past step: what the model was shown and its answer."""

    text: str
    picture: Frame | None
    reply: ModelReply


@register(PluginKind.AGENT, "prompt")
class Prompt(ModelAgent):
    """Shows the screen and asks for the next action."""

    Params = PromptParams
    name = "prompt"
    observation = "screenshot"
    action_space = "pyautogui"
    about = (
        "OSWorld's baseline: shows a model the screenshot, the accessibility tree or both, and asks for "
        "the next action."
    )

    def begin(self) -> None:
        self._turns: list[_Turn] = []

    def messages(self, observation: Observation, sight: CoordinateFrame, excluded: int) -> Sequence[Message] | None:
        """The request: system message, past turns, current step. The oldest turn is dropped first."""
        turns = self._turns[-self.params.history :] if self.params.history else []
        if excluded > len(turns):
            return None
        turns = turns[excluded:]
        first = len(turns) + 1 - (self.params.images or len(turns) + 1)
        messages = [message("system", self._system(observation, sight))]
        for number, turn in enumerate(turns):
            picture = turn.picture if number >= first else None
            messages += [message("user", turn.text, picture), reply_message(turn.reply, empty="No action.")]
        return [*messages, message("user", self._text(observation, sight, now=True), observation.picture)]

    def keep(self, observation: Observation, reply: ModelReply, decision: Decision) -> None:  # noqa: ARG002 - the model is shown its words, whatever came of them.
        context = self.active_context
        sight = CoordinateFrame(screen=context.screen, view=observation.view, platform=context.platform)
        self._turns.append(_Turn(self._text(observation, sight, now=False), observation.picture, reply))
        if len(self._turns) > self.params.history:
            self._turns.pop(0)

    def _system(self, observation: Observation, sight: CoordinateFrame) -> str:
        context = self.active_context
        return self.prompt(
            "system",
            instruction=context.instruction,
            platform=sight.platform,
            picture=observation.picture is not None,
            tree=observation.a11y_tree is not None and observation.marks is None,
            marks=observation.marks is not None,
            actions=self.instructions(sight),
            password=self.params.user_password,
        )

    def _text(self, observation: Observation, sight: CoordinateFrame, *, now: bool) -> str:
        """The text of one step. Marks are listed for the current step only, as upstream does it."""
        marks = observation.marks
        tree = observation.a11y_tree if marks is None else None
        return self.prompt(
            "step",
            note=observation.note,
            picture=observation.picture is not None,
            marked=marks is not None,
            marks=marks_table(marks, self.params.tree_tokens) if marks is not None and now else "",
            tree=tree_text(tree, sight, self.params.tree_tokens, self.params.tree_form) if tree is not None else "",
            terminal=observation.terminal or "",
        )
