"""`folder_goals` (ours): which files a folder must have, with what content."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.evaluators.metrics._verdicts import Goal, share_of_goals, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

Contents = Mapping[str, Mapping[str, str]]
UNLISTED = ""
"""The getter's entry for what it could not list."""


@register(PluginKind.METRIC, "folder_goals")
def folder_goals(result: Contents | None, rules: Mapping[str, Any]) -> MetricValue:
    """Goals about the files of a folder, from the getter `folder_contents`.

    Args:
        result: relative path -> `{mode, sha256}`; folders end in `/`. Nothing counts as absent if not all was listed.
        rules: `goals` and `keeps`, lists of conditions; `partial`: the value is the share of met goals. A condition has
            `present` (a path or a list of alternatives), `absent` (a path or a list of paths), and for present files
            `content` (text), `sha256` or `mode` (for example `0o755`; `executable`: the owner may).
    """
    if result is None:
        return verdict(met=False, reason="the folder does not exist")
    goals = [_condition(result, condition) for condition in rules.get("goals", ())]
    keeps = [_condition(result, condition) for condition in rules.get("keeps", ())]
    return share_of_goals(goals, partial=bool(rules.get("partial")), keeps=keeps)


def _condition(contents: Contents, condition: Mapping[str, Any]) -> Goal:
    present, absent = _paths(condition.get("present")), _paths(condition.get("absent"))
    words = []
    fine = True
    if present:
        existing = [path for path in present if path in contents]
        right = [path for path in existing if _as_wanted(contents[path], condition)]
        fine = bool(right)
        words.append(
            f"{' or '.join(present)} is {'there' if right else 'other than expected' if existing else 'missing'}"
        )
    unwanted = [path for path in absent if path in contents]
    if absent:
        unknown = not unwanted and UNLISTED in contents
        fine = fine and not unwanted and not unknown
        gone = "perhaps hidden in what could not be listed" if unknown else "gone"
        words.append(f"{', '.join(unwanted)} still there" if unwanted else f"{', '.join(absent)} {gone}")
    return fine, ", ".join(words)


def _as_wanted(entry: Mapping[str, str], condition: Mapping[str, Any]) -> bool:
    digest = condition.get("sha256")
    if "content" in condition:
        digest = hashlib.sha256(str(condition["content"]).encode()).hexdigest()
    if digest is not None and entry.get("sha256") != digest:
        return False
    mode = entry.get("mode", "")
    if condition.get("executable") and not (mode.startswith("0o") and int(mode, 8) & 0o100):
        return False
    return "mode" not in condition or mode == condition["mode"]


def _paths(value: str | Sequence[str] | None) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)
