"""Licence terms of a benchmark for training on its trajectories."""

import re
from enum import StrEnum


class LicenceStatus(StrEnum):
    """Permission status of a licence, known by its name only."""

    OPEN = "open"
    """Allows use, modification and redistribution, also commercial; its conditions (attribution, ...) apply."""
    RESTRICTED = "restricted"
    """Restricted: non-commercial, no derivatives, research only, or all rights reserved."""
    UNKNOWN = "unknown"
    """No licence, or an unknown one, which permits nothing."""


_OPEN = frozenset(
    {"0bsd", "apache-2.0", "bsd-2-clause", "bsd-3-clause", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0"}
    | {"cc0-1.0", "isc", "mit", "mit-0", "mpl-2.0", "odc-by-1.0", "pddl-1.0", "unlicense", "zlib"}
)
_FILL = frozenset({"the", "license", "licence", "version"})
_SAME = {"apache": "apache-2.0", "cc0": "cc0-1.0", "bsd": "bsd-3-clause", "cc-by": "cc-by-4.0"}
_FORBIDS = re.compile(r"(?:^|-)(?:nc|nd|noncommercial|non-commercial|noai|proprietary)(?:-|$)|research|all-rights")


def licence_status(name: str) -> LicenceStatus:
    """The status of a licence by its SPDX identifier or usual name; the most restrictive of several (`and`, commas)."""
    text = name.strip().lower().replace(", version", " version")
    parts = [part for part in re.split(r"\s*(?:,|;|\band\b)\s*", text) if part]
    statuses = {_status_of(part) for part in parts} or {LicenceStatus.UNKNOWN}
    worst = (LicenceStatus.RESTRICTED, LicenceStatus.UNKNOWN, LicenceStatus.OPEN)
    return next(status for status in worst if status in statuses)


def _status_of(name: str) -> LicenceStatus:
    word = "-".join(piece for piece in re.split(r"[\s_-]+", name) if piece not in _FILL)
    if _SAME.get(word, word) in _OPEN:
        return LicenceStatus.OPEN
    return LicenceStatus.RESTRICTED if _FORBIDS.search(word) else LicenceStatus.UNKNOWN
