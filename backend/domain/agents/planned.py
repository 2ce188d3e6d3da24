"""`planned`: two models for one step: the planner describes what to do, the grounder finds where that is on the screen.

Each call is recorded with its half, cost, latency and failure, so that errors of grounding are told from those of
planning. The split is that of SeeAct-V (UGround, arXiv 2410.05243) and Agent S2 (arXiv 2504.00906); the prompts are
ours.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from backend.domain import registry
from backend.domain.agents._asking import Asker, ModelAnswer
from backend.domain.agents._messages import message
from backend.domain.agents._model_agent import ModelAgent
from backend.domain.agents._model_params import ModelParams
from backend.domain.agents._parts import call_of, with_calls
from backend.domain.errors import AgentFailed, InvalidAction
from backend.domain.model.gui_formats import GuiFormat
from backend.domain.model.model_calls import CallFailure, ModelPart
from backend.domain.model.trajectory import Action, Decision, Frame, Mark, ModelCall, Observation
from backend.domain.ports.agent import AgentContext, CoordinateFrame, ElementNames, PlaceAnswers
from backend.domain.ports.model import Message, ModelReply
from backend.domain.registry import PluginKind, register

_MOST_DONE = 2_000
"""Maximum characters of an earlier step."""
_WORDS: Mapping[CallFailure, str] = {
    CallFailure.INCOMPLETE: "The model that finds elements gave no complete answer for",
    CallFailure.NO_POINT: "The model that finds elements found no place for",
    CallFailure.OFF_SCREEN: "The model that finds elements gave a place outside the screen for",
}


class PlannedParams(ModelParams):
    """Parameters of `planned`: those of the planner, and `grounder_...`."""

    models: ClassVar[Mapping[str, str]] = {"model": "endpoint", "grounder_model": "grounder_endpoint"}

    history: int = Field(default=10, ge=0, le=1000, description="Number of earlier steps listed, the oldest first.")
    grounder_model: str = Field(
        default="", max_length=200, description="Name, at its API, of the model that locates elements. Required."
    )
    grounder_endpoint: str = Field(
        default="openai", max_length=100, description="Endpoint that serves it (docs/models.md)."
    )
    grounder_format: GuiFormat = Field(default="uground", description="Format in which it writes a position.")
    grounder_coordinates: Literal["model", "unit", "thousand", "resized"] = Field(
        default="model", description="Range of its coordinates, as in the action space gui_model."
    )
    grounder_max_pixels: int = Field(
        default=16384 * 28 * 28, ge=28 * 28, description="Maximum pixels of a picture, as its server resizes it."
    )
    grounder_temperature: float | None = Field(
        default=0.0, ge=0, le=2, description="Its sampling temperature; null: the API's default."
    )
    grounder_max_tokens: int | None = Field(
        default=512, ge=16, le=200_000, description="Its longest answer, in tokens."
    )
    grounder_extra: dict[str, Any] = Field(
        default_factory=dict, description="Additional request fields of its API, as JSON."
    )

    @property
    def grounder(self) -> ModelParams:
        """The grounder's parameters."""
        return ModelParams(
            model=self.grounder_model,
            endpoint=self.grounder_endpoint,
            temperature=self.grounder_temperature,
            max_tokens=self.grounder_max_tokens,
            extra=self.grounder_extra,
        )


class _GroundingError(InvalidAction):
    """An element was not found."""


