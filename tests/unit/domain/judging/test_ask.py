from collections.abc import Mapping

import pytest

from backend.domain.errors import EvaluatorFailed, Invalid, ModelApiFailed, NotFound
from backend.domain.judging.ask import Question, judge
from backend.domain.judging.judgement import Judgement
from backend.domain.judging.prompt import LEFT_OUT
from backend.domain.model.judge_config import JudgeConfig
from backend.domain.ports.model import ModelReply
from tests.error_codes import raises_code
from tests.factories.judging import CONFIG, CRITERIA, answer, seen
from tests.fakes.models import Answer, FakeModels
from tests.fakes.votes import MemoryVotes

GOOD = answer(opened=(True, 1), final=True)


class JudgedAttempt:
    """A judge of an attempt of three steps."""

    def __init__(self, *answers: Answer, steps: int = 3, max_steps: int | None = None, **config: object) -> None:
        self.models = FakeModels(*answers)
        self.votes = MemoryVotes()
        self.steps, self.pictures = seen(steps)
        self.max_steps = max_steps
        self.config = JudgeConfig.model_validate({"model": "judge-1", **config})

    def judge(self, pictures: Mapping[str, bytes] | None = None) -> Judgement:
        question = Question(self.config, "Write hello.", CRITERIA, self.steps, self.max_steps)
        store = self.pictures if pictures is None else pictures

        def fetch(sha256: str) -> bytes:
            if sha256 not in store:
                raise NotFound(f"no artifact {sha256}")
            return store[sha256]

        return judge(question, lambda: self.models.client("e"), self.votes, fetch)

    @property
    def told(self) -> list[str]:
        """Text of the first request, with `[picture]` for each picture."""
        return [part.text or "[picture]" for part in self.models.asked[0].messages[1].parts]


