"""`document_goals` (ours): paragraphs of a Word document."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from backend.domain.evaluators.metrics._verdicts import Goal, share_of_goals, short, verdict
from backend.domain.evaluators.metrics.goals._marked_text import has_marked
from backend.domain.formats.document_styles import DocumentStyles
from backend.domain.formats.documents import paragraphs, read_document, run_text, runs, text_of
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document


@register(PluginKind.METRIC, "document_goals")
def document_goals(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """Goals about a .docx file.

    Args:
        result: its path.
        rules: `paragraphs`: regular expressions, each must match a whole paragraph; `without`: each matches none;
            `bold`: texts of which an occurrence is bold throughout, directly or by a style; `styles`: text of a
            paragraph -> its style's name; `keeps`: regular expressions of paragraphs that must still be there;
            `partial`: the value is the share of met goals.
    """
    goals, reason = read_document(result, lambda document: _goals(document, rules))
    if goals is None:
        return verdict(met=False, reason=reason)
    return share_of_goals(goals[0], partial=bool(rules.get("partial")), keeps=goals[1])


def _goals(document: "Document", rules: Mapping[str, Any]) -> tuple[list[Goal], list[Goal]]:
    styles = DocumentStyles(document)
    named = [(text_of(paragraph).strip(), styles.name(paragraph)) for paragraph in paragraphs(document)]
    pieces = [
        [(run_text(run), styles.has("b", paragraph, run)) for run in runs(paragraph)]
        for paragraph in paragraphs(document)
    ]

    def some(pattern: str) -> bool:
        return any(re.fullmatch(pattern, text) for text, _ in named)

    goals: list[Goal] = [(some(rule), f"a paragraph {short(rule)}") for rule in rules.get("paragraphs", ())]
    goals += [(not some(rule), f"no paragraph {short(rule)}") for rule in rules.get("without", ())]
    goals += [
        (any(_is_bold(piece, text) for piece in pieces), f"{short(text)} in bold") for text in rules.get("bold", ())
    ]
    goals += [_style_goal(named, text, style) for text, style in rules.get("styles", {}).items()]
    return goals, [(some(rule), f"the paragraph {short(rule)} is gone") for rule in rules.get("keeps", ())]


def _is_bold(pieces: list[tuple[str, bool]], text: str) -> bool:
    full_text = "".join(piece for piece, _ in pieces)
    return has_marked(text, full_text, [bold for piece, bold in pieces for _ in piece])


def _style_goal(paragraphs: list[tuple[str, str]], text: str, style: str) -> Goal:
    styles = [name for paragraph, name in paragraphs if paragraph == text]
    return style in styles, f"{short(text)} has style {short(styles)}, expected {style!r}"
