"""Page of one run."""

from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Run
from backend.db.repositories.benchmarks import quarantine
from backend.db.repositories.capacity import licences
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.runs import runs_view as repository
from backend.domain.errors import NotFound
from backend.domain.model.label_filter import label_filter, order_values
from backend.domain.model.outcome_style import OutcomeCounts, OutcomeStyle
from backend.domain.model.reason import Reason, ReasonCode
from backend.domain.model.sort_order import SortOrder
from backend.domain.model.task import UNLABELLED
from backend.domain.model.trajectory import Usage
from backend.services.benchmarks.labels import LabelCounts, label_counts
from backend.services.capacity.licences import shortage
from backend.services.events.views import EventView
from backend.services.judging.judges import JudgeCost, cost_of_run
from backend.services.lru_cache import LruCache
from backend.services.people import human_agent
from backend.services.read_model import short, value_text
from backend.services.runs.episodes import EpisodeSummary
from backend.services.runs.views.episode import EpisodeView, episode_view, without_result
from backend.services.runs.views.model_parts import ModelPartRow, model_part_rows
from backend.services.runs.views.run import ConcurrencyView, RunView
from backend.services.runs.views.run_rows import ResultsKey, Tile, results_key, run_rows, tiles
from backend.services.scheduling.wait_reasons import concurrency_of, explain

DOMAIN, DIFFICULTY = "domain", "difficulty"
PAGE = 50
EPISODE_COLUMNS = frozenset(repository.EPISODE_ORDER)
"""Columns by which the episodes can be sorted."""
EVENTS = 40
REASONS = 12
EVENT_FIELDS = (
    "number",
    "score",
    "ended_by",
    "failure_class",
    "reason",
    "agent",
    "benchmark",
    "episodes",
    "added",
    "priority",
    "concurrency",
)
PHASES: Mapping[str, str] = {
    "reset": "desktop reset",
    "health": "health check",
    "setup": "task set-up",
    "observe": "observation",
    "agent": "agent",
    "wait": "waiting for the model API or the agent connection",
    "action": "actions",
    "person": "person in control",
    "settle": "screen settling",
    "check": "checkpoint evaluation",
    "record": "recording",
    "turn": "waiting for evaluation",
    "evaluation": "evaluation",
    "lost": "unaccounted (worker or node lost)",
}


@dataclass(frozen=True)
class EpisodeList:
    """One page of a run's episodes."""

    rows: list[EpisodeView]
    next: UUID | None
    quarantined: Container[UUID]
    """Tasks in quarantine, by id."""


@dataclass(frozen=True)
class HeatMapCell:
    """One cell of the heat map."""

    split: OutcomeCounts

    @property
    def solved(self) -> int:
        """Solved episodes."""
        return self.split.counts.get(OutcomeStyle.PASS, 0)

    @property
    def scored(self) -> int:
        """Scored episodes: denominator of the cell's rate."""
        looks = (OutcomeStyle.PASS, OutcomeStyle.PARTIAL, OutcomeStyle.FAIL, OutcomeStyle.AGENT)
        return sum(self.split.counts.get(look, 0) for look in looks)


@dataclass(frozen=True)
class Matrix:
    """Episodes by the values of two labels; a task with several values is in several cells.

    Attributes:
        row, column: the labels; an empty column = none, with one value "".
    """

    row: str
    column: str
    rows: list[str]
    columns: list[str]
    cells: Mapping[tuple[str, str], HeatMapCell]


@dataclass(frozen=True)
class PhaseSeconds:
    """Seconds of all attempts of a run in one phase."""

    name: str
    label: str
    seconds: float
    share: float


@dataclass(frozen=True)
class LossGroup:
    """Lost attempts with the same code and reason."""

    failure_class: str
    failure_code: str | None
    reason: str
    attempts: int
    episodes: int
    lost: int
    example: str


@dataclass(frozen=True)
class Machines:
    """Attempts of a run on virtual machines, and those on emulated ones, which are slower.

    Attributes:
        warning: why, and how much slower.
    """

    attempts: int
    emulated: int
    warning: str


