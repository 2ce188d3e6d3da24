"""`gui_model`: native GUI models, asked in the form in which they were trained: UI-TARS, OS-Atlas, Qwen-VL and others.

One conversation for the whole episode: the task, then screens and the model's replies in turns. The format is an option
of the action space; the prompts are ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from backend.domain.agents._messages import message, reply_message
from backend.domain.agents._model_agent import ModelAgent
from backend.domain.agents._model_params import ModelParams
from backend.domain.model.trajectory import Decision, Frame, Observation
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.ports.model import Message, ModelReply
from backend.domain.registry import PluginKind, register

_OLD = "(an older screen, left out)"


class GuiModelParams(ModelParams):
    """Parameters of native GUI models."""

    temperature: float | None = Field(
        default=0.0, ge=0, le=2, description="Sampling temperature; null: the API's default."
    )
    images: int = Field(
        default=5,
        ge=1,
        le=1000,
        description="Number of newest screenshots shown; 1 for models trained on a single picture.",
    )
    history: int | None = Field(
        default=None, ge=0, description="Number of earlier turns shown; null: as many as the model accepts."
    )


@dataclass(frozen=True)
class _Turn:
    """A past step: the words beside its screen, the screen, the answer."""

    words: str
    picture: Frame | None
    reply: ModelReply


@register(PluginKind.AGENT, "gui_model")
class GuiModel(ModelAgent):
    """Shows the screen and asks for the next action in the model's own format."""

    Params = GuiModelParams
    name = "gui_model"
    observation = "screenshot"
    action_space = "gui_model"
    about = "Native GUI models in their own format: UI-TARS, OS-Atlas, Aguvis, ShowUI, UGround, Qwen-VL."

    def begin(self) -> None:
        self._turns: list[_Turn] = []

    def messages(self, observation: Observation, sight: CoordinateFrame, excluded: int) -> Sequence[Message] | None:
        """The conversation. The oldest turns are dropped first; the task always stays at the beginning."""
        history = self.params.history
        turns = self._turns if history is None else self._turns[len(self._turns) - min(history, len(self._turns)) :]
        if excluded > len(turns):
            return None
        turns = turns[excluded:]
        system = self.prompt("system", actions=self.instructions(sight), platform=sight.platform)
        text = self.prompt("task", instruction=self.active_context.instruction)
        messages = [message("system", system)]
        for number, turn in enumerate(turns):
            picture = turn.picture if len(turns) - number < self.params.images else None
            messages += [message("user", text, turn.words, picture or _OLD), reply_message(turn.reply)]
            text = ""
        return [*messages, message("user", text, observation.note, observation.picture)]

    def keep(self, observation: Observation, reply: ModelReply, decision: Decision) -> None:  # noqa: ARG002 - the model is shown its words, whatever came of them.
        self._turns.append(_Turn(observation.note, observation.picture, reply))
