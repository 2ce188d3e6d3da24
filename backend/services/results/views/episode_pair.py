"""Two episodes side by side: their steps, aligned by action, target and screen."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import Actor
from backend.domain.errors import Invalid
from backend.domain.ports.storage import ArtifactStore
from backend.domain.statistics import alignment
from backend.domain.statistics.alignment import AlignedStep
from backend.services.artifacts.artifacts import open_for
from backend.services.read_model import ReadModel
from backend.services.runs.views.attempt import StepView
from backend.services.runs.views.episode_page import EpisodePage, episode_page

PAIR = 2
MOST_LINES = 5_000
"""Lines of each prompt that are compared."""
_SCREEN = (1920, 1080)
"""Size of a screen without a picture."""


class StepAlignment(ReadModel):
    """Two steps that correspond, by their numbers; null where a step has no counterpart in the other episode."""

    first: int | None
    second: int | None
    cost: float = Field(description="From 0, the same action on the same screen, to 1.")
    same: bool = Field(description="Cost of at most 0.15.")


class EpisodeAlignment(ReadModel):
    """The alignment of two episodes' steps with the lowest total cost, in order."""

    episodes: list[UUID]
    steps: list[StepAlignment]
    divergence: int | None = Field(description="Position of the first pair that is not the same; null if all are.")


@dataclass(frozen=True)
class EpisodePair:
    """The page: both episodes, and the steps of each in the rows of their alignment."""

    sides: Sequence[EpisodePage]
    rows: Sequence[Sequence[StepView | None]]
    alignment: EpisodeAlignment

    @property
    def start(self) -> int:
        """Position that the page opens at: the first divergence."""
        return self.alignment.divergence or 0

    @property
    def one_task(self) -> bool:
        return len({side.episode.task for side in self.sides}) == 1


def episode_pair(session: Session, episode_ids: Sequence[UUID]) -> EpisodePair:
    """Both episodes with the steps of their newest attempts.

    Raises:
        NotFound: there is no such episode.
        Invalid: these are not two different episodes.
    """
    if len(set(episode_ids)) != PAIR or len(episode_ids) != PAIR:
        raise Invalid(
            f"{len(set(episode_ids))} different episodes",
            code="invalid_comparison",
            path="episode",
            hint="Name two episodes, as in ?episode=A&episode=B.",
        )
    sides = [episode_page(session, episode_id, None, whole=True) for episode_id in episode_ids]
    first, second = (side.steps.listed for side in sides)
    pairs = alignment.align(list(map(aligned_step, first)), list(map(aligned_step, second)))
    rows = [
        (None if pair.first is None else first[pair.first], None if pair.second is None else second[pair.second])
        for pair in pairs
    ]
    steps = [
        StepAlignment(first=_index(first_step), second=_index(second_step), cost=pair.cost, same=pair.same)
        for (first_step, second_step), pair in zip(rows, pairs, strict=True)
    ]
    return EpisodePair(
        sides,
        rows,
        EpisodeAlignment(episodes=list(episode_ids), steps=steps, divergence=alignment.divergence(pairs)),
    )


def _index(step: StepView | None) -> int | None:
    return None if step is None else step.index


def aligned_step(step: StepView) -> AlignedStep:
    """Features by which a step is compared: kinds of actions, the first point or all text and keys, and the screen."""
    width, height = (step.frame and step.frame.width) or _SCREEN[0], (step.frame and step.frame.height) or _SCREEN[1]
    points = [(action["x"] / width, action["y"] / height) for action in step.actions if _has_point(action)]
    texts = [str(action.get("text") or "+".join(map(str, action.get("keys") or ()))) for action in step.actions]
    return AlignedStep(
        kind="final" if step.final else " ".join(str(action.get("type", "")) for action in step.actions),
        target=points[0] if points else " ".join(filter(None, texts)) or None,
        picture=None if step.frame_hash is None else step.frame_hash % 2**64,
    )


def _has_point(action: dict[str, object]) -> bool:
    return isinstance(action.get("x"), int | float) and isinstance(action.get("y"), int | float)


def prompt_difference(session: Session, store: ArtifactStore, actor: Actor, prompts: Sequence[str]) -> str:
    """Unified diff of two stored prompts, by their hashes; of each the first `MOST_LINES` lines.

    Raises:
        NotFound: the actor may not read one of them.
    """
    texts = [store.get(open_for(session, sha256, actor).sha256).decode(errors="replace") for sha256 in prompts]
    first, second = (text.splitlines()[:MOST_LINES] for text in texts)
    lines = list(difflib.unified_diff(first, second, lineterm="", n=3))[2:]
    return "\n".join(lines) or "The prompts are equal."
