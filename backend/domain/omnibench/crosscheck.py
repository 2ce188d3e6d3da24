"""Cross-verification: a subtask's evaluation must accept its own trajectory and reject those of others.

Source: OmniBench; protocols reference, section 6. Each trial is a task of one node. Its evaluation is the subtask's,
the trajectory that is played is its own solution or, three times, that of another subtask. Where a trial ends otherwise
than it should, trajectory or evaluation is revised and the trials are made again: a round.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.domain.errors import Invalid
from backend.domain.model.score import is_solved
from backend.domain.model.task import Frozen
from backend.domain.omnibench.graph import GraphNode, TaskGraph
from backend.domain.omnibench.subtask import Subtask, Values
from backend.domain.omnibench.task_file import GraphTask, Pool, SolutionTrial

FOREIGN = 3
"""Trajectories of others that an evaluation must reject."""
OWN = "own"
Played = tuple[Subtask, Values]


class CrossCheckVerdict(Frozen):
    """Results of one subtask's trials.

    Attributes:
        accepts_own: None = not decided yet.
        accepted, rejected: trials with a foreign trajectory, by name.
        undecided: trials without a score.
    """

    subtask: str
    accepts_own: bool | None = None
    accepted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """It accepts its own trajectory, rejects at least three others, and accepts none of them."""
        return self.accepts_own is True and not self.accepted and len(self.rejected) >= FOREIGN

    def feedback(self) -> str:
        """Required revisions before the next round; empty if there are none."""
        words = []
        if self.accepts_own is False:
            words.append("the evaluation does not accept the subtask's own solution: one of the two is wrong")
        if self.accepted:
            words.append(f"the evaluation is too weak, it accepts {', '.join(self.accepted)}")
        if self.undecided:
            words.append(f"without a score: {', '.join(self.undecided)}")
        lacking = FOREIGN - len(self.rejected) - len(self.accepted)
        if not words and lacking > 0:
            words.append(f"{lacking} more trajectories of others are needed")
        return "; ".join(words)


def trials(pool: Pool, *, seed: int, foreign: int = FOREIGN) -> Iterator[GraphTask]:
    """For each subtask with a solution, a trial with it and `foreign` ones with those of others.

    Nearest ones first: the same subtask with other parameters, then others of the same application. A subtask with the
    same output is excluded, because it would be accepted rightly.

    Args:
        pool: the subtasks.
        seed: the same seed gives the same trials.
        foreign: how many others.

    Raises:
        Invalid: no subtask has a solution.
    """
    solved = [
        (subtask, values)
        for subtask in pool.values()
        if subtask.oracle is not None
        for values in subtask.available_parameters
    ]
    if not solved:
        raise Invalid("no subtask of the pool has a solution (oracle)", code="pool_without_oracles")
    for subtask in (subtask for subtask in pool.values() if subtask.oracle is not None):
        rng = random.Random(f"{seed} {subtask.id}")  # noqa: S311 - the trials must come again.
        own: Played = (subtask, subtask.available_parameters[0])
        yield _trial(own, OWN, own)
        candidates = [played for played in solved if _is_foreign(own, played)]
        rng.shuffle(candidates)
        candidates.sort(key=lambda played: _distance(own, played))
        for number, played in enumerate(candidates[:foreign], start=1):
            yield _trial(own, f"foreign-{number}", played)


def verdicts(scores: Mapping[str, float | None]) -> list[CrossCheckVerdict]:
    """Results of trials, by subtask.

    Args:
        scores: of each trial by its name; None = lost or not run.
    """
    by_subtask: dict[str, dict[str, Any]] = {}
    for name, score in sorted(scores.items()):
        subtask, _, kind = name.rpartition(".")
        verdict = by_subtask.setdefault(subtask, {"accepts_own": None, "accepted": [], "rejected": [], "undecided": []})
        if score is None:
            verdict["undecided"].append(kind)
        elif kind == OWN:
            verdict["accepts_own"] = is_solved(score)
        else:
            verdict["accepted" if is_solved(score) else "rejected"].append(kind)
    return [CrossCheckVerdict(subtask=subtask, **verdict) for subtask, verdict in by_subtask.items()]


def _trial(own: Played, kind: str, played: Played) -> GraphTask:
    subtask, values = own
    trajectory, its_values = played
    return GraphTask(
        name=f"{subtask.id}.{kind}",
        instruction=trajectory.instruction(its_values),
        graph=TaskGraph(nodes=(GraphNode(name=subtask.id, subtask=subtask.id, values=values),), after={subtask.id: ()}),
        trial=SolutionTrial(subtask=trajectory.id, values=its_values),
    )


def _is_foreign(own: Played, played: Played) -> bool:
    (subtask, values), (other, its_values) = own, played
    if other.os != subtask.os or (other.id == subtask.id and its_values == values):
        return False
    return not any(make.serves(two) for make in other.makes(its_values) for two in subtask.makes(values))


def _distance(own: Played, played: Played) -> int:
    same: Sequence[bool] = (own[0].id == played[0].id, own[0].application == played[0].application)
    return -sum(same)
