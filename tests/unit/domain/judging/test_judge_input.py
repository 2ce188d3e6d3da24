from hypothesis import given
from hypothesis import strategies as st

from backend.domain.judging.judge_input import JudgeInputStep, last_step, picture_positions
from tests.factories.judging import seen


class TestChosen:
    def test_all_where_they_fit(self) -> None:
        assert picture_positions(seen(3)[0], 4) == (0, 1, 2, 3)

    def test_evenly_with_both_ends(self) -> None:
        assert picture_positions(seen(10)[0], 3) == (0, 5, 10)

    def test_steps_without_a_picture_are_passed_over(self) -> None:
        steps = [step.model_copy(update={"picture": None}) if step.index in {0, 2} else step for step in seen(4)[0]]
        assert picture_positions(steps, 10) == (1, 3, 4)

    @given(number=st.integers(0, 60), most=st.integers(2, 30))
    def test_never_more_and_never_twice_the_same(self, number: int, most: int) -> None:
        step = seen(0)[0][0]
        result = picture_positions([step.model_copy(update={"index": index}) for index in range(number)], most)
        assert len(result) == min(number, most) == len(set(result))
        assert list(result) == sorted(result)
        assert not result or (result[0], result[-1]) == (0, number - 1)


class TestLastStep:
    def test_the_state_in_the_end_is_no_step(self) -> None:
        assert last_step(seen(3)[0]) == 2

    def test_an_agent_that_did_nothing(self) -> None:
        assert last_step([JudgeInputStep(index=0, final=True)]) is None
