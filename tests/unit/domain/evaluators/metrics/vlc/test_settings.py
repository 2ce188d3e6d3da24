from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.vlc.check_global_key_play_pause import check_global_key_play_pause
from backend.domain.evaluators.metrics.vlc.check_one_instance_when_started_from_file import (
    check_one_instance_when_started_from_file,
)
from backend.domain.evaluators.metrics.vlc.check_play_and_exit import check_play_and_exit
from backend.domain.evaluators.metrics.vlc.check_qt_bgcone import check_qt_bgcone
from backend.domain.evaluators.metrics.vlc.check_qt_max_volume import check_qt_max_volume
from backend.domain.evaluators.metrics.vlc.check_qt_minimal_view import check_qt_minimal_view
from backend.domain.evaluators.metrics.vlc.check_qt_slider_colours import check_qt_slider_colours
from backend.domain.evaluators.metrics.vlc.check_qt_video_resize import check_qt_video_resize
from backend.domain.evaluators.metrics.vlc.is_vlc_fullscreen import is_vlc_fullscreen
from backend.domain.evaluators.metrics.vlc.is_vlc_recordings_folder import is_vlc_recordings_folder

Check = Callable[..., Any]
SINGLE: list[tuple[Check, str, str, str]] = [
    (check_qt_bgcone, "qt-bgcone", "expected_qt_bgcone", "1"),
    (check_qt_max_volume, "qt-max-volume", "expected_qt_max_volume", "125"),
    (check_qt_minimal_view, "qt-minimal-view", "expected_qt_minimal_view", "0"),
    (check_play_and_exit, "play-and-exit", "expected_play_and_exit", "0"),
    (check_qt_video_resize, "qt-video-autoresize", "qt-video-autoresize", "1"),
    (
        check_one_instance_when_started_from_file,
        "one-instance-when-started-from-file",
        "expected_one_instance_when_started_from_file",
        "1",
    ),
]
"""Metric, VLC's setting, the rule's key, VLC's default."""


def vlcrc(folder: Path, *lines: str) -> str:
    path = folder / "vlcrc"
    path.write_text("\n".join(["###  vlc 3.0.16", "[qt] # Qt interface", *lines, ""]))
    return str(path)


@pytest.mark.parametrize(("check", "key", "rule", "default"), SINGLE)
class TestOneSetting:
    def test_the_last_line_counts(self, tmp_path: Path, check: Check, key: str, rule: str, default: str) -> None:
        path = vlcrc(tmp_path, f"{key}=7", f"{key}=8")
        assert check(path, {rule: 8}).value == 1.0
        assert check(path, {rule: "8"}).value == 1.0
        assert check(path, {rule: 7}).value == 0.0

    def test_a_comment_is_a_default(self, tmp_path: Path, check: Check, key: str, rule: str, default: str) -> None:
        path = vlcrc(tmp_path, f"#{key}=9")
        assert check(path, {rule: 9}).value == 0.0
        assert check(path, {rule: 9}, strict_upstream=True).value == 1.0
        assert check(path, {rule: int(default)}).value == 1.0

    def test_another_setting_with_that_end(
        self, tmp_path: Path, check: Check, key: str, rule: str, default: str
    ) -> None:
        assert check(vlcrc(tmp_path, f"my-{key}=9"), {rule: 9}).value == 0.0

    def test_the_reason_names_both(self, tmp_path: Path, check: Check, key: str, rule: str, default: str) -> None:
        assert check(vlcrc(tmp_path, f"{key}=7"), {rule: 8}).reasons == (f"{key} is '7', expected '8'",)

    def test_missing_rule_gives_no_verdict(
        self, tmp_path: Path, check: Check, key: str, rule: str, default: str
    ) -> None:
        for rules in ({}, {"x": 1}, None, {rule: True}):
            with pytest.raises(EvaluatorFailed):
                check(vlcrc(tmp_path), rules)


class TestCheckQtVideoResize:
    def test_an_untouched_file_is_not_a_right_answer(self, tmp_path: Path) -> None:
        """WAA's task expects 0; VLC resizes by default."""
        assert check_qt_video_resize(vlcrc(tmp_path), {"qt-video-autoresize": 0}).value == 0.0
        assert check_qt_video_resize(vlcrc(tmp_path), {"qt-video-autoresize": 0}, strict_upstream=True).value == 1.0


