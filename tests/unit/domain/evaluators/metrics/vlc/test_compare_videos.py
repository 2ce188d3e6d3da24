from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.vlc.compare_videos import compare_videos
from tests.factories.video import frames, video


class TestCompareVideos:
    @pytest.mark.parametrize("form", ["mp4", "avi", "mkv"])
    def test_the_same_frames_in_another_container(self, tmp_path: Path, form: str) -> None:
        gold = video(tmp_path / "gold.mp4", frames(15))
        assert compare_videos(video(tmp_path / f"a.{form}", frames(15)), gold).value == 1.0

    def test_videos_with_different_frames_score_0(self, tmp_path: Path) -> None:
        mine, gold = video(tmp_path / "a.mp4", frames(15, seed=2)), video(tmp_path / "b.mp4", frames(15))
        result = compare_videos(mine, gold)
        assert result.value == 0.0
        assert "look different" in result.reasons[0]

    def test_some_frames_may_differ(self, tmp_path: Path) -> None:
        changed = [*frames(5, seed=2), *frames(15)[5:]]
        mine, gold = video(tmp_path / "a.avi", changed), video(tmp_path / "b.avi", frames(15))
        assert compare_videos(mine, gold).value == 1.0
        assert compare_videos(mine, gold, threshold=4).value == 0.0

    def test_shorter_video_scores_0_beyond_its_frames(self, tmp_path: Path) -> None:
        mine, gold = video(tmp_path / "a.avi", frames(14)), video(tmp_path / "b.avi", frames(15))
        assert compare_videos(mine, gold).value == 0.0
        assert compare_videos(mine, gold, max_frames_to_check=14).value == 1.0

    def test_two_damaged_files_are_not_the_same_video(self, tmp_path: Path) -> None:
        for name in ("a.mp4", "b.mp4"):
            (tmp_path / name).write_bytes(b"\0\0\0\x20ftypisom" + bytes(500))
        mine, gold = str(tmp_path / "a.mp4"), str(tmp_path / "b.mp4")
        with pytest.raises(EvaluatorFailed):
            compare_videos(mine, gold)
        assert compare_videos(mine, gold, strict_upstream=True).value == 1.0

    def test_a_playlist_is_not_a_video(self, tmp_path: Path) -> None:
        """It would lead the decoder to other files."""
        gold = video(tmp_path / "gold.mp4", frames(3))
        (tmp_path / "a.mp4").write_text(f"#EXTM3U\n#EXTINF:10,\n{gold}\n")
        assert compare_videos(str(tmp_path / "a.mp4"), gold).value == 0.0

    def test_a_series_of_pictures_is_not_a_video(self, tmp_path: Path) -> None:
        assert compare_videos(str(tmp_path / "%02d.png"), video(tmp_path / "gold.mp4", frames(3))).value == 0.0

    @pytest.mark.parametrize("options", [{"threshold": -1}, {"max_frames_to_check": "x"}])
    def test_options_without_meaning(self, tmp_path: Path, options: dict[str, Any]) -> None:
        gold = video(tmp_path / "gold.mp4", frames(3))
        with pytest.raises(EvaluatorFailed):
            compare_videos(gold, gold, **options)
