"""`compare_audios`: similarity of two sounds."""

from backend.domain.evaluators.metrics.vlc._sounds import by_average, by_sum, compare_sounds
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_audios")
def compare_audios(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """Similarity of the aligned cepstra: exp(-average cosine distance).

    Args:
        result: path of the sound to judge.
        expected: path of the expected sound.
        strict_upstream: as published, two unreadable files are equal.
    """
    return compare_sounds(result, expected, by_average, strict=strict_upstream)


@register(PluginKind.METRIC, "compare_audios", dialect="waa")
def compare_audios_waa(result: str | None, expected: str | None) -> MetricValue:
    """`compare_audios` of WindowsAgentArena: similarity of two sounds, stricter for long ones.

    1 / (1 + the sum of the cosine distances of the aligned cepstra): 1 for the same sound only.

    Args:
        result: path of the sound to judge.
        expected: path of the expected sound.
    """
    return compare_sounds(result, expected, by_sum, strict=False)
