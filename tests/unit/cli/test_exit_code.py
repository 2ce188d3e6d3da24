import pytest

from backend.cli.errors import ExitCode
from backend.cli.exit_code import judge, with_regression
from tests.unit.cli.samples import run


class TestJudge:
    def test_all_scored_without_a_threshold_has_passed(self) -> None:
        assert judge(run(scored=4, solved=0), None).code is ExitCode.PASSED

    def test_lost_episodes_without_a_threshold_are_infrastructure(self) -> None:
        assert judge(run(scored=3, lost=1, solved=3), None).code is ExitCode.INFRASTRUCTURE

    def test_a_cancelled_run_is_not_comparable(self) -> None:
        assert judge(run(scored=4, solved=4, status="cancelled"), 0.1).code is ExitCode.INFRASTRUCTURE

    def test_no_scored_episode_is_an_infrastructure_error(self) -> None:
        assert judge(run(not_runnable=4), 0.0).code is ExitCode.INFRASTRUCTURE

    @pytest.mark.parametrize(
        ("solved", "scored", "lost", "wanted", "code"),
        [
            (3, 4, 0, 0.75, ExitCode.PASSED),
            (3, 4, 0, 0.76, ExitCode.THRESHOLD_MISSED),
            (1, 3, 0, 1 / 3, ExitCode.PASSED),
            # One lost of four: between 0.5 and 0.75.
            (2, 3, 1, 0.5, ExitCode.PASSED),
            (2, 3, 1, 0.6, ExitCode.INFRASTRUCTURE),
            (2, 3, 1, 0.75, ExitCode.INFRASTRUCTURE),
            (2, 3, 1, 0.8, ExitCode.THRESHOLD_MISSED),
            (0, 0, 2, 0.5, ExitCode.INFRASTRUCTURE),
        ],
    )
    def test_lost_episodes_matter_only_if_they_could_decide(
        self, solved: int, scored: int, lost: int, wanted: float, code: ExitCode
    ) -> None:
        assert judge(run(solved=solved, scored=scored, lost=lost), wanted).code is code


class TestWithRegression:
    @pytest.mark.parametrize(
        ("passed", "solved", "lost", "fail_under", "code"),
        [
            (True, 4, 0, None, ExitCode.PASSED),
            (False, 4, 0, None, ExitCode.THRESHOLD_MISSED),
            (None, 4, 0, None, ExitCode.INFRASTRUCTURE),
            (True, 1, 0, 0.5, ExitCode.THRESHOLD_MISSED),
            (False, 4, 1, None, ExitCode.THRESHOLD_MISSED),
            (True, 4, 1, None, ExitCode.INFRASTRUCTURE),
            (True, 4, 1, 0.0, ExitCode.PASSED),
        ],
    )
    def test_the_stricter_one_decides(
        self, *, passed: bool | None, solved: int, lost: int, fail_under: float | None, code: ExitCode
    ) -> None:
        reason = judge(run(scored=4, solved=solved, lost=lost), fail_under)
        assert with_regression(reason, {"passed": passed, "sentence": "No regression."}).code is code
