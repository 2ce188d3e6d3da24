"""Finds ambiguous instructions by rules. The findings only point reviewers at words."""

import re
from collections.abc import Iterator

from backend.domain.drafts.content import DraftContent
from backend.domain.model.task import JSON

FEWEST_WORDS = 4
_SUBJECTIVE = (
    "appealing", "appropriate", "appropriately", "attractive", "beautiful", "best", "better", "clean", "elegant",
    "good", "interesting", "modern", "neat", "nice", "nicely", "pleasant", "pretty", "professional", "proper",
    "properly", "reasonable", "suitable", "tidy", "useful",
)  # fmt: skip
_VAGUE = (
    "a bit", "a couple of", "a few", "and so on", "and/or", "approximately", "as needed", "as you like", "etc",
    "if necessary", "if possible", "maybe", "or something", "or similar", "perhaps", "roughly", "several",
    "some", "somehow", "something", "somewhere", "various", "whatever",
)  # fmt: skip
_NAMED = re.compile(
    r"""["'\u2018-\u201d\u00ab\u00bb][^"'\u2018-\u201d\u00ab\u00bb]+["'\u2018-\u201d\u00ab\u00bb]"""
    r"""|\d|\b[\w-]+\.\w{1,5}\b|(?<=[a-z,;:] )[A-Z][\w-]+|(?:/|\b)[\w.-]+/[\w.-]+"""
)


def unclear(instruction: str) -> list[str]:
    """Ambiguities and subjective criteria of an instruction, one sentence each; empty if no rule applies."""
    text = instruction.strip()
    if not text:
        return ["There is no instruction."]
    problems = [
        *(f"“{word}” is a matter of taste: say what can be checked." for word in _words_in(text, _SUBJECTIVE)),
        *(f"“{word}” is vague: say how many, which, or when." for word in _words_in(text, _VAGUE)),
    ]
    if len(text.split()) < FEWEST_WORDS:
        problems.append(f"It has fewer than {FEWEST_WORDS} words.")
    if not _NAMED.search(text):
        problems.append("It names nothing: no file, number, quoted text or name says what exactly is meant.")
    return problems


def unsaid(content: DraftContent) -> list[str]:
    """Texts and numbers that a check's rule expects and the instruction does not mention, one sentence each.

    Not always wrong: the expectation may follow from the screen. Only `rules` are searched, without object keys that
    address the evidence.
    """
    instruction = content.instruction.casefold()
    problems = []
    for number, check in enumerate(content.checks, start=1):
        rules = (check.expected or {}).get("rules")
        problems += [
            f"Check {number} ({check.func}) expects {value!r}, which the instruction does not say."
            for value in dict.fromkeys(_leaves(rules))
            if value.casefold() not in instruction
        ]
    return problems[:20]


def _words_in(text: str, words: tuple[str, ...]) -> Iterator[str]:
    low = text.casefold()
    return (word for word in words if re.search(rf"(?<![\w./-]){re.escape(word)}(?![\w/-])", low))


def _leaves(value: JSON) -> Iterator[str]:
    """Texts and numbers of a JSON value, as text; booleans are skipped."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from _leaves(part)
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
        yield str(value).strip()[:200]
