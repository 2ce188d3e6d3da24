"""`rtf_goals` (ours): paragraphs of a rich text file."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backend.domain.evaluators.metrics._verdicts import Goal, share_of_goals, short, verdict
from backend.domain.evaluators.metrics.goals._marked_text import has_marked
from backend.domain.formats.rtf import BrokenRtf, RtfParagraph, read_rtf
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

MAX_BYTES = 8 * 2**20


@register(PluginKind.METRIC, "rtf_goals")
def rtf_goals(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """Goals about an .rtf file.

    Args:
        result: its path.
        rules: `paragraphs`: regular expressions, each must match a whole paragraph; `without`: each matches none;
            `bold`, `plain`: texts of which an occurrence is bold, or not bold, throughout; `keeps`: regular expressions
            of paragraphs that must still be there; `partial`: the value is the share of met goals.
    """
    if result is None or not Path(result).is_file():
        return verdict(met=False, reason="the file does not exist")
    if Path(result).stat().st_size > MAX_BYTES:
        return verdict(met=False, reason=f"the file is larger than {MAX_BYTES // 2**20} MiB")
    try:
        paragraphs = read_rtf(Path(result).read_bytes())
    except BrokenRtf as error:
        return verdict(met=False, reason=f"the document is damaged: {error}")
    texts = [paragraph.text.strip() for paragraph in paragraphs]

    def some(pattern: str) -> bool:
        return any(re.fullmatch(pattern, text) for text in texts)

    goals: list[Goal] = [(some(rule), f"a paragraph {short(rule)}") for rule in rules.get("paragraphs", ())]
    goals += [(not some(rule), f"no paragraph {short(rule)}") for rule in rules.get("without", ())]
    goals += [(_marked(paragraphs, text, bold=True), f"{short(text)} in bold") for text in rules.get("bold", ())]
    goals += [(_marked(paragraphs, text, bold=False), f"{short(text)} not bold") for text in rules.get("plain", ())]
    keeps = [(some(rule), f"the paragraph {short(rule)} is gone") for rule in rules.get("keeps", ())]
    return share_of_goals(goals, partial=bool(rules.get("partial")), keeps=keeps)


def _marked(paragraphs: list[RtfParagraph], text: str, *, bold: bool) -> bool:
    """Whether an occurrence of the text is bold (or not bold) throughout; blanks may have any weight."""
    return any(has_marked(text, paragraph.text, [mark is bold for mark in paragraph.bold]) for paragraph in paragraphs)
