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

    @pytest.mark.parametrize(
        ("pictures", "max_steps", "most"),
        [(None, None, 20), (None, 1, 2), (None, 99, 100), (None, 100, 100), (7, 50, 7), (7, None, 7)],
    )
    def test_pictures_are_as_configured_else_one_per_step_and_the_end(
        self, pictures: int | None, max_steps: int | None, most: int
    ) -> None:
        assert JudgeConfig(model="m", pictures=pictures).most_pictures(max_steps) == most

    def test_votes_once_without_chance_unless_configured(self) -> None:
        assert JudgeConfig(model="m").model_dump(exclude_none=True) == {
            "endpoint": "openai",
            "model": "m",
            "temperature": 0.0,
            "votes": 1,
            "picture_side": 1280,
            "max_tokens": 4000,
        }
