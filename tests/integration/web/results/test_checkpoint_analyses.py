"""WindowsWorld's analyses of runs in a database, as service, endpoint, page and table."""

from uuid import UUID, uuid4

import pytest
from starlette.testclient import TestClient

from backend.db.repositories.runs import progress_view
from backend.domain.errors import Invalid, NotFound
from backend.domain.model.score import Evaluation, PartResult
from backend.domain.model.task import PartKind
from backend.services.attempts import attempts
from backend.services.results import leaderboards
from backend.services.results.checkpoint_analyses import AnalysesView, analyses
from backend.services.scheduling import claims
from tests.error_codes import raises_code
from tests.factories.records import World, capabilities
from tests.integration.starter.harness import in_form

NAME = "starter-windowsworld"
PROGRAMS = ("xfce4-terminal", "mousepad", "galculator", "curl")
TASKS = ("it_administrator/start_it_l1_001", "accountant/start_acc_l2_004", "sales_manager/start_sal_l4_008")
PAGE = {"Accept": "text/html"}


def scored(world: World, found: dict[str, tuple[float | None, float]], variant: str | None = None) -> UUID:
    """A run of those tasks, each with its (S_int, S_final)."""
    worker = world.worker(capabilities=capabilities(PROGRAMS))
    run = world.submit("noop", NAME, tasks=list(found), variant=variant)
    for _ in found:
        claim = world.must_claim(worker)
        s_int, s_final = found[str(claim.task.key)]
        world.run_to_evaluation(claim, 3)
        measures = {"score": s_final, "S_final": s_final} | ({} if s_int is None else {"S_int": s_int})
        parts = [PartResult(name="c1", kind=PartKind.CHECKPOINT, value=1.0)]
        parts += [PartResult(name="a1", kind=PartKind.ASSERTION, value=0.0)]
        verdict = Evaluation(score=s_final, measures=measures, parts=tuple(parts))
        world.do(attempts.finish_scored, claim.fence, verdict, [], {})
        world.do(claims.release_lease, claim.lease_id, "done")
    run_id: UUID = run.id
    return run_id


@pytest.fixture
def measured(installation: World) -> tuple[World, UUID, UUID]:
    installation.benchmark(in_form("windowsworld"), name=NAME)
    en = scored(installation, dict(zip(TASKS, ((1.0, 1.0), (0.5, 0.0), (None, 1.0)), strict=True)))
    cn = scored(installation, {TASKS[0]: (1 / 3, 0.0)}, variant="language=cn")
    installation.roll_up()
    return installation, en, cn


class TestService:
    def test_analyzes_one_run(self, measured: tuple[World, UUID, UUID]) -> None:
        world, en, _ = measured
        found: AnalysesView = world.do(analyses, NAME, [en])
        (run,) = found.runs
        assert run.s_int is not None
        assert run.s_final is not None
        assert (run.s_int.value, run.s_int.tasks) == (0.75, 2)
        assert run.s_int_pooled == pytest.approx((3 + 1) / (3 + 2))
        assert run.s_final.value == pytest.approx(2 / 3)
        assert run.s_final.tasks == 3
        assert [(gap.key, gap.difference) for gap in run.by_level] == [("L1", 0.0), ("L2", 0.5)]
        assert {gap.key for gap in run.by_persona} == {"IT Administrator", "Accountant"}
        assert [(gap.key, gap.tasks) for gap in run.by_apps] == [("1", 1), ("2", 1)]
        assert [gap.level for gap in run.steps] == ["L1", "L2", "L4"]
        assert run.latency is not None

    def test_pools_all_passes_as_the_board_does(self, measured: tuple[World, UUID, UUID]) -> None:
        world, en, _ = measured
        scored(world, {TASKS[0]: (0.0, 0.0), TASKS[1]: (0.0, 0.0)})
        world.roll_up()
        shown = world.do(analyses, NAME)
        (run,) = [row for row in shown.runs if not row.variant]
        (row,) = [row for row in world.do(leaderboards.leaderboard, NAME).rows if en in row.runs]
        assert (run.run_id, run.episodes, len(row.runs)) == (en, 5, 2)
        # The first task is half solved, the second never, the third always.
        assert run.s_final
        assert run.s_final.value == pytest.approx(1.5 / 3)
        assert row.primary
        assert row.primary.mean == pytest.approx(1.5 / 3)
        assert [(level.s_final_en, level.s_final_cn) for level in shown.languages[0].levels] == [(0.5, 0.0)]

    def test_compares_both_languages(self, measured: tuple[World, UUID, UUID]) -> None:
        world, en, cn = measured
        (pair,) = world.do(analyses, NAME).languages
        assert (pair.run_en, pair.run_cn) == (en, cn)
        (level,) = pair.levels
        assert (level.level, level.tasks) == ("L1", 1)
        assert (level.s_int_difference, level.s_final_difference) == (pytest.approx(-2 / 3), -1.0)

    def test_a_foreign_run_and_a_foreign_form_are_refused(self, measured: tuple[World, UUID, UUID]) -> None:
        world, _, _ = measured
        with raises_code(NotFound, "run_not_ranked"):
            world.do(analyses, NAME, [uuid4()])
        with raises_code(Invalid, "wrong_benchmark_kind"):
            world.do(analyses, "starter")

    def test_assertions_are_excluded_from_the_pooled_measure(self, measured: tuple[World, UUID, UUID]) -> None:
        world, en, _ = measured
        board = world.do(leaderboards.leaderboard, NAME)
        (row,) = [row for row in board.rows if row.run.id == en]
        assert (row.means["parts"].mean, row.means["parts"].n) == (1.0, 3)


class TestEdge:
    def test_endpoint_returns_the_analysis(self, measured: tuple[World, UUID, UUID], fresh: TestClient) -> None:
        _, en, _ = measured
        body = fresh.get(f"/api/v1/benchmarks/{NAME}/analyses?run={en}").json()
        assert body["runs"][0]["s_int"] == {"value": 0.75, "tasks": 2}
        assert body["runs"][0]["by_level"][1]["difference"] == 0.5
        assert fresh.get("/api/v1/benchmarks/starter/analyses").status_code == 422

    def test_page_and_csv_tables_agree(self, measured: tuple[World, UUID, UUID], fresh: TestClient) -> None:
        _, en, _ = measured
        text = fresh.get(f"/benchmarks/{NAME}/analyses?run={en}", headers=PAGE).text
        assert "by number of applications" in text
        assert "+50.0" in text
        assert f"level.csv?run={en}" in text
        assert f"/benchmarks/{NAME}/analyses" in fresh.get(f"/leaderboards/{NAME}", headers=PAGE).text
        every = fresh.get(f"/benchmarks/{NAME}/analyses", headers=PAGE)
        assert every.status_code == 200
        assert "language=cn" in every.text
        table = fresh.get(f"/benchmarks/{NAME}/analyses/languages.csv").text.splitlines()
        assert table[0].startswith("configuration,run_en,run_cn,level,s_int_en")
        assert len(table) == 2

    def test_page_without_runs_says_so(self, installation: World, fresh: TestClient) -> None:
        installation.benchmark(in_form("windowsworld"), name=NAME)
        assert "no-runs" in fresh.get(f"/benchmarks/{NAME}/analyses", headers=PAGE).text


class TestProcess:
    def test_assertions_are_excluded_from_progress(self, measured: tuple[World, UUID, UUID]) -> None:
        world, en, _ = measured
        assert [row.listed for row in world.do(progress_view.progress_rows, en)] == [1, 1, 1]
