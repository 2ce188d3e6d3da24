"""Slots reserved for interactive episodes, so that people do not wait for running attempts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from backend.domain.errors import Invalid

_AS_WRITTEN = re.compile(r"(\d{1,6})(%?)")


class Urgency(IntEnum):
    """Whether somebody waits for an episode to start.

    A person comes before everything else. A program from outside (`remote`, `container`) comes first in what is
    reserved, and takes its turn like any other beyond it.
    """

    NOBODY = 0
    PROGRAM = 1
    PERSON = 2


@dataclass(frozen=True)
class Reserve:
    """Reserved slots of one provider, and their use by interactive episodes.

    Attributes:
        common: for everybody.
        own: by project, for its own.
        in_use: slots that interactive episodes have, by project.
    """

    common: int
    own: Mapping[Any, int]
    in_use: Mapping[Any, int]

    def reserved(self, project: object, urgency: Urgency) -> int:
        """How many slots must stay free after an episode of that project and urgency has started.

        Interactive episodes use their project's own reserve first, then the common one. The rest of another project's
        reserve is never used; the rest of the common one and of the own project's is for interactive episodes only.
        """
        interactive = urgency is not Urgency.NOBODY
        others = sum(
            self._remaining(other_project) for other_project in self.own if other_project != project or not interactive
        )
        return others if interactive else others + self._common_left()

    def open_to(self, project: object) -> bool:
        """Whether an interactive episode of the project would take a reserved slot."""
        return self._remaining(project) > 0 or self._common_left() > 0

    def _remaining(self, project: object) -> int:
        return max(0, self.own.get(project, 0) - self.in_use.get(project, 0))

    def _common_left(self) -> int:
        beyond = sum(max(0, number - self.own.get(project, 0)) for project, number in self.in_use.items())
        return max(0, self.common - beyond)


def common(written: str, slots: int) -> int:
    """How many of a provider's slots a setting reserves: `2`, or `10%` (rounded down).

    Raises:
        Invalid: it is neither a number nor a share.
    """
    match = _AS_WRITTEN.fullmatch(written.strip())
    if match is None or (match[2] and int(match[1]) > 100):  # noqa: PLR2004 - per cent
        raise Invalid(
            f"expected a number of slots or a share as 10%, not {written[:20]!r}",
            code="invalid_reservation",
            path="reserved",
        )
    number = int(match[1])
    return slots * number // 100 if match[2] else number
