"""Requirements of tasks on a machine, and whether a worker's desktops meet them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from uuid import UUID

FENCE = "a fence for evaluation functions in Python (bubblewrap)"
"""The need, in words, of a worker that judges by such functions."""


@dataclass(frozen=True)
class Requirements:
    """Requirements of a group of tasks: a system, programs on it, and seats of licences.

    Attributes:
        id: equal for tasks that need the same of a machine.
        licences: seats by licence.
        functions: tasks of the group that evaluation functions in Python judge: their worker needs a fence for them.
        others: whether there are other tasks.
    """

    id: UUID
    os: str
    programs: frozenset[str] = frozenset()
    licences: Mapping[str, int] | None = None
    functions: frozenset[UUID] = frozenset()
    others: bool = True

    def for_task(self, task: UUID) -> "Requirements":
        """Requirements of one task of the group."""
        functions = self.functions & {task}
        return replace(self, functions=functions, others=not functions)


@dataclass(frozen=True)
class WorkerCapability:
    """A worker's current capability with one provider.

    Attributes:
        programs: by system, then by the image that a run names; "" = it names none.
        agents: that work there.
        images: of the provider; a run that names another one is for other workers.
        worker: its name and release, for people.
        functions: whether it has a fence behind which evaluation functions in Python may run.
    """

    provider: str
    programs: Mapping[str, Mapping[str, frozenset[str]]]
    agents: frozenset[str]
    images: frozenset[str] = frozenset()
    worker: str = ""
    functions: bool = True

    def fits(self, agent: str, image: str | None) -> bool:
        """Whether runs of that agent, with desktops of that image, can be done at all."""
        return agent in self.agents and (image is None or image in self.images)

    def meets(self, need: Requirements, image: str | None) -> bool:
        """Whether tasks of the group can be done with desktops of the image; seats of licences are another matter."""
        programs = self.programs.get(need.os, {}).get(image or "")
        return programs is not None and need.programs <= programs and (self.functions or need.others)

    def leaves(self, need: Requirements) -> frozenset[UUID]:
        """Tasks of a group that it meets, but for these: they are for workers with a fence."""
        return frozenset() if self.functions else need.functions


def seated(need: Requirements, seats: Mapping[str, int]) -> bool:
    """Whether there are seats enough."""
    return all(number <= seats.get(name, 0) for name, number in (need.licences or {}).items())
