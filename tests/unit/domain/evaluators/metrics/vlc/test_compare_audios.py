import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.vlc._alignment import aligned_distance
from backend.domain.evaluators.metrics.vlc.compare_audios import compare_audios, compare_audios_waa
from backend.domain.formats import audio
from backend.domain.formats.audio import read_samples
from tests.error_codes import raises_code
from tests.factories.audio import melody, noise, sound

EXPECTED, EXPECTED_WAA = 0.5031742605840548, 0.010149372461130575
FFMPEG = shutil.which("ffmpeg")
VECTORS = st.lists(st.lists(st.integers(-5, 5), min_size=3, max_size=3), min_size=1, max_size=30)


def tones(*hertz: float, rate: int = 22050, seconds: float = 1.0) -> np.ndarray:
    """Steady tones one after the other; float32."""
    times = np.arange(int(rate * seconds)) / rate
    return np.concatenate([0.3 * np.sin(2 * np.pi * one * times) for one in hertz]).astype(np.float32)


class TestAlignedDistance:
    @given(first=VECTORS, second=VECTORS)
    @settings(max_examples=25, deadline=None)
    def test_between_its_bounds(self, first: list[list[int]], second: list[list[int]]) -> None:
        distance, pairs = aligned_distance(np.array(first, float), np.array(second, float))
        assert max(len(first), len(second)) <= pairs <= len(first) + len(second) - 1
        assert 0.0 <= distance <= 2 * pairs

    @given(series=VECTORS)
    @settings(max_examples=15, deadline=None)
    def test_a_series_without_zeros_is_not_a_distance_from_itself(self, series: list[list[int]]) -> None:
        vectors = np.array(series, float) + 10
        distance, _ = aligned_distance(vectors, vectors)
        assert distance == pytest.approx(0.0, abs=1e-9)


class TestCompareAudios:
    def test_values_of_librosa_and_fastdtw(self, tmp_path: Path) -> None:
        """Computed with librosa 0.11 and fastdtw 0.3 for these two files."""
        mine = sound(tmp_path / "a.wav", tones(440, 880, 220))
        other = sound(tmp_path / "b.wav", tones(440, 660, seconds=1.5))
        assert compare_audios(mine, other).value == pytest.approx(EXPECTED, abs=1e-5)
        assert compare_audios_waa(mine, other).value == pytest.approx(EXPECTED_WAA, abs=1e-5)

    @pytest.mark.parametrize("form", ["wav", "flac", "ogg", "mp3"])
    def test_the_same_sound_in_another_format(self, tmp_path: Path, form: str) -> None:
        gold = sound(tmp_path / "gold.wav", melody(3))
        assert compare_audios(sound(tmp_path / f"a.{form}", melody(3)), gold).value > 0.9

    def test_same_sound_at_another_rate_passes(self, tmp_path: Path) -> None:
        high = sound(tmp_path / "a.wav", tones(440, 880, rate=44100), rate=44100)
        assert compare_audios(high, sound(tmp_path / "b.wav", tones(440, 880))).value > 0.95

    def test_two_channels_of_the_same(self, tmp_path: Path) -> None:
        both = np.stack([melody(1), melody(1)], axis=1)
        stereo, mono = sound(tmp_path / "a.wav", both), sound(tmp_path / "b.wav", melody(1))
        assert compare_audios(stereo, mono).value == pytest.approx(1.0, abs=1e-6)

    def test_waa_is_strict_with_other_sounds(self, tmp_path: Path) -> None:
        mine, other = sound(tmp_path / "a.wav", melody(3)), sound(tmp_path / "b.wav", noise(3))
        assert compare_audios_waa(mine, other).value < 0.1 < compare_audios(mine, other).value

    def test_silence_is_silence(self, tmp_path: Path) -> None:
        short, long = (sound(tmp_path / f"{n}.wav", np.zeros(n * 22050, np.float32)) for n in (1, 2))
        assert compare_audios(short, long).value == pytest.approx(1.0)

    def test_two_damaged_files_are_not_the_same_sound(self, tmp_path: Path) -> None:
        for name in ("a.mp3", "b.mp3"):
            (tmp_path / name).write_bytes(b"no sound at all")
        mine, gold = str(tmp_path / "a.mp3"), str(tmp_path / "b.mp3")
        with pytest.raises(EvaluatorFailed):
            compare_audios(mine, gold)
        assert compare_audios(mine, gold, strict_upstream=True).value == 1.0
        good = sound(tmp_path / "c.mp3", melody(1))
        assert compare_audios(mine, good).value == 0.0
        assert compare_audios(mine, good, strict_upstream=True).value == 0.0

    def test_too_long_sound_scores_0(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(audio, "MAX_SECONDS", 2)
        result = compare_audios(sound(tmp_path / "a.wav", melody(30)), sound(tmp_path / "b.wav", melody(1)))
        assert result.value == 0.0
        assert "longer" in result.reasons[0]


class TestReadSamples:
    def test_a_container_needs_ffmpeg(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "a.m4a").write_bytes(b"\0\0\0\x20ftypM4A " + bytes(100))
        monkeypatch.setattr(shutil, "which", lambda _: None)
        with raises_code(EvaluatorFailed, "program_missing"):
            read_samples(str(tmp_path / "a.m4a"))

    @pytest.mark.skipif(FFMPEG is None, reason="needs the ffmpeg program")
    def test_container_is_decoded_with_ffmpeg(self, tmp_path: Path) -> None:
        mine = sound(tmp_path / "a.wav", melody(2))
        subprocess.run([str(FFMPEG), "-v", "error", "-i", mine, str(tmp_path / "a.m4a")], check=True, timeout=60)
        assert compare_audios(str(tmp_path / "a.m4a"), mine).value > 0.9

    @pytest.mark.parametrize("rate", [8000, 16000, 32000, 44100, 48000, 96000])
    def test_sounds_of_every_rate_are_resampled(self, tmp_path: Path, rate: int) -> None:
        samples, reason = read_samples(sound(tmp_path / "a.wav", tones(440, rate=rate), rate=rate))
        assert reason == ""
        assert abs(len(samples) - 22050) <= 1
        wanted = tones(440)[2000:-2000]
        assert np.abs(samples[2000 : len(wanted) + 2000] - wanted).max() < 2e-3
