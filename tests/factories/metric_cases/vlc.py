"""Cases of the metrics of VLC's settings and state, of pictures, sounds and videos."""

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tests.factories.audio import RATE, melody, sound
from tests.factories.metric_cases import Call, MetricCase
from tests.factories.metric_cases.general import of_text, write
from tests.factories.video import frames, video

COMMENT = "# some setting (integer)\n#some-setting-{}=0\n"


def vlcrc(key: str, value: str) -> str:
    """VLC's configuration with one setting."""
    return f"###\n###  vlc 3.0.16\n###\n\n[qt] # Qt interface\n\n{key}={value}\n"


def setting(key: str, right: str, near: str, rules: dict[str, Any]) -> MetricCase:
    """A case of a metric of one setting."""
    return of_text("vlcrc", vlcrc(key, right), vlcrc(key, near), rules, line=COMMENT)


def status(state: str, *, filler: int = 0, **info: str) -> str:
    """VLC's `status.xml`."""
    info_text = "".join(f"<info name='{name}'>{value}</info>" for name, value in info.items())
    rest = "".join(f"<info name='x{number}'>filler</info>" for number in range(filler // 34))
    return (
        f"<?xml version='1.0' encoding='utf-8'?><root><state>{state}</state><information>"
        f"<category name='meta'>{info_text}</category><category name='Stream 0'>{rest}</category></information></root>"
    )


def picture(path: Path, seed: int = 1, size: tuple[int, int] = (90, 60), *, stain: int = 0) -> str:
    """Random blocks; a stain of this many pixels makes a different picture."""
    blocks = np.random.default_rng(seed).integers(0, 256, (size[1] // 3 + 1, size[0] // 3 + 1, 3), dtype=np.uint8)
    plane = blocks.repeat(3, axis=0).repeat(3, axis=1)[: size[1], : size[0]]
    plane[:stain, :stain] = 0
    Image.fromarray(plane).save(path)
    return str(path)


def sized_picture(folder: Path, size: int) -> Call:
    """Two pictures whose files have about this many bytes."""
    side = int((size / 3) ** 0.5)
    for number, name in enumerate(("a.png", "b.png")):
        plane = np.random.default_rng(number).integers(0, 256, (side, side, 3), dtype=np.uint8)
        Image.fromarray(plane).save(folder / name)
    return Call((str(folder / "a.png"), str(folder / "b.png")))


def sounds(folder: Path, mine: Any, other: Any, name: str = "mp3") -> Call:
    """Two sound files."""
    return Call((sound(folder / f"mine.{name}", mine), sound(folder / f"other.{name}", other)))


def sized_sound(folder: Path, size: int) -> Call:
    """Two WAV files of about this many bytes, two per sample. MP3 would take minutes to make."""
    seconds = size / 2 / RATE
    return sounds(folder, melody(seconds, 1), melody(seconds, 2), "wav")


def videos(folder: Path, mine: list[Any], other: list[Any], name: str = "mp4") -> Call:
    """Two video files."""
    return Call((video(folder / f"mine.{name}", mine), video(folder / f"other.{name}", other)))


def sized_video(folder: Path, size: int) -> Call:
    """Two videos of noise of about this many bytes."""
    random = np.random.default_rng(1)
    pictures = [random.integers(0, 256, (240, 320, 3), dtype=np.uint8) for _ in range(max(1, size // 100_000))]
    paths = [video(folder / name, pictures, (320, 240)) for name in ("a.avi", "b.avi")]
    return Call(tuple(paths))


FILE = {"type": "file_name", "file_name": "Song (live).mp4"}
AUDIO = MetricCase(
    passing=lambda folder: sounds(folder, melody(2), melody(2)),
    near_miss=lambda folder: sounds(folder, melody(2), melody(2, seed=2)),
    sized=sized_sound,
    kinds=("mp3",),
)

CASES: dict[str, MetricCase] = {
    "is_vlc_playing": MetricCase(
        passing=lambda folder: Call((write(folder, "status.xml", status("playing", filename="Song (live).mp4")), FILE)),
        near_miss=lambda folder: Call(
            (write(folder, "status.xml", status("paused", filename="Song (live).mp4")), FILE)
        ),
        sized=lambda folder, size: Call(
            (write(folder, "status.xml", status("playing", filler=size, filename="Song (live).mp4")), FILE)
        ),
        kinds=("xml",),
    ),
    "is_vlc_recordings_folder": setting(
        "input-record-path", "/home/user/Desktop", "/home/user/Desktop2", {"recording_file_path": "/home/user/Desktop"}
    ),
    "is_vlc_fullscreen": MetricCase(
        passing=lambda _: Call(({"width": 1920, "height": 1080}, {"width": 1920, "height": 1080})),
        near_miss=lambda _: Call(({"width": 1920, "height": 1053}, {"width": 1920, "height": 1080})),
        of_file=False,
    ),
    "check_qt_bgcone": setting("qt-bgcone", "0", "1", {"expected_qt_bgcone": 0}),
    "check_qt_max_volume": setting("qt-max-volume", "200", "20", {"expected_qt_max_volume": 200}),
    "check_qt_minimal_view": setting("qt-minimal-view", "1", "0", {"expected_qt_minimal_view": 1}),
    "check_qt_slider_colours": setting(
        "qt-slider-colours", "0;0;0;99;1;2;3;4;5;6;7;8", "0;0;0;100;1;2;3;4;5;6;7;8", {"type": "blackish"}
    ),
    "check_qt_video_resize": setting("qt-video-autoresize", "0", "1", {"qt-video-autoresize": 0}),
    "check_global_key_play_pause": setting(
        "global-key-play-pause", "Ctrl+Space", "", {"expected_global_key_play_pause": 1}
    ),
    "check_one_instance_when_started_from_file": setting(
        "one-instance-when-started-from-file", "0", "1", {"expected_one_instance_when_started_from_file": 0}
    ),
    "check_play_and_exit": setting("play-and-exit", "1", "0", {"expected_play_and_exit": 1}),
    "compare_images": MetricCase(
        passing=lambda folder: Call((picture(folder / "a.png"), picture(folder / "b.png"))),
        near_miss=lambda folder: Call((picture(folder / "a.png", stain=20), picture(folder / "b.png"))),
        sized=sized_picture,
        kinds=("png", "jpg"),
    ),
    "compare_audios": AUDIO,
    "compare_audios@waa": AUDIO,
    "compare_videos": MetricCase(
        passing=lambda folder: videos(folder, frames(12), frames(12)),
        near_miss=lambda folder: videos(folder, frames(12), frames(12, seed=2)),
        sized=sized_video,
        kinds=("mp4",),
    ),
}
