from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.vlc.is_vlc_playing import is_vlc_playing
from tests.factories.metric_cases.vlc import status

SONG = "Rick Astley - Never Gonna Give You Up (Official Music Video).mp4"
STREAM = "https://devstreaming.example.com/videos/img_bipbop/master.m3u8"
FILE_RULE = {"type": "file_name", "file_name": SONG}
URL_RULE = {"type": "url", "url": STREAM}


def write(folder: Path, text: str) -> str:
    (folder / "status.xml").write_text(text)
    return str(folder / "status.xml")


class TestIsVlcPlaying:
    @pytest.mark.parametrize(
        ("info", "value", "strict"),
        [
            ({"filename": SONG}, 1.0, 1.0),
            ({"filename": f"other {SONG}"}, 0.0, 1.0),
            ({"title": "Rick", "uri": f"file:///home/user/Desktop/{SONG.replace(' ', '%20')}"}, 1.0, 0.0),
            ({"location": f"C:\\Users\\Docker\\{SONG}"}, 1.0, 1.0),
            ({"filename": "other.mp4"}, 0.0, 0.0),
            ({"filename": "other.mp4", "title": SONG}, 0.0, 0.0),
            ({"title": SONG, "uri": "file:///home/user/other.mp4"}, 0.0, 1.0),
            ({"title": SONG}, 1.0, 1.0),
            ({"filename": SONG, "location": "/home/user/other.mp4"}, 0.0, 1.0),
            ({"filename": SONG, "name": "x.mp4"}, 0.0, 1.0),
            ({"location": f"https://elsewhere.example.com/{SONG}"}, 0.0, 1.0),
            ({}, 0.0, 0.0),
        ],
    )
    def test_playing_file_is_matched_by_its_whole_name(
        self, tmp_path: Path, info: dict[str, Any], value: float, strict: float
    ) -> None:
        path = write(tmp_path, status("playing", **info))
        assert is_vlc_playing(path, FILE_RULE).value == value
        assert is_vlc_playing(path, FILE_RULE, strict_upstream=True).value == strict

    @pytest.mark.parametrize(
        ("info", "value", "strict"),
        [
            ({"url": STREAM}, 1.0, 1.0),
            ({"filename": "master.m3u8"}, 1.0, 1.0),
            ({"title": "Bip bop", "filename": "master.m3u8"}, 1.0, 0.0),
            ({"url": f"{STREAM}?token=5"}, 1.0, 1.0),
            ({"url": "https://elsewhere.example.com/videos/img_bipbop/master.m3u8"}, 0.0, 0.0),
            ({"filename": "other.m3u8"}, 0.0, 0.0),
            ({"url": STREAM, "location": "https://elsewhere.example.com/master.m3u8"}, 0.0, 1.0),
            ({"title": "master.m3u8", "url": "https://elsewhere.example.com/master.m3u8"}, 0.0, 0.0),
            ({"filename": "master.m3u8", "location": "https://elsewhere.example.com/videos/master.m3u8"}, 0.0, 0.0),
            ({"title": STREAM, "filename": "other.m3u8"}, 0.0, 1.0),
            ({"url": f"https://elsewhere.example.com/?to={STREAM}"}, 0.0, 1.0),
            ({"url": f"{STREAM}.bak"}, 0.0, 1.0),
            ({"title": STREAM}, 1.0, 1.0),
            ({"title": "Bip bop", "location": STREAM, "filename": "Bip bop"}, 1.0, 1.0),
            ({"url": STREAM.replace("https", "http")}, 0.0, 1.0),
            ({"url": STREAM.replace("https", "ftp")}, 0.0, 1.0),
            ({"url": STREAM.replace(".com", ".com:443")}, 1.0, 0.0),
            ({"url": STREAM.replace(".com", ".com:8443")}, 0.0, 0.0),
        ],
    )
    def test_playing_stream_is_matched_by_its_address(
        self, tmp_path: Path, info: dict[str, Any], value: float, strict: float
    ) -> None:
        path = write(tmp_path, status("playing", **info))
        assert is_vlc_playing(path, URL_RULE).value == value
        assert is_vlc_playing(path, URL_RULE, strict_upstream=True).value == strict

    @pytest.mark.parametrize("state", ["paused", "stopped", ""])
    def test_paused_or_stopped_player_scores_0(self, tmp_path: Path, state: str) -> None:
        assert is_vlc_playing(write(tmp_path, status(state, filename=SONG)), FILE_RULE).value == 0.0

    def test_entities_are_refused(self, tmp_path: Path) -> None:
        bomb = '<!DOCTYPE a [<!ENTITY b "playing">]><root><state>&b;</state></root>'
        assert is_vlc_playing(write(tmp_path, bomb), FILE_RULE).value == 0.0

    @pytest.mark.parametrize("rules", [{}, {"type": "file_name"}, {"type": "title", "title": "x"}])
    def test_invalid_rules_give_no_verdict(self, tmp_path: Path, rules: dict[str, str]) -> None:
        with pytest.raises(EvaluatorFailed):
            is_vlc_playing(write(tmp_path, status("playing", filename=SONG)), rules)
