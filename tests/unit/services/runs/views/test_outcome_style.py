import pytest

from backend.services.runs.views.outcome_style import Look, Split, look_of, state_of


class TestLookOf:
    @pytest.mark.parametrize(
        ("state", "score", "ended_by", "look"),
        [
            ("scored", 1.0, "done", Look.PASS),
            ("scored", 1.0 - 1e-12, "steps", Look.PASS),
            ("scored", 0.5, "steps", Look.PARTIAL),
            ("scored", 0.0, "done", Look.FAIL),
            ("scored", 0.0, "infeasible", Look.FAIL),
            ("scored", 0.0, "steps", Look.AGENT),
            ("scored", 0.0, "agent_error", Look.AGENT),
            ("handed_in", None, "steps", Look.HANDEDIN),
            ("lost", None, None, Look.LOST),
            ("not_runnable", None, None, Look.NOTRUNNABLE),
            ("waiting", None, None, Look.WAITING),
        ],
    )
    def test_each_kind(self, state: str, score: float | None, ended_by: str | None, look: Look) -> None:
        assert look_of(state, score, ended_by) is look


class TestStateOf:
    def test_words_say_more_than_the_kind(self) -> None:
        assert state_of("scored", 0.0, "steps").words == "out of steps"
        assert state_of("scored", 0.5, "done").words == "partly solved, 0.50"
        assert state_of("lost", None, None, "model_api").words == "lost (model api)"


class TestSplit:
    def test_words_and_sums(self) -> None:
        split = Split({Look.WAITING: 3, Look.PASS: 2, Look.RUNNING: 1, Look.LOST: 0})
        assert (split.total, split.ended) == (6, 2)
        assert split.words() == "2 solved, 1 running, 3 waiting"
        assert Split({}).words() == "no episodes"
