"""`check_mp3_meta`: whether a sound file's tags are as expected."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT
from backend.domain.evaluators.metrics._value_rules import fits
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.failures import let_through
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

MAX_BYTES = 256 * 2**20
NAMES = {
    "date": "year",
    "originaldate": "year",
    "tracknumber": "track",
    "discnumber": "disc",
}
"""mutagen's names used by tasks, if our library names them differently."""
_OLD_LENGTH = 30
"""Characters of a tag of ID3v1, which some programs fill up with blanks."""
KNOWN = frozenset({"title", "artist", "album", "albumartist", "composer", "genre", "comment", *NAMES})


@register(PluginKind.METRIC, "check_mp3_meta")
def check_mp3_meta(result: str | None, rules: object) -> MetricValue:
    """1 if every tag satisfies its rule.

    Args:
        result: path of the file.
        rules: name of a tag (`title`, `artist`, `album`, ...) to `{method, ref}`; several values of a tag are joined by
            commas, a missing one is an empty text.
    """
    tag_rules = _rules(rules)
    tags, reason = _tags(result, tag_rules)
    if tags is None:
        return verdict(met=False, reason=reason)
    wrong = {name: tags[name] for name, rule in tag_rules.items() if not fits(tags[name], rule)}
    if not wrong:
        return verdict(met=True, reason=f"the tags are as expected: {short(tags)}")
    reasons = [f"{name} is {short(value)}, expected {short(dict(tag_rules[name]))}" for name, value in wrong.items()]
    return MetricValue(value=0.0, reasons=tuple(reasons[:20]))


def _rules(rules: object) -> Mapping[str, Mapping[str, Any]]:
    if not isinstance(rules, Mapping) or not rules:
        raise EvaluatorFailed("the rules name no tags", code="invalid_rule", hint=HINT)
    for name, rule in rules.items():
        if name not in KNOWN or not isinstance(rule, Mapping):
            raise EvaluatorFailed(
                f"the rule {short(rule)} of tag {short(name)} is not valid", code="invalid_rule", hint=HINT
            )
        fits("", rule)
    return rules


def _tags(path: str | None, names: Mapping[str, Any]) -> tuple[dict[str, str] | None, str]:
    from tinytag import TinyTag

    if path is None or not Path(path).is_file():
        return None, "the file does not exist"
    if Path(path).stat().st_size > MAX_BYTES:
        return None, f"the file is larger than {MAX_BYTES // 2**20} MiB"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Unusual tags do not matter here.
            tag = TinyTag.get(path, duration=False)
    except Exception as error:  # noqa: BLE001 - the library raises whatever a damaged file makes it stumble over.
        let_through(error)
        return None, f"the file's tags cannot be read: {type(error).__name__}"
    tags = {key: _texts(value) for key, value in tag.as_dict().items() if key != "filename"}
    if not any(NAMES.get(name, name) in tags for name in KNOWN):
        return None, "the file has no tags"
    return {name: ",".join(tags.get(NAMES.get(name, name), [])) for name in names}, ""


def _texts(value: Any) -> list[str]:
    texts = [str(item) for item in (value if isinstance(value, list) else [value]) if item is not None]
    return [text.rstrip() if len(text) == _OLD_LENGTH else text for text in texts]
