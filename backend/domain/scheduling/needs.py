"""What tasks need of a machine, and whether a worker's desktops have it."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class Need:
    """What a group of tasks needs: a system, programs on it, and seats of licences.

    Attributes:
        id: equal for tasks that need the same.
        licences: seats by licence.
    """

    id: UUID
    os: str
    programs: frozenset[str] = frozenset()
    licences: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Able:
    """What a worker can do now with one provider.

    Attributes:
        programs: by system, then by the image that a run names; "" = it names none.
        agents: that work there.
        images: of the provider; a run that names another one is for other workers.
        worker: its name and release, for people.
    """

    provider: str
    programs: Mapping[str, Mapping[str, frozenset[str]]]
    agents: frozenset[str]
    images: frozenset[str] = frozenset()
    worker: str = ""

    def fits(self, agent: str, image: str | None) -> bool:
        """Whether runs of that agent, with desktops of that image, can be done at all."""
        return agent in self.agents and (image is None or image in self.images)

    def meets(self, need: Need, image: str | None) -> bool:
        """Whether desktops of the image have what is needed; seats of licences are another matter."""
        found = self.programs.get(need.os, {}).get(image or "")
        return found is not None and need.programs <= found


def seated(need: Need, seats: Mapping[str, int]) -> bool:
    """Whether there are seats enough."""
    return all(number <= seats.get(name, 0) for name, number in (need.licences or {}).items())
