"""`compare_videos`: two videos look the same."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.video import iterate_frames, refusal
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_videos")
def compare_videos(
    result: str | None,
    expected: str | None,
    *,
    max_frames_to_check: int = 100,
    threshold: int = 5,
    strict_upstream: bool = False,
) -> MetricValue:
    """1 if the first frames look alike, one by one, and the videos have the same length within the checked range.

    Args:
        result: path of the video to judge.
        expected: path of the expected video.
        max_frames_to_check: number of frames to check.
        threshold: how many of the 64 bits of two frames' perceptual hashes may differ, and how many frames may differ
            more.
        strict_upstream: as published, two files without a readable frame are equal.
    """
    for name, value in (("max_frames_to_check", max_frames_to_check), ("threshold", threshold)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise EvaluatorFailed(f"option `{name}` is {short(value)}, expected a number", code="invalid_rule")
    left, reason = _open_video(result)
    right, problem = _open_video(expected)
    if not strict_upstream and right is None:
        raise EvaluatorFailed(f"expected video: {problem}", code="invalid_reference")
    if left is None or right is None:
        return verdict(strict_upstream and left is right, reason or problem)
    differing = 0
    pairs = zip_longest(left, right)
    for number, (actual, gold) in zip(range(1, max_frames_to_check + 1), pairs, strict=False):
        if actual is None or gold is None:
            return verdict(met=False, reason=f"one of the videos ends after {number - 1} frames, the other continues")
        differing += bool(actual - gold > threshold)
        if differing > threshold:
            return verdict(met=False, reason=f"{differing} of the first {number} frames look different")
    return verdict(met=True, reason=f"{differing} of the first {max_frames_to_check} frames, or of all, look different")


def _open_video(path: str | None) -> tuple[Iterator[Any] | None, str]:
    """Hashes of the frames; None if there is not a single one."""
    import imagehash

    reason = refusal(path)
    if reason:
        return None, reason
    hashes = (imagehash.phash(frame) for frame in iterate_frames(str(path)))
    first = next(hashes, None)
    if first is None:
        return None, "the file has no readable frame"
    return _chain(first, hashes), ""


def _chain(first: Any, frames: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from frames
