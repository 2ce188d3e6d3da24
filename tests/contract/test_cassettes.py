"""The client that replays a cassette, and whether an API's answers can be recorded for it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import ModelApiFailed
from backend.domain.ports.model import ModelClient
from tests.error_codes import raises_code
from tests.factories.models import CLICK, KEY, LIVE, asked, cassette, client, close_clients, endpoint
from tests.fakes.model_server import ModelServer, ScriptedReply, model_server


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as found:
        found.key = KEY
        yield found
        close_clients()


@pytest.fixture(params=LIVE)
def api(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class TestRecorded:
    def test_replays_lines_in_order(self, tmp_path: Path) -> None:
        speaker = _recorded(tmp_path, "One.", {"reply": {"text": "Two.", "usage": {"input_tokens": 7}}})
        heard: list[str] = []
        assert speaker.complete(asked("a"), on_text=heard.append).text == "One."
        second = speaker.complete(asked("b"))
        assert (second.text, second.usage.input_tokens, second.model) == ("Two.", 7, "model-1")
        assert heard == ["One."]

    def test_takes_the_line_that_fits_the_words(self, tmp_path: Path) -> None:
        lines = [{"when": "red", "reply": "Red."}, {"when": "blue", "reply": "Blue."}]
        speaker = _recorded(tmp_path, *lines)
        assert [speaker.complete(asked(word)).text for word in ("a blue one", "a red one")] == ["Blue.", "Red."]

    def test_without_a_line_the_attempt_is_lost_and_the_error_says_which_is_missing(self, tmp_path: Path) -> None:
        with raises_code(ModelApiFailed, "no_recorded_reply") as raised:
            _recorded(tmp_path, {"when": "red", "reply": "Red."}).complete(asked("blue"))
        assert '"request": "' in raised.value.hint

    def test_a_broken_line_is_named(self, tmp_path: Path) -> None:
        with raises_code(ModelApiFailed, "cassette_invalid", mentions="line 2"):
            _recorded(tmp_path, "One.", {"answer": "Two."}).complete(asked("a"))

    def test_a_recorded_reply_is_replayed(self, server: ModelServer, api: str, tmp_path: Path) -> None:
        from worker.models.cassette import RecordingClient

        file = tmp_path / "made.jsonl"
        server.answer = lambda one: ScriptedReply(
            "Blue." if "blue" in one.text else "Red.", calls=[("click", {"x": 1})]
        )
        recording = RecordingClient(client(endpoint(api, f"{server.address}/v1")), file)
        replies = [recording.complete(asked(word, tools=(CLICK,))) for word in ("red", "blue")]
        speaker = client(endpoint("recorded", cassette=file))
        again = [speaker.complete(asked(word, tools=(CLICK,))) for word in ("blue", "red")]
        assert again == replies[::-1]
        assert KEY not in file.read_text()


def _recorded(folder: Path, *lines: Any) -> ModelClient:
    return client(endpoint("recorded", cassette=cassette(folder, *lines)))