class TestJudge:
    def test_asks_with_all_criteria_steps_and_pictures(self) -> None:
        asked = JudgedAttempt(GOOD)
        result = asked.judge()
        assert result.value("opened", CRITERIA).step == 1
        assert asked.told[0] == (
            "# The task\nWrite hello.\n\n# The criteria\n- `opened`: The note is open.\n- `final`: The note says hello."
            "\n\n# The steps"
        )
        assert asked.told[1:4] == ["The screen before step 0:", "[picture]", "Step 0: click 0, 1"]
        assert asked.told[-3:] == ["The screen in the end:", "[picture]", "Now give your verdicts."]
        request = asked.models.asked[0]
        assert (request.model, request.temperature, request.seed, request.tools[0].name) == (
            "judge-1",
            0.0,
            0,
            "give_verdicts",
        )

    def test_shows_no_more_pictures_than_it_may_and_none_larger(self) -> None:
        asked = JudgedAttempt(GOOD, steps=9, pictures=3, picture_side=320)
        result = asked.judge()
        assert result.pictures == (0, 4, 9)
        pictures = [part.image for part in asked.models.asked[0].messages[1].parts if part.image is not None]
        assert [(one.width, one.height) for one in pictures] == [(320, 240)] * 3
        assert sum(line.startswith("Step ") for line in asked.told) == 9

    def test_invalid_answer_is_retried_once(self) -> None:
        asked = JudgedAttempt(answer(opened=True), GOOD)
        result = asked.judge()
        assert [reply.problem for reply in result.votes[0].replies] == ["without a verdict: final", ""]
        assert result.value("final", CRITERIA).value == 1.0
        last = asked.models.asked[1].messages[-1].parts[0].text or ""
        assert "without a verdict: final" in last
        assert "opened, final" in last

    def test_two_invalid_answers_give_no_verdict(self) -> None:
        asked = JudgedAttempt("no idea", answer(opened=True, final=True, other=True))
        with raises_code(EvaluatorFailed, "judge_answer_invalid", mentions="not listed: other"):
            asked.judge()
        assert [reply.problem for _, _, reply in asked.votes.kept] == [
            "the answer is not one JSON object",
            "not listed: other",
        ]

    @pytest.mark.parametrize(
        ("said", "code", "mentions"),
        [
            (ModelApiFailed("the API is away"), "judge_failed", "the API is away"),
            (Invalid("too many pictures"), "judge_failed", "too many pictures"),
            (ModelReply(stop="refusal"), "judge_refused", ""),
        ],
    )
    def test_failing_model_gives_no_verdict(self, said: Answer, code: str, mentions: str) -> None:
        with raises_code(EvaluatorFailed, code, mentions=mentions):
            JudgedAttempt(said).judge()

    def test_a_picture_that_is_gone(self) -> None:
        asked = JudgedAttempt(GOOD)
        with raises_code(EvaluatorFailed, "picture_unreadable"):
            asked.judge(pictures={})
        assert asked.models.asked == []

    @pytest.mark.parametrize(
        ("steps", "max_steps", "shown"), [(15, 15, 16), (40, 40, 41), (40, 20, 21), (40, None, 20), (120, 120, 100)]
    )
    def test_shows_as_many_pictures_as_the_step_budget_and_says_how_many_it_left_out(
        self, steps: int, max_steps: int | None, shown: int
    ) -> None:
        """The screen before each step and in the end, which is one picture more than there are steps."""
        asked = JudgedAttempt(GOOD, steps=steps, max_steps=max_steps)
        judgement = asked.judge()
        missing = steps + 1 - shown
        assert (len(judgement.pictures), judgement.left_out) == (shown, missing)
        assert asked.told.count("[picture]") == shown
        assert asked.told.count(LEFT_OUT.format(number=missing, all=steps + 1)) == bool(missing)
        reasons = judgement.value("final", CRITERIA).reasons
        assert len(reasons) == 1 + bool(missing)
        assert not missing or f"{shown} of {steps + 1}" in reasons[1]

    def test_an_attempt_without_pictures(self) -> None:
        asked = JudgedAttempt(GOOD)
        asked.steps = tuple(step.model_copy(update={"picture": None}) for step in asked.steps)
        with raises_code(EvaluatorFailed, "picture_missing"):
            asked.judge()

    def test_no_criteria_is_refused(self) -> None:
        question = Question(CONFIG, "Write hello.", (), seen(1)[0])
        with raises_code(EvaluatorFailed, "task_has_no_criteria"):
            judge(question, FakeModels, MemoryVotes(), lambda _: b"")


class TestCache:
    def test_the_same_question_costs_nothing(self) -> None:
        asked = JudgedAttempt(GOOD)
        first = asked.judge()
        again = asked.judge()
        assert len(asked.models.asked) == 1
        assert again.votes[0].cached
        assert again.usage.usd == 0.0
        assert first.usage.usd > 0.0
        assert again.verdicts(CRITERIA) == first.verdicts(CRITERIA)

    def test_more_votes_ask_only_for_those_that_are_missing(self) -> None:
        asked = JudgedAttempt(GOOD, GOOD, answer(opened=False, final=False))
        asked.judge()
        asked.config = asked.config.model_copy(update={"votes": 3})
        result = asked.judge()
        assert [vote.cached for vote in result.votes] == [True, False, False]
        assert [request.seed for request in asked.models.asked] == [0, 1, 2]

    def test_a_broken_answer_is_asked_for_again(self) -> None:
        asked = JudgedAttempt("no", "no", GOOD)
        with pytest.raises(EvaluatorFailed):
            asked.judge()
        assert asked.judge().value("final", CRITERIA).value == 1.0

    @pytest.mark.parametrize(
        "change",
        [{"temperature": 0.3}, {"model": "judge-2"}, {"pictures": 2}, {"picture_side": 400}, {"endpoint": "other"}],
    )
    def test_other_judge_does_not_share_the_cache(self, change: dict[str, object]) -> None:
        asked = JudgedAttempt(GOOD, GOOD)
        first = asked.judge().input_sha256
        asked.config = asked.config.model_copy(update=change)
        assert asked.judge().input_sha256 != first
        assert len(asked.models.asked) == 2
