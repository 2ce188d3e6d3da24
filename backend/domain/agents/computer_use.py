"""`computer_use`: models with a native computer tool, used as their vendors intend.

One conversation for the whole episode: each tool call gets a result with the newest screen, and signed reasoning is
returned unchanged. The oldest screens and turns are dropped first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import Field

from backend.domain.agents._asking import ModelAnswer
from backend.domain.agents._messages import message, reply_message
from backend.domain.agents._model_agent import ModelAgent
from backend.domain.agents._model_params import ModelParams
from backend.domain.errors import InvalidAction
from backend.domain.model.episode import EndedBy
from backend.domain.model.trajectory import Action, ActionType, Decision, Frame, Observation
from backend.domain.ports.agent import CallOutcome, CallResult, CallResults, CoordinateFrame
from backend.domain.ports.model import Message, MessagePart, ModelReply, ToolCall
from backend.domain.registry import PluginKind, register

_OLD = "(an older screen, left out)"


class ComputerUseParams(ModelParams):
    """Parameters of agents with a native computer tool."""

    endpoint: str = Field(default="anthropic", max_length=100, description="Endpoint that serves it (docs/models.md).")
    max_tokens: int | None = Field(default=4096, ge=16, le=200_000, description="Longest answer, in tokens.")
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="Sampling temperature; null: the API's default."
    )
    images: int = Field(
        default=10, ge=1, le=1000, description="Number of newest screenshots shown; older ones are left out."
    )
    safety_checks: Literal["acknowledge", "stop"] = Field(
        default="acknowledge",
        description="When the vendor asks for consent before a call: give it, or end the episode.",
    )
    history: int | None = Field(
        default=None, ge=0, description="Number of earlier turns shown; null: as many as the model accepts."
    )


@dataclass(frozen=True)
class _Turn:
    """A past step.

    Attributes:
        reply: the model's answer to this step's screen.
        words: text of the user's turn beside the screen.
        failed: the reply could not be carried out.
        sight: what its coordinates refer to.
        results: of its calls by their ids, where the next screen is not all of it.
    """

    picture: Frame | None
    words: str
    reply: ModelReply
    failed: bool
    sight: CoordinateFrame
    results: Mapping[str, CallResult] = field(default_factory=dict)


@register(PluginKind.AGENT, "computer_use")
class ComputerUse(ModelAgent):
    """Executes all calls of a reply in order, as one step."""

    Params = ComputerUseParams
    name = "computer_use"
    observation = "screenshot"
    action_space = "anthropic_computer"
    about = "Models with a computer-use tool of their own, driven as their vendors document it."

    def begin(self) -> None:
        self._turns: list[_Turn] = []
        self._silent = False
        self._sight = CoordinateFrame()

    def act(self, observation: Observation) -> Decision:
        """See the port. The last turn's calls get their results from what is observed now."""
        if self._turns:
            self._turns[-1] = replace(self._turns[-1], results=self._results(self._turns[-1], observation))
        return super().act(observation)

    def _results(self, turn: _Turn, observation: Observation) -> Mapping[str, CallResult]:
        results, remaining = dict[str, CallResult](), observation.results
        for call in () if turn.failed else turn.reply.calls:
            count = len(self._space.parse(turn.reply.model_copy(update={"calls": (call,)}), turn.sight))
            outcome = CallOutcome(results=remaining[:count], frame=observation.frame, sight=turn.sight)
            result, remaining = self._result(call, outcome), remaining[count:]
            if result is not None:
                results[call.id] = result
        return results

    def _result(self, call: ToolCall, outcome: CallOutcome) -> CallResult | None:
        refused = [
            result.get("error") or result.get("skipped") for result in outcome.results if "returncode" not in result
        ]
        if any(refused):
            return CallResult(text=f"Not carried out: {next(filter(None, refused))}", failed=True)
        return self._space.result(call, outcome) if isinstance(self._space, CallResults) else None

    def messages(self, observation: Observation, sight: CoordinateFrame, excluded: int) -> Sequence[Message] | None:
        """The conversation. The oldest turns are dropped first; the task always stays at the beginning."""
        history = self.params.history
        turns = self._turns if history is None else self._turns[len(self._turns) - min(history, len(self._turns)) :]
        if excluded > len(turns):
            return None
        turns = turns[excluded:]
        system = self.prompt("system", actions=self.instructions(sight), platform=sight.platform)
        messages = [message("system", system)]
        last: _Turn | None = None
        for number, turn in enumerate(turns):
            picture = turn.picture if len(turns) - number < self.params.images else None
            messages += [self._user(last, turn.words, picture), reply_message(turn.reply)]
            last = turn
        return [*messages, self._user(last, observation.note, observation.picture)]

    def actions(self, reply: ModelReply, sight: CoordinateFrame) -> tuple[Action, ...]:
        """The actions of the calls, or the final token of the text. A second text without calls means DONE."""
        only_text = not reply.calls and bool(reply.text.strip())
        silent, self._silent = self._silent, only_text
        self._sight = sight
        try:
            return super().actions(reply, sight)
        except InvalidAction:
            if not only_text or not silent:
                raise
            return (Action(type=ActionType.DONE, note="the model stopped using the computer"),)

    def _read(self, answer: ModelAnswer, sight: CoordinateFrame) -> Decision:
        decision, checks = super()._read(answer, sight), answer.reply.safety_checks
        if not checks:
            return decision
        if self.params.safety_checks == "stop":
            return decision.model_copy(
                update={"actions": (), "invalid": "", "stop": EndedBy.SAFETY_CHECK, "safety_checks": checks}
            )
        agreed = tuple(check.model_copy(update={"acknowledged": not decision.invalid}) for check in checks)
        return decision.model_copy(update={"safety_checks": agreed})

    def keep(self, observation: Observation, reply: ModelReply, decision: Decision) -> None:
        failed = bool(decision.invalid)
        self._turns.append(_Turn(observation.picture, observation.note, reply, failed=failed, sight=self._sight))

    def _user(self, answered: _Turn | None, words: str, picture: Frame | None) -> Message:
        """The user's turn: the task with the first screen, or the results of the last calls with the new screen."""
        screen = picture or _OLD
        if answered is None:
            return message("user", self.prompt("task", instruction=self.active_context.instruction), words, screen)
        if not answered.reply.calls:
            return message("user", words, screen)
        parts: list[MessagePart | Frame] = []
        for call in answered.reply.calls:
            own = answered.results.get(call.id)
            text = " ".join(filter(None, (own.text if own else "", words))) or "done"
            parts.append(MessagePart(result=(call.id, text), failed=answered.failed or bool(own and own.failed)))
            if own and own.picture and picture is not None:
                parts.append(own.picture)
        return message("user", *parts, screen)
