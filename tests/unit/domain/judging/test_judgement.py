from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.judging.criteria import Criterion
from backend.domain.judging.judgement import Judgement, JudgeReply, Vote
from backend.domain.model.score import MetricValue
from backend.domain.model.trajectory import Usage
from tests.error_codes import raises_code
from tests.factories.judging import CONFIG, CRITERIA, answer, judgement


class TestValue:
    def test_one_vote(self) -> None:
        result = judgement(answer(opened=(True, 1), final=False))
        assert result.value("opened", CRITERIA) == MetricValue(
            value=1.0, reasons=("opened: seen",), step=1, progress=1.0
        )
        assert result.value("final", CRITERIA) == MetricValue(value=0.0, reasons=("final: seen",), progress=0.0)

    def test_the_majority_of_three(self) -> None:
        result = judgement(
            answer(opened=(True, 2), final=True),
            answer(opened=False, final=False),
            answer(opened=(True, 0), final=False),
        )
        opened = result.value("opened", CRITERIA)
        assert (opened.value, opened.step) == (1.0, 0)
        assert opened.progress == pytest.approx(2 / 3)
        assert opened.reasons == ("2 of 3 votes of judge-1: opened: seen",)
        final = result.value("final", CRITERIA)
        assert (final.value, final.step) == (0.0, None)
        assert final.progress == pytest.approx(1 / 3)

    def test_steps_of_votes_that_lost_do_not_count(self) -> None:
        result = judgement(*[answer(opened=(True, step), final=False) for step in (2, 1, 0)])
        assert result.value("opened", CRITERIA).step == 1

    @pytest.mark.parametrize(
        ("damage", "code", "mentions"),
        [
            ({"criteria": CRITERIA[:1]}, "judge_evidence_mismatch", ""),
            (
                {"criteria": (CRITERIA[0], Criterion(name="final", text="Another state."))},
                "judge_evidence_mismatch",
                "",
            ),
            ({"judge": CONFIG.model_copy(update={"votes": 3})}, "judge_evidence_mismatch", "3 votes"),
            (
                {"votes": (Vote(number=0, replies=(JudgeReply(text=answer(opened=True)),)),)},
                "judge_answer_invalid",
                "final",
            ),
        ],
    )
    def test_malformed_judgements_have_no_value(self, damage: dict[str, Any], code: str, mentions: str) -> None:
        with raises_code(EvaluatorFailed, code, mentions=mentions):
            judgement(answer(opened=True, final=True), **damage).value("final", CRITERIA)

    def test_a_criterion_that_was_not_listed(self) -> None:
        with raises_code(EvaluatorFailed, "judge_evidence_mismatch", mentions="saved"):
            judgement(answer(opened=True, final=True)).value("saved", CRITERIA)


class TestReading:
    def test_reads_what_it_wrote(self) -> None:
        told = judgement(answer(opened=True, final=True))
        assert Judgement.from_evidence(told.model_dump(mode="json")) == told

    @pytest.mark.parametrize("data", [None, [], {}, {"judge": {"model": "m"}}])
    def test_replies_without_a_judgement(self, data: object) -> None:
        with raises_code(EvaluatorFailed, "evidence_damaged"):
            Judgement.from_evidence(data)


class TestUsage:
    def test_usage_includes_requests_with_malformed_replies(self) -> None:
        spent = JudgeReply(text="x", usage=Usage(usd=0.5, calls=1))
        told = judgement(
            "", "", votes=(Vote(number=0, replies=(spent, spent)), Vote(number=1, replies=(spent,), cached=True))
        )
        assert (told.usage.usd, told.usage.calls) == (1.0, 2)
