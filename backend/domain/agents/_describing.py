"""Describes what has no text for an agent that reads: icons, and pictures that were copied to the clipboard."""

import hashlib
import re
from collections.abc import Mapping, Sequence

from backend.domain.agents._asking import Asker
from backend.domain.agents._messages import message
from backend.domain.agents._model_params import ModelParams
from backend.domain.agents._parts import call_of
from backend.domain.agents._templates import render
from backend.domain.model.model_calls import CallFailure, ModelPart
from backend.domain.model.trajectory import Frame, Mark, ModelCall
from backend.domain.ports.agent import AgentContext
from backend.domain.ports.model import Message
from backend.domain.screen.pictures import enlarge

_SIDE = 128
"""Pixels of a part of the screen that is described, at most."""
_LINE = re.compile(r"^\W{0,3}(\d{1,3})\W{1,4}(\S.{0,300})$", re.MULTILINE)


class Describer:
    """Asks a model what parts of the screen show. Knows what it has described before."""

    def __init__(self, context: AgentContext, params: ModelParams, agent: str) -> None:
        """Args: agent: whose prompt `describe` is used. Raises as Asker does."""
        self._asker = Asker(context, params)
        self._params = params
        self._agent = agent
        self._known: dict[str, str] = {}

    def describe(self, parts: Sequence[Frame]) -> tuple[Mapping[int, str], ModelCall | None]:
        """Descriptions of the parts by position in the sequence, and the call; None if all are known already."""
        keys = [hashlib.sha256(part.data).hexdigest() for part in parts]
        new = {key: part for key, part in zip(keys, parts, strict=True) if key not in self._known}
        call = self._ask(new) if new else None
        return {index: words for index, key in enumerate(keys) if (words := self._known.get(key))}, call

    def _ask(self, parts: Mapping[str, Frame]) -> ModelCall:
        pictures = [content for number, part in enumerate(parts.values(), 1) for content in (f"{number}:", part)]
        request: list[Message] = [message("user", render(self._agent, "describe"), *pictures)]
        answer = self._asker.ask(lambda excluded: None if excluded else request)
        if answer.reply.problem:
            failure: CallFailure | None = CallFailure.INCOMPLETE
        else:
            keys = list(parts)
            lines = {int(number): words.strip() for number, words in _LINE.findall(answer.reply.text)}
            own = {keys[number - 1]: words for number, words in lines.items() if 0 < number <= len(keys)}
            failure = None if own else CallFailure.UNCLEAR
            self._known |= own
        count = len(parts)
        query = f"{count} picture{'' if count == 1 else 's'}"
        return call_of(ModelPart.DESCRIBER, self._params, answer, failure, query=query)


def part_of(frame: Frame, mark: Mark) -> Frame:
    """The part of the screen under a mark. Raises GuestLost for a damaged picture."""
    return enlarge(frame, (mark.x, mark.y, mark.x + mark.width, mark.y + mark.height), _SIDE, _SIDE)
