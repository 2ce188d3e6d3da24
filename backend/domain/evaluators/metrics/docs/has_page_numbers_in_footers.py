"""`has_page_numbers_in_footers`: every page has its number at the bottom."""

import re
from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.docs._documents import first_wrong, judge_document
from backend.domain.formats.document_styles import is_on
from backend.domain.formats.documents import child
from backend.domain.formats.word_wrappers import Element, drop_deletions, w
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from docx.document import Document

_PAGE = re.compile(r"\s*PAGE\b", re.IGNORECASE)


@register(PluginKind.METRIC, "has_page_numbers_in_footers")
def has_page_numbers_in_footers(result: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if the footer of every section has a page number, that is a visible field, not a typed digit.

    Args:
        result: path of the document.
        strict_upstream: a digit in the footer's first paragraph is a page number, and nothing else is.
    """

    def take(document: "Document") -> list[bool]:
        if strict_upstream:
            firsts = [section.footer.paragraphs[:1] for section in document.sections]
            return [any(map(str.isdigit, first[0].text)) if first else False for first in firsts]
        return [_numbered(section.footer._element) for section in document.sections]  # noqa: SLF001 - no public way.

    return judge_document(result, take, _judge, as_stored=strict_upstream)


def _judge(footers: list[bool]) -> MetricValue:
    if not footers:
        return verdict(met=False, reason="the document has no section")
    wrong = [
        f"the footer of section {number} has no page number" for number, footer in enumerate(footers, 1) if not footer
    ]
    return first_wrong(wrong, f"the footers of all {len(footers)} sections have a page number")


def _numbered(footer: Element) -> bool:
    """A field is either one element, or a begin mark, pieces of its instruction, and an end mark."""
    drop_deletions(footer)
    for run in [run for run in footer.iter(w("r")) if is_on(child(run, "rPr"), "vanish")]:
        run.getparent().remove(run)
    if next(footer.iter(w("pgNum")), None) is not None:
        return True
    if any(_PAGE.match(field.get(w("instr"), "")) for field in footer.iter(w("fldSimple"))):
        return True
    instruction: list[str] = []
    for element in footer.iter(w("fldChar"), w("instrText")):
        if element.tag == w("instrText"):
            instruction.append(element.text or "")
        elif element.get(w("fldCharType")) == "begin":
            instruction = []
        if _PAGE.match("".join(instruction)):
            return True
    return False
