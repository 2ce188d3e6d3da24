"""`written_assertion` (ours): whether an author's textual assertion holds."""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import unquote

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import Goal, short
from backend.domain.formats.any_text import read_any_text, read_cell
from backend.domain.formats.assertions import AssertionFact, parse
from backend.domain.formats.pictures import read_picture
from backend.domain.formats.program_names import runs, shows
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

State = Mapping[str, Any]


@register(PluginKind.METRIC, "written_assertion")
def written_assertion(result: State) -> MetricValue:
    """1 if the expression holds. `result` is from the getter of the same name.

    A text is in a file if it is in its content (a document's text, a workbook's cells); if a pattern matches several
    files, any of them counts. An address matches by prefix, or as a pattern.
    """
    try:
        formula = parse(str(result["expression"]))
        goals = {fact: _look(fact, result) for fact in formula.facts()}
    except (KeyError, TypeError, AttributeError) as error:
        raise EvaluatorFailed(f"the evidence of an assertion is damaged: {error}", code="evidence_damaged") from error
    holds = formula.holds(lambda fact: goals[fact][0])
    reasons = [f"{'so' if met else 'not so'}: {words}" for met, words in goals.values()]
    return MetricValue(value=float(holds), reasons=tuple(reasons))


def _look(fact: AssertionFact, state: State) -> Goal:
    return _LOOKS[fact.name](fact, state)


def _exists(fact: AssertionFact, state: State) -> Goal:
    entries = state["files"][fact.text]
    return bool(entries), f"{fact.text} {'is there' if entries else 'is not there'}"


def _contains(fact: AssertionFact, state: State) -> Goal:
    expected, reasons = str(fact.args[1]), []
    for entry in state["files"][fact.text]:
        text, reason = read_cell(entry["copy"], *fact.where) if fact.where else read_any_text(entry["copy"])
        if text is not None and _stands(expected, text, pattern=fact.pattern):
            return True, f"{entry['path']} has {short(expected)}"
        reasons.append(reason or f"{entry['path']} lacks {short(expected)}")
    return False, "; ".join(reasons[:5]) or f"{fact.text} does not exist"


def _size(fact: AssertionFact, state: State) -> Goal:
    size, reason = tuple(fact.args[1:]), f"{fact.text} does not exist"
    for entry in state["files"][fact.text]:
        picture, problem = read_picture(entry["copy"])
        if picture is not None and picture.size == size:
            return True, f"{entry['path']} is {picture.width}x{picture.height}"
        reason = problem if picture is None else f"{entry['path']} is {picture.width}x{picture.height}"
    return False, reason


def _active(fact: AssertionFact, state: State) -> Goal:
    active = [window for window in state["windows"] if window["active"]]
    met = any(shows(fact.text, window["title"], window["class"].split(".")) for window in active)
    return met, f"the active window is {short(active[-1]['title'] if active else '')}, expected {fact.text}"


def _running(fact: AssertionFact, state: State) -> Goal:
    met = runs(fact.text, state["processes"])
    return met, f"{fact.text} {'runs' if met else 'does not run'}"


def _clipboard(fact: AssertionFact, state: State) -> Goal:
    text = str(state["clipboard"])
    return _stands(fact.text, text, pattern=fact.pattern), f"the clipboard has {short(text)}"


def _address(fact: AssertionFact, state: State) -> Goal:
    addresses = [unquote(str(address)) for address in state["addresses"]]
    met = any(_fits(unquote(fact.text), address) for address in addresses)
    return met, f"open pages: {short(addresses)}"


def _fits(pattern: str, address: str) -> bool:
    if address.startswith(pattern) or fnmatchcase(address, pattern):
        return True
    try:
        return re.search(pattern, address) is not None
    except re.error:
        return False


def _stands(expected: str, text: str, *, pattern: bool) -> bool:
    return bool(re.search(expected, text, re.MULTILINE)) if pattern else expected in text


_LOOKS = {
    "file_exists": _exists,
    "file_contains": _contains,
    "image_size": _size,
    "window_active": _active,
    "application_running": _running,
    "clipboard_contains": _clipboard,
    "browser_url_matches": _address,
}
