import pytest
from pydantic import ValidationError

from backend.domain.model.judge_config import JudgeConfig


class TestJudgeConfig:
    @pytest.mark.parametrize("votes", [0, 2, 4, 16])
    def test_the_number_of_votes_is_odd(self, votes: int) -> None:
        with pytest.raises(ValidationError):
            JudgeConfig(model="m", votes=votes)

    def test_judges_that_differ_in_votes_share_them(self) -> None:
        one, three = (JudgeConfig(model="m", votes=votes) for votes in (1, 3))
        assert one.of_one_vote() == three.of_one_vote()
        assert one.of_one_vote() != JudgeConfig(model="m", temperature=0.3).of_one_vote()