@dataclass(frozen=True)
class RunPage:
    """Everything on a run's page.

    Attributes:
        waits: what waiting episodes wait for besides a slot, with counts: licences.
        in_use: number of its slots now.
        labels: labels by which the tasks of the benchmark differ, with numbers of tasks.
        spent: tokens and cost of all attempts, including lost ones; `judged` is the cost of judging.
        failed_code: steps of all attempts whose code failed.
        guest_calls: steps of all attempts that ran scripts, or read or wrote files.
        models: calls by part of the agent, where it asks several models; of all attempts.
        unrated: a person's ended episode without a rating: its result is hidden.
    """

    run: RunView
    split: OutcomeCounts
    config_hash: str
    tiles: list[Tile]
    waits: list[tuple[str, int]]
    labels: LabelCounts
    matrix: Matrix
    phases: list[PhaseSeconds]
    losses: list[LossGroup]
    not_runnable: list[tuple[Reason, int]]
    machines: Machines
    episodes: EpisodeList
    events: list[EventView]
    spent: Usage
    judged: JudgeCost
    in_use: int
    failed_code: int = 0
    guest_calls: int = 0
    models: Sequence[ModelPartRow] = ()
    human: bool = False
    unrated: UUID | None = None


@dataclass(frozen=True)
class RunPageQuery:
    """Query of a run's page: which episodes, and the labels of the heat map (default: domain and difficulty).

    `order`: of the episodes; default: as submitted. `passes`: other runs whose episodes are listed, too.
    """

    filters: Mapping[str, str]
    where: Sequence[str] = ()
    after: UUID | None = None
    row: str = ""
    column: str | None = None
    order: SortOrder | None = None
    passes: Sequence[UUID] = ()


def run_page(session: Session, run_id: UUID, wish: RunPageQuery) -> RunPage:
    """One run. Raises NotFound, Invalid for a malformed label condition."""
    row = repository.run(session, run_id)
    if row is None:
        raise NotFound("Run not found.", code="run_not_found", hint="The list of runs is at /runs.")
    (run_row,) = run_rows(session, [row])
    listed = [run_id, *wish.passes]
    unrated = _episode_without_rating(session, listed) if row.AgentConfiguration.human else None
    filters = {**wish.filters, "where": label_filter(wish.where)}
    # The order would tell the result that its person must not know yet.
    order = None if unrated else wish.order
    episodes = repository.episodes(session, listed, filters, wish.after, PAGE, order)
    labels = label_counts(repository.task_set(session, row.Run.task_set_id))
    spent = repository.usage_totals(session, run_id)
    parts = _parts_of(session, row.Run)
    return RunPage(
        run=run_row.run.model_copy(
            update={"effective_concurrency": ConcurrencyView.from_concurrency(concurrency_of(session, run_id))}
        ),
        split=run_row.split,
        config_hash=row.Run.config_hash,
        tiles=tiles(session, run_id=run_id),
        waits=_waits(session, run_id),
        labels=labels,
        matrix=matrix_of(session, row.Run, *heat_map_labels(labels, wish)),
        phases=parts.phases,
        losses=parts.losses,
        not_runnable=parts.not_runnable,
        machines=parts.machines,
        episodes=_episodes(session, repository.configs(session, listed), episodes, unrated),
        events=[EventView.model_validate(event) for event in repository.events(session, run_id, EVENTS)],
        spent=_spent(spent),
        failed_code=spent.code_failed,
        guest_calls=spent.guest_calls,
        models=model_part_rows(session, run_id) if spent.with_parts else (),
        judged=cost_of_run(session, run_id),
        in_use=row.Run.in_use,
        human=row.AgentConfiguration.human,
        unrated=unrated,
    )


@dataclass(frozen=True)
class _ResultParts:
    """Parts of the page that follow from the run's results."""

    phases: list[PhaseSeconds]
    losses: list[LossGroup]
    not_runnable: list[tuple[Reason, int]]
    machines: Machines


_PARTS: LruCache[ResultsKey, _ResultParts] = LruCache(500)
_MATRICES: LruCache[tuple[ResultsKey, str, str], Matrix] = LruCache(500)


def _parts_of(session: Session, run: Run) -> _ResultParts:
    key = results_key(run)
    return _parts(session, run.id) if key is None else _PARTS.get_or_make(key, lambda: _parts(session, run.id))


def _parts(session: Session, run_id: UUID) -> _ResultParts:
    return _ResultParts(
        phases=_phases(repository.phases(session, run_id), repository.untold(session, run_id)),
        losses=[loss_group(loss) for loss in repository.losses(session, run_id, REASONS)],
        not_runnable=[
            (Reason(ReasonCode(item.reason_code or ReasonCode.OTHER), item.reason), item.n)
            for item in repository.not_runnable(session, run_id)
        ],
        machines=_machines(repository.machines(session, run_id)),
    )


def _machines(row: AnyRow) -> Machines:
    return Machines(row.attempts, row.emulated, row.warning or "")


