"""Model clients in memory: give scripted answers and record requests."""

from collections.abc import Callable, Sequence

from backend.domain.errors import ModelApiFailed
from backend.domain.model.trajectory import Usage
from backend.domain.ports.model import ModelClient, ModelReply, ModelRequest

COST = Usage(input_tokens=100, output_tokens=10, usd=0.001, calls=1)
Answer = ModelReply | str | Exception


class FakeModels:
    """The Models port with one client for every endpoint.

    Attributes:
        asked: requests, oldest first.
        endpoints: names that were asked for.
    """

    api = "fake"

    def __init__(self, *answers: Answer, always: str | None = None, known: Sequence[str] | None = None) -> None:
        """Args: answers: given one by one; always: given when they are used up; known: endpoints, None = any."""
        self._answers = list(answers)
        self._always = always
        self._known = known
        self.asked: list[ModelRequest] = []
        self.endpoints: list[str] = []

    def client(self, endpoint: str) -> ModelClient:
        self.endpoints.append(endpoint)
        if self._known is not None and endpoint not in self._known:
            raise ModelApiFailed(f"there is no endpoint {endpoint!r} here")
        return self

    def wait_seconds(self) -> float:
        return 0.0

    def close(self) -> None:
        """Nothing to close."""

    def complete(self, request: ModelRequest, *, on_text: Callable[[str], None] | None = None) -> ModelReply:
        self.asked.append(request)
        answer = self._answers.pop(0) if self._answers else self._always
        assert answer is not None, "the model was asked once more than it was told to answer"
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, ModelReply):
            return answer
        return ModelReply(text=answer, model="fake-2026-01-01", usage=COST)