@register(PluginKind.AGENT, "planned")
class Planned(ModelAgent):
    """Asks the planner once per step, and the grounder once per element of its reply."""

    Params = PlannedParams
    name = "planned"
    observation = "screenshot"
    action_space = "computer_13_words"
    about = "A planner describes elements and a grounder locates them; failures and costs are told apart."

    def reset(self, context: AgentContext) -> None:
        """See the port. Raises AgentFailed if actions of the action space have coordinates."""
        super().reset(context)
        if not isinstance(self._space, ElementNames):
            raise AgentFailed(
                "the planner cannot use this action space",
                code="action_space_not_usable",
                hint="Choose one that describes elements: computer_13_words.",
            )
        self._grounder = Asker(context, self.params.grounder)
        space = registry.lookup(PluginKind.ACTION_SPACE, "gui_model")
        options = ("format", "coordinates", "max_pixels")
        self._places = space(
            space.Params.model_validate({name: getattr(self.params, f"grounder_{name}") for name in options})
        )

    def begin(self) -> None:
        self._done: list[str] = []
        self._calls: list[ModelCall] = []
        self._picture: Frame | None = None

    def messages(self, observation: Observation, sight: CoordinateFrame, excluded: int) -> Sequence[Message] | None:
        """The planner's request. The oldest actions are dropped first."""
        entries = self._done[-self.params.history :] if self.params.history else []
        if excluded > len(entries):
            return None
        self._picture = observation.picture
        question = self.prompt(
            "step", instruction=self.active_context.instruction, note=observation.note, done=entries[excluded:]
        )
        system = self.prompt("system", actions=self.instructions(sight), platform=sight.platform)
        return [message("system", system), message("user", question, observation.picture)]

    def actions(self, reply: ModelReply, sight: CoordinateFrame) -> tuple[Action, ...]:
        """The actions, with their elements found. The reply is checked as a whole before the grounder is asked."""
        assert isinstance(self._space, ElementNames)  # noqa: S101 - since `reset`.
        elements = self._space.elements(reply)
        self._space.parse(reply, _frame_with_marks(sight, elements, [(0, 0)] * len(elements)))
        points = [self._point(element, sight) for element in elements]
        return self._space.parse(reply, _frame_with_marks(sight, elements, points))

    def keep(self, observation: Observation, reply: ModelReply, decision: Decision) -> None:  # noqa: ARG002
        """Stores the planner's words in one line, and what came of them."""
        words = " ".join(reply.text.split())[:_MOST_DONE]
        self._done.append(f"{words} -> {f'not carried out: {decision.invalid}' if decision.invalid else 'carried out'}")

    def _read(self, answer: ModelAnswer, sight: CoordinateFrame) -> Decision:
        self._calls = []
        decision = super()._read(answer, sight)
        failure = CallFailure.INCOMPLETE if answer.reply.problem else CallFailure.UNCLEAR
        is_planners = decision.invalid and not any(call.failure for call in self._calls)
        planner = call_of(ModelPart.PLANNER, self.params, answer, failure if is_planners else None)
        return with_calls(decision, (planner, *self._calls))

    def _point(self, element: str, sight: CoordinateFrame) -> tuple[int, int]:
        """The screen's pixel of an element. Raises _GroundingError."""
        answer = self._grounder.ask(lambda excluded: None if excluded else self._question(element, sight))
        point, failure, reason = self._parse_point(answer.reply, sight)
        self._calls.append(call_of(ModelPart.GROUNDER, self.params.grounder, answer, failure, query=element))
        if failure:
            raise _GroundingError(
                f"{_WORDS[failure]} {element[:200]!r}: {reason}",
                code="unknown_element",
                hint="Describe it in other words, or choose another way.",
            )
        return point

    def _question(self, element: str, sight: CoordinateFrame) -> list[Message]:
        if self._picture is None:
            raise AgentFailed("the grounder needs a picture", code="no_picture", hint="Choose a space with a screen.")
        form = self._places.place_instructions(sight) if isinstance(self._places, PlaceAnswers) else ""
        return [message("user", self._picture, self.prompt("grounder", element=element, form=form))]

    def _parse_point(
        self, reply: ModelReply, sight: CoordinateFrame
    ) -> tuple[tuple[int, int], CallFailure | None, str]:
        """The point of the grounder's reply, its failure, and why it failed."""
        if reply.problem:
            return (0, 0), CallFailure.INCOMPLETE, reply.problem
        try:
            actions: Sequence[Action] = self._places.parse(reply, sight)
        except InvalidAction as error:
            is_off = error.code == "point_out_of_range"
            return (0, 0), CallFailure.OFF_SCREEN if is_off else CallFailure.NO_POINT, error.message
        for action in actions:
            if action.x is not None and action.y is not None:
                is_on = 0 <= action.x < sight.screen.width and 0 <= action.y < sight.screen.height
                where = f"({action.x}, {action.y})"
                return (action.x, action.y), None if is_on else CallFailure.OFF_SCREEN, where
        return (0, 0), CallFailure.NO_POINT, "its answer has no point"


def _frame_with_marks(
    sight: CoordinateFrame, elements: Sequence[str], points: Sequence[tuple[int, int]]
) -> CoordinateFrame:
    """The coordinate frame with a mark of one pixel for each element."""
    marks = tuple(
        Mark(id=number, kind="control", name=element, x=x, y=y, width=1, height=1, origin="detector")
        for number, (element, (x, y)) in enumerate(zip(elements, points, strict=True), 1)
    )
    return sight.model_copy(update={"marks": marks})
