"""`check_thunderbird_folder`: whether mail folders contain exactly the expected messages."""

import re
from collections import Counter
from collections.abc import Sequence

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.thunderbird._mailbox import MailFlags, messages
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_SUBJECT = re.compile(r"^Subject:\s*(.*)$", re.MULTILINE | re.IGNORECASE)
Paths = str | Sequence[str | None] | None


@register(PluginKind.METRIC, "check_thunderbird_folder")
def check_thunderbird_folder(  # noqa: PLR0913 - upstream's options.
    result: Paths,
    expected: Paths,
    *,
    ignore_status: bool | None = None,
    ignore_keys: bool | None = None,
    remove_deleted: bool = True,
    remove_duplicate: bool = True,
    strict_upstream: bool = False,
) -> MetricValue:
    """1 if each folder has the messages of its counterpart, in any order.

    Args:
        result: path of a folder's file, or a list of them.
        expected: the same, as many.
        ignore_status: False = a message's status (read, starred) counts as well. Off by default, because viewing a
            message changes it.
        ignore_keys: False = its labels count as well.
        remove_deleted: ignore messages marked as deleted.
        remove_duplicate: ignore duplicates.
        strict_upstream: as published, where all messages are skipped: only an empty file differs from others.
    """
    paths, golds = _paths(result, len(_paths(expected, 1))), _paths(expected, 1)
    reading = MailFlags(status=ignore_status is False, keys=ignore_keys is False, deleted=not remove_deleted)
    if strict_upstream:
        same = all(map(_published_alike, paths, golds))
        return verdict(same, "as published, no message is compared: only empty files differ from others")
    if len(paths) != len(golds):
        raise EvaluatorFailed(f"{len(paths)} folders are compared with {len(golds)}", code="invalid_rule")
    reasons = []
    for number, (own, gold) in enumerate(zip(paths, golds, strict=True), start=1):
        if difference := _difference(own, gold, reading, once=remove_duplicate):
            reasons.append(f"folder {number}: {difference}")
    return MetricValue(
        value=float(not reasons), reasons=tuple(reasons[:20]) or ("the folders have the expected messages",)
    )


def _published_alike(result: str | None, gold: str | None) -> bool:
    """Whether both files have text, or neither: as published, what is split by `FROM - ` counts where it is blank."""
    (actual, _), (expected, _) = read_text(result), read_text(gold)
    if actual is None or expected is None:
        return False
    blank = [any(not part.strip() for part in text.strip().split("FROM - ")) for text in (actual, expected)]
    return blank[0] == blank[1]


def _paths(value: Paths, number: int) -> list[str | None]:
    return [value] * number if value is None else [value] if isinstance(value, str) else list(value)


def _difference(result: str | None, gold: str | None, reading: MailFlags, *, once: bool) -> str:
    """Description of the difference; empty if there is none."""
    expected, reason = messages(gold, reading)
    if expected is None:
        raise EvaluatorFailed(f"expected folder: {reason}", code="invalid_reference")
    actual, reason = messages(result, reading)
    if actual is None:
        return reason
    mine_counts, gold_counts = (Counter(set(texts) if once else texts) for texts in (actual, expected))
    more, less = list((mine_counts - gold_counts).elements()), list((gold_counts - mine_counts).elements())
    if not more and not less:
        return ""
    return f"{len(less)} messages are missing {_subjects(less)}, {len(more)} are not expected {_subjects(more)}"


def _subjects(texts: Sequence[str]) -> str:
    return short([match[1] if (match := _SUBJECT.search(text)) else "no subject" for text in sorted(texts)[:5]])