def matrix_of(session: Session, run: Run, row: str, column: str) -> Matrix:
    """The run's heat map."""
    key = results_key(run)
    if key is None:
        return _matrix(session, run.id, row, column)
    return _MATRICES.get_or_make((key, row, column), lambda: _matrix(session, run.id, row, column))


def unrated_episode(session: Session, run_id: UUID) -> UUID | None:
    """A person's ended episode that waits for their rating and whose result is hidden until then; else None."""
    desk = human_agent.desk(session, run_id)
    return desk.episode.id if desk.next is human_agent.NextAction.RATE and desk.episode is not None else None


def _episode_without_rating(session: Session, run_ids: Sequence[UUID]) -> UUID | None:
    return next((episode for run_id in run_ids if (episode := unrated_episode(session, run_id))), None)


def _waits(session: Session, run_id: UUID) -> list[tuple[str, int]]:
    """Licences that waiting episodes wait for, most needed first."""
    seats = licences.seats(session)
    counts: Counter[str] = Counter()
    for row in repository.waiting_by_licences(session, run_id):
        counts[shortage(row.licences, seats)] += row.n
    return [(reason, number) for reason, number in counts.most_common() if reason]


def _spent(row: AnyRow) -> Usage:
    counts = {name: int(getattr(row, name)) for name in ("calls", "input_tokens", "output_tokens", "cached_tokens")}
    return Usage(**counts, usd=row.usd, wait_seconds=row.wait_seconds, priced=not row.unpriced)


def event_words(event: EventView) -> str:
    """An event's data on one short line."""
    kind, data = event.kind, event.data
    if kind == "step":
        return f"{data.get('step', '')}: {short(str(data.get('explanation') or ''), 80)}".strip(": ")
    if kind == "attempt_opening":
        return short(str(data.get("doing") or ""), 120)
    moved = f"{data['from']} → {data['to']}" if data.get("from") and data.get("to") else ""
    named = [(key.replace("_", " "), data[key]) for key in EVENT_FIELDS if data.get(key) not in {None, ""}]
    options = [f"{name} {value_text(value)}" for name, value in named]
    return short(", ".join([moved, *options] if moved else options), 120)


def heat_map_labels(labels: LabelCounts, wish: RunPageQuery) -> tuple[str, str]:
    """Labels of rows and columns; most benchmarks have one difficulty, so that there is nothing to tell apart."""
    usual = DIFFICULTY if DIFFICULTY in labels and not wish.row else ""
    row = wish.row if wish.row in labels else DOMAIN
    column = usual if wish.column is None else wish.column
    return row, column if column in labels and column != row else ""


def _matrix(session: Session, run_id: UUID, row: str, column: str) -> Matrix:
    cells: dict[tuple[str, str], Counter[OutcomeStyle]] = defaultdict(Counter)
    for cell in repository.matrix(session, run_id, (row, column)):
        for key in product(cell.rows or [UNLABELLED], (cell.columns or [UNLABELLED]) if column else [""]):
            cells[key][OutcomeStyle(cell.look)] += cell.n
    return Matrix(
        row=row,
        column=column,
        rows=order_values({value for value, _ in cells}),
        columns=order_values({value for _, value in cells}),
        cells={key: HeatMapCell(OutcomeCounts(counts)) for key, counts in cells.items()},
    )


def _phases(rows: Sequence[AnyRow], untold: float) -> list[PhaseSeconds]:
    seconds = {**{row.key: float(row.seconds) for row in rows}, "lost": untold}
    spent = {name: duration for name in PHASES if (duration := seconds.get(name, 0.0)) > 0}
    total = sum(spent.values())
    return [PhaseSeconds(name, PHASES[name], duration, duration / total) for name, duration in spent.items()]


def loss_group(row: AnyRow) -> LossGroup:
    """From a row of `repositories.runs.runs_view.losses`."""
    return LossGroup(row.failure_class, row.failure_code, row.reason, row.attempts, row.episodes, row.lost, row.example)


def _episodes(
    session: Session, configs: Mapping[UUID, Mapping[str, Any]], rows: Sequence[AnyRow], unrated: UUID | None
) -> EpisodeList:
    wait_reasons = explain(session, [row.Episode for row in rows[:PAGE]])
    views = [
        episode_view(
            EpisodeSummary(row.Episode, row.Task, row.Attempt),
            configs[row.Episode.run_id],
            wait_reasons.get(row.Episode.id),
        )
        for row in rows[:PAGE]
    ]
    views = [without_result(view) if view.id == unrated else view for view in views]
    quarantined = quarantine.in_force(session, {view.task_id for view in views})
    return EpisodeList(views, views[-1].id if len(rows) > PAGE else None, quarantined)
