"""Rates by core operation: tasks that are one, and longer tasks that need some."""

import pytest

from backend.services.results import core_operations
from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task

SCORES = {"files/crop": 1.0, "files/blur": 0.0, "files/both": 1.0, "files/long": 0.0, "files/plain": 1.0}


@pytest.fixture
def scored(installation: World) -> World:
    """One run of five tasks: two operations, two longer tasks, one task that names none."""
    tasks = [
        make_task(name="crop", level="L1", extra={"operations": ["crop"]}),
        make_task(name="blur", level="L1", extra={"operations": ["blur"]}),
        make_task(name="both", level="L2", extra={"operations": ["crop", "blur"]}),
        make_task(name="long", level="L3", extra={"operations": ["crop"]}),
        make_task(name="plain"),
    ]
    installation.benchmark(make_benchmark(*tasks))
    worker = installation.worker()
    installation.submit()
    for _ in tasks:
        claim = installation.must_claim(worker)
        installation.score(claim, SCORES[str(claim.task.key)])
    return installation


class TestOperationBoard:
    def test_alone_and_within(self, scored: World) -> None:
        board = scored.do(core_operations.operation_board, "starter")
        assert [(one.name, one.alone, one.within) for one in board.operations] == [("blur", 1, 1), ("crop", 1, 2)]
        blur, crop = board.rows[0].cells
        assert blur.alone and blur.within and crop.alone and crop.within  # noqa: PT018 - all are there
        assert (blur.alone.success_rate, blur.within.success_rate) == (0.0, 1.0)
        assert (crop.alone.success_rate, crop.within.success_rate) == (1.0, 0.5)
        assert (crop.within.counts.scored, crop.within.tasks) == (2, 2)
        assert crop.within.success_interval is not None

    def test_passes_are_pooled(self, scored: World) -> None:
        second, worker = scored.submit(), scored.worker("w2", node="n2")
        while (claim := scored.claim(worker)) is not None:
            scored.score(claim, 1.0 - SCORES[str(claim.task.key)])
        scored.roll_up()
        (row,) = scored.do(core_operations.operation_board, "starter").rows
        assert (len(row.runs), second.id in row.runs) == (2, True)
        blur, crop = row.cells
        assert blur.alone and crop.within  # noqa: PT018 - both are there
        assert (blur.alone.counts.scored, blur.alone.tasks, blur.alone.success_rate) == (2, 1, 0.5)
        assert (crop.within.counts.scored, crop.within.success_rate) == (4, 0.5)

    def test_a_task_counts_once_however_many_passes_it_has(self, scored: World) -> None:
        worker = scored.worker("w2", node="n2")
        scored.submit(tasks=("files/both",))
        scored.score(scored.must_claim(worker), 1.0)
        scored.roll_up()
        (row,) = scored.do(core_operations.operation_board, "starter").rows
        crop = row.cells[1]
        # Three episodes of two tasks: one is solved twice, the other never.
        assert crop.within
        assert (crop.within.counts.scored, crop.within.success_rate) == (3, 0.5)

    def test_operation_table_has_alone_and_within_rows(self, scored: World) -> None:
        board = scored.do(core_operations.operation_board, "starter")
        rows = [dict(zip(core_operations.HEAD, row, strict=True)) for row in core_operations.rows(board)]
        assert [(row["operation"], row["where"], row["scored"]) for row in rows] == [
            ("blur", "alone", 1),
            ("blur", "within", 1),
            ("crop", "alone", 1),
            ("crop", "within", 2),
        ]
        figures = ("tasks", "episodes", "lost", "success_rate", "mean_score")
        assert [rows[3][name] for name in figures] == [2, 2, 0, 0.5, 0.5]
        for name in ("success", "mean"):
            low, high = (float(str(rows[3][f"{name}_{end}"])) for end in ("low", "high"))
            assert 0.0 < low < 0.5 < high < 1.0

    def test_benchmark_without_operations_has_an_empty_board(self, ready: World) -> None:
        board = ready.do(core_operations.operation_board, "starter")
        assert (board.operations, board.rows) == ([], [])

    def test_operation_without_a_core_task_has_no_alone_figure(self, installation: World) -> None:
        installation.benchmark(make_benchmark(make_task(level="L2", extra={"operations": ["crop"]})))
        worker = installation.worker()
        installation.submit()
        installation.score(installation.must_claim(worker))
        board = installation.do(core_operations.operation_board, "starter")
        assert board.rows[0].cells[0].alone is None
        assert board.rows[0].cells[0].within is not None
