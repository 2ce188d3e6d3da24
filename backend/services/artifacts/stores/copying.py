"""Copies all artifacts from one store to another."""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from backend.domain.errors import NotFound
from backend.domain.ports.storage import ArtifactStore

AT_ONCE = 8


@dataclass
class CopyReport:
    """Result of a copy.

    Attributes:
        copied: number of copied artifacts.
        there: number of artifacts that existed already.
        bad: artifacts that could not be copied, damaged or removed meanwhile: hash -> reason.
    """

    copied: int = 0
    there: int = 0
    bad: dict[str, str] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Number of artifacts checked."""
        return self.copied + self.there + len(self.bad)


def copy(source: ArtifactStore, target: ArtifactStore, tell: Callable[[CopyReport], None]) -> CopyReport:
    """Copies every artifact that the target lacks. Safe to repeat, and while both are in use.

    Args:
        source: read only.
        target: store to copy to.
        tell: called occasionally with the state so far.

    Raises:
        Unavailable: one of the stores is unavailable or full; what was copied stays.
    """
    report = CopyReport()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for batch in source.old(math.inf):
            for sha256, result in zip(
                batch, pool.map(lambda name: _copy_artifact(source, target, name), batch), strict=True
            ):
                _count(report, sha256, result)
            tell(report)
    return report


def _copy_artifact(source: ArtifactStore, target: ArtifactStore, sha256: str) -> bool | str:
    """True: copied; False: existed; text: why not."""
    if target.age(sha256, 0.0) is not None:
        return False
    try:
        target.put(source.get(sha256), "application/octet-stream")
    except NotFound as error:
        return error.message
    return True


def _count(report: CopyReport, sha256: str, result: bool | str) -> None:  # noqa: FBT001 - what `_copy_artifact` gives
    if isinstance(result, str):
        report.bad[sha256] = result
    elif result:
        report.copied += 1
    else:
        report.there += 1
