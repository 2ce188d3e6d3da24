"""A team lead's board: only what is alike and complete is ranked; everything else says why not."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import select

from backend.db.models import Episode, Run, Task
from backend.domain.errors import NotFound
from backend.services.benchmarks.quarantine import quarantine_task
from backend.services.results.board_rows import BoardRow
from backend.services.results.leaderboards import BenchmarkBoard, BoardOptions, leaderboard
from backend.services.runs.runs import cancel_run
from tests.error_codes import raises_code
from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task
from tests.factories.team_board import FIFTEEN, SCALES, TASKS, play, scores, team_installation


@pytest.fixture(scope="module")
def lead(postgres_server: str) -> Iterator[World]:
    with team_installation(postgres_server) as installation:
        yield installation


def board(lead: World, **options: Any) -> BenchmarkBoard:
    shown: BenchmarkBoard = lead.do(leaderboard, "starter", options=BoardOptions(**options))
    return shown


def rows_by_name(shown: BenchmarkBoard) -> dict[str, list[BoardRow]]:
    by_name = {scale: name for name, scale in SCALES.items()}
    rows: dict[str, list[BoardRow]] = {}
    for row in shown.rows:
        rows.setdefault(by_name[row.agent.definition["image"]["scale"]], []).append(row)
    return rows


class TestRanked:
    def test_ranks_only_comparable_and_complete_rows(self, lead: World) -> None:
        shown = board(lead)
        assert [(row.agent.definition["image"]["scale"], row.standing.rank) for row in shown.rows if row.standing] == [
            (SCALES["beta"], 1),
            (SCALES["alpha"], 2),
        ]
        assert shown.conditions is not None
        assert shown.conditions.parts["steps"] == "15 steps"
        assert (shown.tasks.number, shown.tasks.not_runnable) == (TASKS, 0)

    def test_the_others_say_why(self, lead: World) -> None:
        reasons = sorted(
            (name, reason.code, reason.text)
            for name, rows in rows_by_name(board(lead)).items()
            for row in rows
            for reason in row.reasons
        )
        steps = "50 steps, this board has 15 steps"
        assert reasons == [
            ("alpha", "conditions", "1280x800, this board has 1920x1080"),
            ("alpha", "conditions", steps),
            ("alpha", "partial", "2 of 25 tasks"),
            ("beta", "conditions", steps),
            ("beta", "partial", "3 of 25 tasks"),
            ("delta", "partial", "8 of 25 tasks"),
            ("gamma", "conditions", steps),
            ("gamma", "lost", "8 % lost"),
            ("gamma", "partial", "1 of 25 tasks"),
        ]

    def test_passes_are_pooled(self, lead: World) -> None:
        (row,) = [row for row in rows_by_name(board(lead))["alpha"] if row.standing]
        passes = row.passes
        assert passes is not None
        assert (passes.passes, len(passes.runs), row.summary.counts.scored) == (3, 3, 75)
        # 10 tasks are solved three times, 2 twice, 2 once.
        assert row.summary.mean_score == pytest.approx(36 / 75)
        rates = {rate["k"]: (rate["at"][0], rate["hat"][0]) for rate in passes.pass_rates}
        assert rates[1] == (pytest.approx(36 / 75), pytest.approx(36 / 75))
        assert rates[2] == (pytest.approx((10 + 2 + 2 * 2 / 3) / 25), pytest.approx((10 + 2 / 3) / 25))
        assert rates[3] == (pytest.approx(14 / 25), pytest.approx(10 / 25))
        assert [round(run["mean"], 2) for run in passes.runs] == [0.4, 0.48, 0.56]

    def test_a_partial_run_that_repeats_lost_episodes_belongs_to_its_pass(self, lead: World) -> None:
        (row,) = [row for row in rows_by_name(board(lead))["beta"] if row.standing]
        assert row.passes is not None
        assert (row.passes.passes, row.passes.lost_share, row.summary.counts.lost) == (1, 0.0, 0)
        assert row.summary.mean_score == pytest.approx(17 / 25)
        assert row.missing_tasks == 0

    def test_breakdowns_are_of_all_passes(self, lead: World) -> None:
        (row,) = [row for row in rows_by_name(board(lead))["alpha"] if row.standing]
        (files,) = [cells["files"] for dimension, cells in row.by.items() if dimension == "domain"]
        assert files.counts.scored == 75


class TestChoices:
    def test_other_conditions_rank_their_own_rows(self, lead: World) -> None:
        known = {choice.conditions.parts["steps"]: choice for choice in board(lead).choices if choice.ranked}
        assert {steps: (choice.rows, choice.ranked) for steps, choice in known.items()} == {
            "15 steps": (4, 2),
            "50 steps": (3, 1),
        }
        fifty = board(lead, conditions=known["50 steps"].conditions.key)
        assert [row.reasons == [] for row in fifty.rows] == [True] + [False] * (len(fifty.rows) - 1)
        with raises_code(NotFound, "conditions_not_found"):
            board(lead, conditions="nothing")

    def test_common_tasks_only(self, lead: World) -> None:
        shown = board(lead, common=True)
        assert shown.common == 8
        ranked = [(name, rows[0]) for name, rows in rows_by_name(shown).items() if rows[0].standing]
        assert {name: row.summary.scored_tasks for name, row in ranked} == dict.fromkeys(SCALES, 8)
        assert {name: row.summary.mean_score for name, row in ranked} == {
            "alpha": pytest.approx((7 + 1 / 3 * 2) / 8), "beta": 1.0, "gamma": 1.0, "delta": 1.0,
        }  # fmt: skip

    def test_common_tasks_of_chosen_rows(self, lead: World) -> None:
        chosen = [rows[0].agent.id for name, rows in rows_by_name(board(lead)).items() if name in {"alpha", "beta"}]
        shown = board(lead, common=True, configurations=chosen)
        assert (shown.common, sum(row.standing is not None for row in shown.rows)) == (25, 2)
        assert {reason.code for row in shown.rows for reason in row.reasons} == {"not_chosen", "conditions"}


class TestBoardTasks:
    """Where programs are missing, the board has the largest set that one complete run covers."""

    @pytest.fixture
    def lacking(self, installation: World, monkeypatch: pytest.MonkeyPatch) -> World:
        monkeypatch.setattr("backend.services.results.leaderboards.FLOORS", frozenset())
        tasks = [make_task("files", f"t{number}") for number in range(4)]
        other = make_task("files", "t9", requires=("no-such-program",))
        installation.worker()
        installation.benchmark(make_benchmark(*tasks, other))
        return installation

    def test_names_what_was_not_runnable(self, lacking: World) -> None:
        play(lacking, "alpha", scores(2, of=4))
        play(lacking, "beta", scores(3, of=3), tasks=("files/t[0-2]",))
        lacking.roll_up()
        shown = board(lacking)
        assert (shown.tasks.number, shown.tasks.not_runnable) == (4, 1)
        rows = rows_by_name(shown)
        assert rows["alpha"][0].standing is not None
        assert [reason.text for reason in rows["beta"][0].reasons] == ["3 of 4 tasks"]

    def test_no_complete_run_leaves_the_whole_set(self, lacking: World) -> None:
        play(lacking, "beta", scores(3, of=3), tasks=("files/t[0-2]",))
        lacking.roll_up()
        shown = board(lacking)
        assert (shown.tasks.number, [row.standing for row in shown.rows]) == (5, [None])

    def test_repeats_of_a_selection_do_not_decide_the_tasks(self, lacking: World) -> None:
        # Three tasks have no episode; three episodes of one task could not run.
        play(lacking, "alpha", scores(3, of=3), tasks=("files/t0", "files/t9"), repeats=3)
        lacking.roll_up()
        shown = board(lacking)
        assert (shown.tasks.number, shown.tasks.not_runnable) == (5, 0)
        assert [reason.text for row in shown.rows for reason in row.reasons] == ["1 of 5 tasks"]

    def test_a_cancelled_pass_does_not_hide_a_complete_one(self, lacking: World) -> None:
        play(lacking, "alpha", scores(2, of=4))
        same = lacking.submit("random", budget=FIFTEEN, image={"scale": SCALES["alpha"]})
        lacking.do(cancel_run, same.id)
        lacking.roll_up()
        shown = board(lacking)
        assert (shown.tasks.number, shown.tasks.not_runnable) == (4, 1)
        assert [row.standing is not None for row in shown.rows] == [True]

    def test_tasks_in_quarantine_are_not_awaited(self, lacking: World) -> None:
        play(lacking, "alpha", scores(2, of=4))
        with lacking.work() as session:
            _, actor = lacking.who(session)
            aside = session.scalars(select(Task).where(Task.name == "t3"))
            for task in aside:
                quarantine_task(session, task.id, "its check is wrong", actor)
        lacking.roll_up()
        assert (board(lacking).tasks.number, board(lacking).tasks.not_runnable) == (3, 1)
        with lacking.work() as session:
            not_runnable = session.scalars(select(Task.id).where(Task.name == "t9")).one()
            quarantine_task(session, not_runnable, "nobody has its program", lacking.who(session)[1])
        assert lacking.roll_up() == 1
        assert (board(lacking).tasks.number, board(lacking).tasks.not_runnable) == (3, 0)


class TestLowerBound:
    def test_says_where_lost_episodes_decide_the_order(
        self, installation: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("backend.services.results.leaderboards.FLOORS", frozenset())
        installation.worker()
        installation.benchmark(make_benchmark(*(make_task("files", f"t{number:02}") for number in range(TASKS))))
        play(installation, "alpha", scores(12, lost=1))
        play(installation, "beta", scores(12))
        installation.roll_up()
        shown = board(installation)
        assert shown.orders_differ
        rows = rows_by_name(shown)
        assert rows["alpha"][0].summary.mean_score == pytest.approx(12 / 24)
        ranks = {name: (each[0].standing and each[0].standing.rank, each[0].lower_rank) for name, each in rows.items()}
        assert ranks == {"alpha": (1, 1), "beta": (2, 1)}

    def test_counts_losses_on_common_tasks(self, installation: World, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("backend.services.results.leaderboards.FLOORS", frozenset())
        installation.worker()
        installation.benchmark(make_benchmark(make_task("files", "a"), make_task("files", "b")))
        play(installation, "alpha", [1.0, 1.0])
        play(installation, "alpha", [None, 1.0])
        installation.roll_up()
        (row,) = board(installation, common=True).rows
        assert (row.summary.counts.lost, row.primary and row.primary.mean, row.lower) == (1, 1.0, 0.75)


def test_repeats_are_passes(installation: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.services.results.leaderboards.FLOORS", frozenset())
    installation.worker()
    installation.benchmark(make_benchmark(make_task("files", "a"), make_task("files", "b")))
    play(installation, "alpha", [1.0, 0.0, 1.0, 1.0], repeats=2)
    installation.roll_up()
    (row,) = board(installation).rows
    assert row.passes is not None
    assert (row.passes.passes, [rate["k"] for rate in row.passes.pass_rates]) == (2, [1, 2])
    assert row.passes.pass_rates[1]["hat"][0] == 0.5


def test_a_cell_counts_each_task_once_where_most_have_one_result(
    installation: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.services.results.leaderboards.FLOORS", frozenset())
    installation.worker()
    installation.benchmark(make_benchmark(make_task("files", "a"), make_task("files", "b"), make_task("editor", "c")))
    run = play(installation, "alpha", [0.0] * 6, repeats=2)
    with installation.work() as session:
        for episode, task in session.execute(select(Episode, Task).join(Task).where(Episode.run_id == run)).all():
            if task.name == "a":
                episode.score, episode.solved = 1.0, True
            else:
                episode.human_assisted = episode.repeat_index > 1
        session.get_one(Run, run).rollup_stale = True
    installation.roll_up()
    (row,) = board(installation).rows
    assert row.passes is not None
    assert row.passes.passes == 1
    assert row.summary.mean_score == pytest.approx(1 / 3)
    assert row.by["domain"]["files"].mean_score == pytest.approx(1 / 2)


def test_marked_episodes_are_counted(installation: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from backend.domain.machines.desktop_end import DesktopEnd, EndCause
    from backend.services.attempts import attempts

    monkeypatch.setattr("backend.services.results.leaderboards.FLOORS", frozenset())
    installation.benchmark(make_benchmark(make_task("files", "a"), make_task("files", "b")))
    worker = installation.worker(slots=1)
    installation.submit("random", image={"scale": SCALES["alpha"]})
    first = installation.must_claim(worker)
    end = DesktopEnd(cause=EndCause.SHUT_DOWN).model_dump(mode="json")
    installation.run_to_evaluation(first)
    installation.do(attempts.note_desktop_end, first.fence, end)
    installation.score_only(first, 0.0)
    installation.roll_up()
    (row,) = board(installation).rows
    assert row.passes is not None
    assert (row.passes.ended_desktops, row.passes.flagged) == (1, 0)
