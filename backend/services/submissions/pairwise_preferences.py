"""Blind pairwise comparison of submissions: the next pair, preferences, and ratings."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import Actor, AgentConfiguration, PairwisePreference, Submission, Task, TaskSet
from backend.db.models.enums import Preference
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.submissions import submissions as repository
from backend.domain.errors import Conflict, Invalid
from backend.domain.statistics.intervals import Interval, wilson
from backend.domain.statistics.pairwise import Rating, Score, chance, rate
from backend.services.benchmarks.benchmarks import get_benchmark, latest_task_set
from backend.services.read_model import ReadModel
from backend.services.submissions.submissions import get_work

EXPERT = "human expert"


@dataclass(frozen=True)
class SubmissionPair:
    """Two submissions for one task, side by side and anonymous.

    Attributes:
        judged: pairs of the benchmark that this person has judged.
        remaining: remaining pairs, including this one.
    """

    task: Task
    left: Submission
    right: Submission
    judged: int
    remaining: int


class ContestantView(ReadModel):
    """An agent configuration, a person, or the human expert. Without preferences there is no rating."""

    name: str
    reference: str = Field(description="`expert`, `human`, `privileged` or empty.")
    submissions: int
    tasks: int
    group: int | None = Field(description="Points of different groups cannot be compared.")
    points: float | None = Field(description="0 is the mean of the group; 400 points are odds of 10 to 1.")
    interval: Interval | None
    wins: int
    losses: int
    ties: int
    preferred_over_expert: float | None = Field(description="Probability, among comparisons without a tie.")


class SubmissionBoard(ReadModel):
    """Ratings of submissions for a benchmark's newest tasks, best first."""

    benchmark: str
    version: int
    tasks: int
    comparisons: int
    people: int
    left_share: float | None = Field(description="How often the left one was preferred, among the decided.")
    left_interval: Interval | None
    warnings: list[str]
    contestants: list[ContestantView]

    @property
    def widest(self) -> float:
        """The end of the axis that covers all intervals, in points."""
        ends = [abs(end) for row in self.contestants if row.interval for end in row.interval]
        return max(ends, default=1.0) or 1.0

    @property
    def groups(self) -> int:
        """Groups of contestants that no preference connects."""
        return len({row.group for row in self.contestants if row.group is not None})


@dataclass(frozen=True)
class _Entry:
    """A submission with its contestant."""

    work: Submission
    task: Task
    name: str
    reference: str


def benchmarks(session: Session) -> list[str]:
    """Sorted names of the benchmarks with submissions."""
    return repository.benchmarks(session)


def next_pair(session: Session, benchmark: str, actor: Actor, chance_of: Random) -> SubmissionPair | None:
    """The next pair for this person; None when nothing is left.

    Among unseen pairs, prefers contestants with the fewest comparisons, then pairs with the fewest judgements. Sides
    are random.
    """
    entries, choices = _entries(session, benchmark), _choices(session, benchmark)
    names = {entry.work.id: entry.name for entry in entries}
    chosen_pairs = {_pair(choice) for choice in choices if choice.actor_id == actor.id}
    every = list(_pairs(entries))
    open_ = [
        (first, second) for first, second in every if frozenset({first.work.id, second.work.id}) not in chosen_pairs
    ]
    if not open_:
        return None
    met = Counter(frozenset({names.get(choice.left_id), names.get(choice.right_id)}) for choice in choices)
    counts = Counter(map(_pair, choices))

    def rank(pair: tuple[_Entry, _Entry]) -> tuple[int, int, float]:
        first, second = pair
        return (
            met[frozenset({first.name, second.name})],
            counts[frozenset({first.work.id, second.work.id})],
            chance_of.random(),
        )

    first, second = min(open_, key=rank)
    left, right = (first, second) if chance_of.random() < 0.5 else (second, first)  # noqa: PLR2004 - a coin
    return SubmissionPair(left.task, left.work, right.work, len(every) - len(open_), len(open_))


def choose(session: Session, left_id: UUID, right_id: UUID, preferred: Preference, actor: Actor) -> None:
    """Stores a person's preference.

    Raises:
        NotFound: the submission does not exist.
        Invalid: the two are not submissions for the same task.
        Conflict: this person has already judged the pair.
    """
    left, right = get_work(session, left_id), get_work(session, right_id)
    if left.id == right.id or left.task_id != right.task_id:
        raise Invalid("expected two submissions of one task", code="invalid_pair", path="right")
    values = {"id": uuid7(), "task_id": left.task_id, "left_id": left.id, "right_id": right.id}
    if not repository.choose(session, {**values, "preference": preferred.value, "actor_id": actor.id}):
        raise Conflict(
            "you have already judged this pair",
            code="pair_already_judged",
            hint="The first choice counts. Continue with the next pair.",
        )


def board(session: Session, benchmark: str) -> SubmissionBoard:
    """Preferences among submissions for a benchmark's newest tasks that have some, and the resulting ratings."""
    benchmark_row, task_set = get_benchmark(session, benchmark), _task_set(session, benchmark)
    entries, choices = _entries(session, benchmark), _choices(session, benchmark)
    names = {entry.work.id: entry.name for entry in entries}
    rated = [choice for choice in choices if len({names.get(work) for work in _pair(choice)} - {None}) == 2]  # noqa: PLR2004 - a pair
    ratings = {row.name: row for row in rate(_scores(names, rated))}
    decided = [choice for choice in rated if choice.preference != Preference.EQUAL]
    lefts = sum(choice.preference == Preference.LEFT for choice in decided)
    share = wilson(lefts, len(decided))
    return SubmissionBoard(
        benchmark=benchmark_row.name,
        version=task_set.version,
        tasks=len({entry.task.id for entry in entries}),
        comparisons=len(rated),
        people=len({choice.actor_id for choice in rated}),
        contestants=_contestants(entries, ratings),
        left_share=None if share is None else lefts / len(decided),
        left_interval=share,
        warnings=[*_not_rated(len(choices) - len(rated)), *_warnings(list(ratings.values()))],
    )


