from backend.domain.evaluators.metrics.rules.infeasible import infeasible


class TestInfeasible:
    def test_never_gives_a_state_a_score(self) -> None:
        assert infeasible().value == 0.0
        assert infeasible(None, {}).value == 0.0
