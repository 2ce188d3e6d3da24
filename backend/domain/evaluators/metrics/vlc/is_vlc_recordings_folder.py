"""`is_vlc_recordings_folder`: VLC's folder of recordings."""

import re
from collections.abc import Mapping
from posixpath import normpath
from typing import Any

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.vlc._settings import expected_text, value_of
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

KEY = "input-record-path"
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]")


@register(PluginKind.METRIC, "is_vlc_recordings_folder")
def is_vlc_recordings_folder(
    result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """1 if VLC's setting `input-record-path` is `rules["recording_file_path"]`.

    Args:
        result: path of `vlcrc`.
        rules: `recording_file_path`.
        strict_upstream: as published, the path must match exactly; else slashes and dots that change nothing and, on
            Windows, case and the kind of slash are ignored.
    """
    expected = expected_text(rules, "recording_file_path")
    value, reason = value_of(result, KEY, "", strict=False)
    if not value:
        return verdict(met=False, reason=reason or f"{KEY} is not set")
    same = value == expected if strict_upstream else _plain(value) == _plain(expected)
    return verdict(same, f"{KEY} is {short(value)}, expected {short(expected)}")


def _plain(path: str) -> str:
    path = path.replace("\\", "/").lower() if _WINDOWS.match(path) else path
    return normpath(path.rstrip("/") or "/")
