"""`document_goals` (ours): paragraphs of a Word document."""

import re
from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import Goal, reached, short, verdict
from backend.domain.formats.failures import let_through
from backend.domain.formats.packages import check_package
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "document_goals")
def document_goals(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """Goals about a .docx file.

    Args:
        result: its path.
        rules: `paragraphs`: regular expressions, each must match a whole paragraph; `without`: each matches none;
            `bold`: texts, all of whose characters are bold; `styles`: text of a paragraph -> its style's name; `keeps`:
            regular expressions of paragraphs that must still be there; `partial`: the value is the share of met goals.
    """
    reason = check_package(result)
    if reason:
        return verdict(met=False, reason=reason)
    try:
        from docx import Document

        paragraphs = list(Document(str(result)).paragraphs)
    except Exception as error:  # noqa: BLE001 - python-docx raises whatever a damaged file makes it stumble over.
        let_through(error, result)
        return verdict(met=False, reason=f"the document is damaged: {type(error).__name__}")
    texts = [paragraph.text.strip() for paragraph in paragraphs]

    def some(pattern: str) -> bool:
        return any(re.fullmatch(pattern, text) for text in texts)

    goals: list[Goal] = [(some(one), f"a paragraph {short(one)}") for one in rules.get("paragraphs", ())]
    goals += [(not some(one), f"no paragraph {short(one)}") for one in rules.get("without", ())]
    goals += [(_bold(paragraphs, text), f"{short(text)} in bold") for text in rules.get("bold", ())]
    goals += [_styled(paragraphs, text, style) for text, style in rules.get("styles", {}).items()]
    keeps = [(some(one), f"the paragraph {short(one)} is gone") for one in rules.get("keeps", ())]
    return reached(goals, partial=bool(rules.get("partial")), keeps=keeps)


def _bold(paragraphs: list[Any], text: str) -> bool:
    """Whether an occurrence of the text is bold throughout."""
    for paragraph in paragraphs:
        marks = "".join("b" * len(run.text) if run.bold else "-" * len(run.text) for run in paragraph.runs)
        whole = "".join(run.text for run in paragraph.runs)
        start = whole.find(text)
        if start >= 0 and set(marks[start : start + len(text)]) == {"b"}:
            return True
    return False


def _styled(paragraphs: list[Any], text: str, style: str) -> Goal:
    styles = [
        paragraph.style.name if paragraph.style else "" for paragraph in paragraphs if paragraph.text.strip() == text
    ]
    return style in styles, f"{short(text)} has style {short(styles)}, wanted {style!r}"
