from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters.vlc.default_video_player import TYPES, DefaultVideoPlayer
from backend.domain.evaluators.getters.vlc.vlc_config import VlcConfig
from backend.domain.evaluators.getters.vlc.vlc_playing_info import VlcPlayingInfo
from backend.domain.ports.desktop import ExecResult
from backend.domain.ports.web import WebReply
from tests.error_codes import raises_code
from tests.factories.desktops import linux
from tests.factories.starter_tasks import FakeContext

NOWHERE = Path("unused")


class TestVlcPlayingInfo:
    def test_request_uses_the_password_that_tasks_set(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[Any] = []
        context = linux()

        def http(*args: Any, **more: Any) -> WebReply:
            asked.append((args, more))
            return _reply(b"<root/>")

        monkeypatch.setattr(context, "http", http)
        VlcPlayingInfo().collect(context, {"dest": "s.xml"})
        ((port, path), more) = asked[0]
        assert (port, path) == (8080, "/requests/status.xml")
        assert b64decode(more["headers"]["Authorization"].removeprefix("Basic ")) == b":password"

    def test_error_page_is_not_taken_for_a_status(self, tmp_path: Path) -> None:
        context = linux()
        context.answers[8080, "/requests/status.xml"] = _reply(b"<html>401</html>", status=401)
        blobs = VlcPlayingInfo().collect(context, {"dest": "s.xml"})
        assert blobs[0].note == "VLC answers with status 401"
        assert VlcPlayingInfo().read(blobs, {"dest": "s.xml"}, tmp_path) is None


class TestVlcConfig:
    def test_linux_configuration_is_returned(self, tmp_path: Path) -> None:
        blobs = VlcConfig().collect(linux({"~/.config/vlc/vlcrc": b"x=1"}), {"dest": "vlcrc"})
        assert Path(VlcConfig().read(blobs, {"dest": "vlcrc"}, tmp_path)).read_bytes() == b"x=1"


class TestDefaultVideoPlayer:
    def of(self, output: str, returncode: int = 0) -> Any:
        context = linux()
        context.desktop.commands["command"] = lambda _: ExecResult(returncode=returncode, output=output)
        return DefaultVideoPlayer().read(DefaultVideoPlayer().collect(context, {}), {}, NOWHERE)

    def test_player_of_most_types_is_returned(self) -> None:
        assert self.of("/usr/bin/xdg-mime\nvlc.desktop\ntotem.desktop\nvlc.desktop\n\n") == "vlc.desktop"

    def test_unset_player_is_unknown(self) -> None:
        assert self.of("/usr/bin/xdg-mime\n\n") == "unknown"

    def test_missing_program_gives_no_verdict(self) -> None:
        with raises_code(EvaluatorFailed, "evidence_unreadable", mentions="xdg-mime"):
            self.of("", returncode=9)

    def test_video_types_have_no_duplicates(self) -> None:
        assert len(TYPES.split()) == len(set(TYPES.split())) == 43


def _reply(body: bytes, status: int = 200) -> WebReply:
    return WebReply(url="", status=status, headers={}, body=body, fetched_at=0.0)


def test_context_without_http_gives_no_playing_info() -> None:
    assert VlcPlayingInfo().collect(FakeContext(linux().desktop), {"dest": "s"})[0].data is None