class TestCheckGlobalKeyPlayPause:
    @pytest.mark.parametrize(
        ("line", "wanted", "value"),
        [
            ("global-key-play-pause=Ctrl+Space", 1, 1.0),
            ("global-key-play-pause=", 1, 0.0),
            ("global-key-play-pause=", "0", 1.0),
            ("key-play-pause=Space", 1, 0.0),
            ("#global-key-play-pause=x", 1, 0.0),
        ],
    )
    def test_play_pause_key_is_set_or_unset_as_expected(
        self, tmp_path: Path, line: str, wanted: int | str, value: float
    ) -> None:
        rules = {"expected_global_key_play_pause": wanted}
        assert check_global_key_play_pause(vlcrc(tmp_path, line), rules).value == value


class TestCheckQtSliderColours:
    @pytest.mark.parametrize(
        ("colours", "value", "strict"),
        [
            (";".join(["0"] * 12), 1.0, 1.0),
            (";".join(["0"] * 12 + ["200"]), 1.0, 1.0),
            ("0;0;0;20;20;20", 0.0, 1.0),  # VLC fills up with white.
            ("5", 0.0, 1.0),
            (";".join(["-5"] * 12), 0.0, 1.0),
            (";".join(["99"] * 11 + ["100"]), 0.0, 0.0),
            ("1;2;3;200", 0.0, 1.0),
            ("black", 0.0, 0.0),
            ("", 0.0, 0.0),
        ],
    )
    def test_blackish_needs_only_dark_colours(self, tmp_path: Path, colours: str, value: float, strict: float) -> None:
        path = vlcrc(tmp_path, f"qt-slider-colours={colours}")
        assert check_qt_slider_colours(path, {"type": "blackish"}).value == value
        assert check_qt_slider_colours(path, {"type": "blackish"}, strict_upstream=True).value == strict

    def test_the_default_is_colourful(self, tmp_path: Path) -> None:
        assert check_qt_slider_colours(vlcrc(tmp_path), {"type": "blackish"}).value == 0.0

    def test_slider_colours_match_the_expected_list(self, tmp_path: Path) -> None:
        path = vlcrc(tmp_path, "qt-slider-colours=1;2;3")
        assert check_qt_slider_colours(path, {"type": "match", "expected_qt_slider_colours": "1;2;3"}).value == 1.0

    def test_an_unknown_kind(self, tmp_path: Path) -> None:
        with pytest.raises(EvaluatorFailed):
            check_qt_slider_colours(vlcrc(tmp_path), {"type": "whitish"})


class TestIsVlcRecordingsFolder:
    @pytest.mark.parametrize(
        ("found", "wanted", "value", "strict"),
        [
            ("/home/user/Desktop", "/home/user/Desktop", 1.0, 1.0),
            ("/home/user/Desktop/", "/home/user/Desktop", 1.0, 0.0),
            ("/home/user/desktop", "/home/user/Desktop", 0.0, 0.0),
            ("C:\\Users\\Docker\\Downloads", "C:\\Users\\Docker\\Downloads", 1.0, 1.0),
            ("/home//user/./Desktop", "/home/user/Desktop", 1.0, 0.0),
            ("/home/user/../user2/Desktop", "/home/user/Desktop", 0.0, 0.0),
            ("c:/users/docker/downloads", "C:\\Users\\Docker\\Downloads", 1.0, 0.0),
        ],
    )
    def test_recording_path_is_compared_ignoring_a_trailing_slash(
        self, tmp_path: Path, found: str, wanted: str, value: float, strict: float
    ) -> None:
        path, rules = vlcrc(tmp_path, f"input-record-path={found}"), {"recording_file_path": wanted}
        assert is_vlc_recordings_folder(path, rules).value == value
        assert is_vlc_recordings_folder(path, rules, strict_upstream=True).value == strict

    def test_commented_recording_path_scores_0(self, tmp_path: Path) -> None:
        rules = {"recording_file_path": "/home/user/Desktop"}
        assert is_vlc_recordings_folder(vlcrc(tmp_path, "#input-record-path=/home/user/Desktop"), rules).value == 0.0


SCREEN = {"width": 1920, "height": 1080}


class TestIsVlcFullscreen:
    def test_window_as_large_as_the_screen_is_fullscreen(self) -> None:
        assert is_vlc_fullscreen(SCREEN, dict(SCREEN)).value == 1.0

    @pytest.mark.parametrize("window", [None, {}, {"width": 1920, "height": 1079}])
    def test_smaller_or_missing_window_is_not_fullscreen(self, window: dict[str, int] | None) -> None:
        assert is_vlc_fullscreen(SCREEN, window).value == 0.0
