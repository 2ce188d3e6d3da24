"""`check_json_keybindings`: VS Code has a key binding."""

import re
from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.json_values import equal
from backend.domain.formats.jsonc import parse_broken_jsonc, parse_jsonc
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_OF_EXTENSIONS = {"linux", "mac", "win"}
_MODIFIERS = {"win": "meta", "cmd": "meta"}
_NESTED = re.compile(r"[()'\"/]")
"""In parentheses, texts and patterns the signs mean something else."""
_SIGNS = re.compile(r"\s*(&&|\|\||[=!<>]=|=~|!)\s*")


@register(PluginKind.METRIC, "check_json_keybindings")
def check_json_keybindings(
    result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """1 if one of the bindings equals the expected one, and none after it takes its keys away.

    The last binding of keys counts, if its condition is the same or it has none; entries that remove a default binding
    (`-command`) take nothing from the file's own. Source: VS Code's `keybindingResolver.ts`.

    Args:
        result: path of `keybindings.json`.
        rules: `expected`: the binding.
        strict_upstream: accept comments in the first line only, and no trailing commas; `true` equals 1; one way to
            write keys and conditions; later bindings do not matter.
    """
    if not isinstance(rules.get("expected"), Mapping):
        raise EvaluatorFailed("`rules.expected` is not a key binding", code="invalid_rule")
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    bindings, reason = parse_jsonc(text, plain=True) if strict_upstream else parse_broken_jsonc(text)
    if strict_upstream and not isinstance(bindings, list):
        bindings, reason = parse_jsonc(text.partition("\n")[2], plain=True)
    if not isinstance(bindings, list):
        return verdict(met=False, reason=reason or f"the key bindings are not a list: {short(bindings)}")
    expected = rules["expected"]
    if strict_upstream:
        return verdict(expected in bindings, f"{len(bindings)} bindings, expected {short(expected)} among them")
    goal, present = _plain(expected), [_plain(binding) for binding in bindings if isinstance(binding, Mapping)]
    places = [index for index, binding in enumerate(present) if equal(binding, goal)]
    if not places:
        return verdict(met=False, reason=f"{len(bindings)} bindings, expected {short(expected)} among them")
    over = [later for later in present[places[-1] + 1 :] if _takes_over(later, goal)]
    return verdict(
        not over, f"it is bound; a later binding takes its keys: {short(over[-1])}" if over else "it is bound"
    )


def _plain(binding: Mapping[str, Any]) -> dict[str, Any]:
    """A binding in one form: keys in any case and order of modifiers, conditions in one form, none for an empty one.

    What extensions say for single systems is ignored in this file.
    """
    plain = {name: value for name, value in binding.items() if name not in _OF_EXTENSIONS and value is not None}
    if isinstance(plain.get("key"), str):
        plain["key"] = " ".join(map(_press, plain["key"].lower().split()))
    if isinstance(plain.get("when"), str):
        plain["when"] = _condition(plain["when"])
    return {name: value for name, value in plain.items() if name != "when" or value}


def _press(text: str) -> str:
    """One press of keys: modifiers by one name and in one order."""
    *modifiers, key = text.split("+")
    return "+".join([*sorted(_MODIFIERS.get(name, name) for name in modifiers), key])


def _condition(text: str) -> str:
    """A condition in one form: blanks, and the order of terms, which has no effect, as VS Code orders them itself."""
    plain = _SIGNS.sub(r"\1", " ".join(text.split()))
    if _NESTED.search(plain):
        return plain
    return "||".join(sorted("&&".join(sorted(terms.split("&&"))) for terms in plain.split("||")))


def _takes_over(later: Mapping[str, Any], goal: Mapping[str, Any]) -> bool:
    """Whether VS Code would ask a later binding before the expected one, whenever that one could be meant."""
    command, expected = str(later.get("command")), str(goal.get("command"))
    same_keys = "key" in goal and later.get("key") == goal["key"] and later.get("when") in (None, goal.get("when"))
    if expected.startswith("-"):  # Taken away from the defaults: only the same command is given the keys again.
        return same_keys and command == expected[1:]
    return same_keys and not command.startswith("-") and not equal(later, goal)
