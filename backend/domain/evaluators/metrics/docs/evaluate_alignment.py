"""`evaluate_alignment`: the first three words of each sentence are separated from the rest."""

import re
from collections.abc import Callable

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.docs._documents import first_wrong, judge_document
from backend.domain.formats.documents import texts
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_WORDS = 3
_APART = re.compile(r"\S+\s+\S+\s+\S+(\s*\t\s*|\s{2,})\S")


@register(PluginKind.METRIC, "evaluate_alignment")
def evaluate_alignment(result: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if in every sentence with more than three words a tab, or several blanks, follows the third word.

    A sentence ends at a full stop or at the end of its paragraph.

    Args:
        result: path of the document.
        strict_upstream: sentences with single blanks pass, sentences of three words fail.
    """

    def judge(paragraphs: list[str]) -> MetricValue:
        sentences = [sentence for text in paragraphs for sentence in text.split(".")]
        rule: Callable[[str], bool] = _as_published if strict_upstream else _apart
        concerned = [sentence for sentence in sentences if len(sentence.split()) >= _WORDS]
        if not concerned and not strict_upstream:
            return verdict(met=False, reason="no sentence has three words")
        wrong = [sentence for sentence in concerned if not rule(sentence)]
        words = [f"{short(sentence, 60)} has no gap after three words" for sentence in wrong]
        return first_wrong(words, f"all {len(concerned)} sentences have a gap after three words")

    return judge_document(result, texts, judge, as_stored=strict_upstream)


def _apart(sentence: str) -> bool:
    return len(sentence.split()) == _WORDS or _APART.match(sentence.strip()) is not None


def _as_published(sentence: str) -> bool:
    words = sentence.split()
    first, remainder = " ".join(words[:_WORDS]), " ".join(words[_WORDS:])
    return first in sentence and remainder in sentence and sentence.find(first) < sentence.find(remainder)