def _task_set(session: Session, benchmark: str) -> TaskSet:
    """The newest version with submissions, else the newest."""
    with_submissions = repository.newest_task_set(session, get_benchmark(session, benchmark).id)
    return with_submissions or latest_task_set(session, benchmark)


def _entries(session: Session, benchmark: str) -> list[_Entry]:
    rows = repository.of_task_set(session, _task_set(session, benchmark).id)
    conditions = {row.Run.condition_hash: row.AgentConfiguration.title for row in rows if row.Run is not None}
    shared = {name for name, number in Counter(conditions.values()).items() if number > 1}
    return [_Entry(row.Submission, row.Task, *_contestant_name(row, shared)) for row in rows]


def _contestant_name(row: AnyRow, shared: Collection[str]) -> tuple[str, str]:
    """A contestant's name and mark. Each condition of an agent is one contestant."""
    if row.Run is None:
        return EXPERT, "expert"
    agent: AgentConfiguration = row.AgentConfiguration
    reference = "human" if agent.human else "privileged" if agent.privileged else ""
    name = agent.title
    return f"{name} #{row.Run.condition_hash[:6]}" if name in shared else name, reference


def _choices(session: Session, benchmark: str) -> list[PairwisePreference]:
    return repository.choices(session, _task_set(session, benchmark).id)


def _pairs(entries: Sequence[_Entry]) -> Iterator[tuple[_Entry, _Entry]]:
    """All pairs of submissions for one task by two contestants."""
    by_task: dict[UUID, list[_Entry]] = {}
    for entry in entries:
        by_task.setdefault(entry.task.id, []).append(entry)
    for works in by_task.values():
        yield from ((first, second) for first, second in combinations(works, 2) if first.name != second.name)


def _pair(choice: PairwisePreference) -> frozenset[UUID]:
    return frozenset({choice.left_id, choice.right_id})


def _scores(names: Mapping[UUID, str], choices: Sequence[PairwisePreference]) -> list[Score]:
    """Number of preferences by pair of contestants."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for choice in choices:
        counts.setdefault((names[choice.left_id], names[choice.right_id]), Counter())[choice.preference] += 1
    sides = (Preference.LEFT, Preference.RIGHT, Preference.EQUAL)
    return [Score(left, right, *(float(count[side]) for side in sides)) for (left, right), count in counts.items()]


def _contestants(entries: Sequence[_Entry], ratings: Mapping[str, Rating]) -> list[ContestantView]:
    expert = ratings.get(EXPERT)
    contestants = []
    for name, reference in dict.fromkeys((entry.name, entry.reference) for entry in entries):
        own = [entry for entry in entries if entry.name == name]
        rating = ratings.get(name)
        beside = None
        if rating is not None and expert is not None and reference != "expert" and rating.group == expert.group:
            beside = chance(rating.points - expert.points)
        contestants.append(
            ContestantView(
                name=name,
                reference=reference,
                submissions=len(own),
                tasks=len({entry.task.id for entry in own}),
                group=None if rating is None else rating.group,
                points=None if rating is None else rating.points,
                interval=None if rating is None else rating.interval,
                wins=0 if rating is None else int(rating.wins),
                losses=0 if rating is None else int(rating.losses),
                ties=0 if rating is None else int(rating.ties),
                preferred_over_expert=beside,
            )
        )
    return sorted(contestants, key=_order)


def _order(row: ContestantView) -> tuple[bool, int, float, str]:
    return row.group is None, row.group or 0, -(row.points or 0.0), row.name


def _not_rated(number: int) -> list[str]:
    if not number:
        return []
    plural = "" if number == 1 else "s"
    return [f"{number} more choice{plural} between works of one contestant, or works compared no longer: not counted."]


def _warnings(ratings: Sequence[Rating]) -> list[str]:
    """Warnings: groups that were never compared, and contestants without any win or any loss."""
    number = len({row.group for row in ratings})
    warnings = []
    if number > 1:
        message = f"The contestants fall into {number} groups that no choice connects: "
        warnings.append(message + "ratings of different groups cannot be compared, each group has its own zero.")
    always = [row.name for row in ratings if row.losses + row.ties == 0.0]
    never = [row.name for row in ratings if row.wins + row.ties == 0.0]
    limit = "the rating is held finite by the prior, and its upper end means little"
    if always:
        warnings.append(f"Never beaten nor equalled: {', '.join(always)}; {limit}.")
    if never:
        warnings.append(f"Never preferred nor equal: {', '.join(never)}; {limit.replace('upper', 'lower')}.")
    return warnings


def rows(board: SubmissionBoard) -> Iterator[list[object]]:
    """The board as a table: group, contestant, reference, submissions, tasks, counts, points with interval."""
    for row in board.contestants:
        head: list[object] = [
            "" if row.group is None else row.group + 1,
            row.name,
            row.reference,
            row.submissions,
            row.tasks,
        ]
        counts = ["", "", ""] if row.group is None else [row.wins, row.losses, row.ties]
        points = ["", "", ""] if row.interval is None else [row.points, *row.interval]
        yield [*head, *counts, *points, "" if row.preferred_over_expert is None else row.preferred_over_expert]
