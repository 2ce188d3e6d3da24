import pytest

from backend.domain.model.outcome_style import OutcomeCounts, OutcomeStyle, state_style, style_of


class TestLookOf:
    @pytest.mark.parametrize(
        ("state", "score", "ended_by", "look"),
        [
            ("scored", 1.0, "done", OutcomeStyle.PASS),
            ("scored", 1.0 - 1e-12, "steps", OutcomeStyle.PASS),
            ("scored", 0.5, "steps", OutcomeStyle.PARTIAL),
            ("scored", 0.0, "done", OutcomeStyle.FAIL),
            ("scored", 0.0, "infeasible", OutcomeStyle.FAIL),
            ("scored", 0.0, "steps", OutcomeStyle.AGENT),
            ("scored", 0.0, "agent_error", OutcomeStyle.AGENT),
            ("handed_in", None, "steps", OutcomeStyle.HANDEDIN),
            ("lost", None, None, OutcomeStyle.LOST),
            ("not_runnable", None, None, OutcomeStyle.NOTRUNNABLE),
            ("waiting", None, None, OutcomeStyle.WAITING),
        ],
    )
    def test_style_of_each_outcome(
        self, state: str, score: float | None, ended_by: str | None, look: OutcomeStyle
    ) -> None:
        assert style_of(state, score, ended_by) is look

    @pytest.mark.parametrize("score", [1.0, 0.5, 0.0, None])
    def test_assisted_episodes_are_never_counted_for_the_agent(self, score: float | None) -> None:
        assert style_of("scored", score, "steps", human_assisted=True) is OutcomeStyle.HELPED

    def test_lost_episode_is_lost_even_if_assisted(self) -> None:
        assert style_of("lost", None, None, human_assisted=True) is OutcomeStyle.LOST


class TestStateOf:
    def test_label_is_more_specific_than_the_style(self) -> None:
        assert state_style("scored", 1.0, "done", human_assisted=True).style is OutcomeStyle.HELPED
        assert state_style("scored", 0.0, "steps").label == "out of steps"
        assert state_style("scored", 0.5, "done").label == "partially solved, 0.50"
        assert state_style("lost", None, None, "model_api").label == "lost (model api)"
        assert state_style("lost", None, None).label == "lost"


class TestSplit:
    def test_text_lists_counts(self) -> None:
        split = OutcomeCounts(
            {OutcomeStyle.WAITING: 3, OutcomeStyle.PASS: 2, OutcomeStyle.RUNNING: 1, OutcomeStyle.LOST: 0}
        )
        assert (split.total, split.ended) == (6, 2)
        assert split.text() == "2 solved, 1 running, 3 waiting"
        assert OutcomeCounts({}).text() == "no episodes"

    def test_running_and_waiting_have_not_ended(self) -> None:
        assert OutcomeCounts({OutcomeStyle.PASS: 2}).ended == 2
        assert OutcomeCounts(dict.fromkeys(OutcomeStyle, 1)).ended == len(OutcomeStyle) - 2
