import json
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.benchmarks import lint
from backend.domain.drafts.content import task_of
from backend.domain.drafts.proposals import (
    MOST_CHARACTERS,
    ProposalRequest,
    prompt_hash,
    read_proposals,
    request_of,
    summary,
)
from backend.domain.errors import Invalid
from tests.error_codes import raises_code
from tests.factories.drafts import proposal

WANTED = ProposalRequest(persona="A librarian.", count=2, model="m", programs=("mousepad",), metrics=("exact_match",))


class TestRequestOf:
    def test_says_persona_names_and_number(self) -> None:
        text = request_of(WANTED).messages[1].parts[0].text or ""
        assert "Persona: A librarian.\nTasks: 2" in text
        assert "Programs: mousepad\nSet-up steps: none" in text

    def test_example_in_the_prompt_is_valid(self) -> None:
        registry.load()
        text = request_of(WANTED).messages[1].parts[0].text or ""
        example = text.split("An answer looks like this:\n")[1].split("\n\nPersona")[0]
        assert [lint(task_of(one)) for one in read_proposals(example)] == [[]]

    def test_the_hash_is_of_everything_that_is_asked(self) -> None:
        hashes = {
            prompt_hash(request_of(WANTED.model_copy(update=change)))
            for change in ({}, {"persona": "A cook."}, {"temperature": 0.5}, {"model": "n"})
        }
        assert len(hashes) == 4


class TestReadProposals:
    def test_drafts_without_a_solution(self) -> None:
        (result,) = read_proposals(json.dumps({"drafts": [proposal()]}))
        assert (result.key, result.oracle, result.feasible) == ("library/overdue", (), True)

    def test_a_fence_is_left_aside(self) -> None:
        assert len(read_proposals("```json\n" + json.dumps({"drafts": [proposal()]}) + "\n```")) == 1

    @pytest.mark.parametrize(
        ("change", "path"),
        [
            ({"oracle": []}, "drafts.0.oracle"),
            ({"name": "two words"}, "drafts.0.name"),
            ({"checks": []}, "drafts.0.checks"),
            ({"difficulty": "tricky"}, "drafts.0.difficulty"),
            ({"setup": [{"parameters": {}}]}, "drafts.0.setup.0.type"),
        ],
    )
    def test_a_key_more_or_a_wrong_value_is_refused(self, change: dict[str, Any], path: str) -> None:
        with pytest.raises(Invalid) as told:
            read_proposals(json.dumps({"drafts": [proposal(**change)]}))
        assert told.value.path == path

    @pytest.mark.parametrize("text", ["", "Here you are!", "[1]", '{"drafts": []}', "[" * 5000, '{"drafts": NaN}'])
    def test_answer_without_drafts_is_invalid(self, text: str) -> None:
        with pytest.raises(Invalid):
            read_proposals(text)

    @pytest.mark.parametrize(("text", "words"), [("\ud800", "lone surrogate"), ("\x00", "NUL")])
    def test_proposals_that_do_not_fit_a_draft(self, text: str, words: str) -> None:
        """JSON's escapes can say it."""
        setup = [{"type": "launch", "parameters": {"command": [text]}}]
        with raises_code(Invalid, "invalid_draft", mentions=words):
            read_proposals(json.dumps({"drafts": [proposal(setup=setup)]}))

    def test_too_long_answer_is_invalid(self) -> None:
        with raises_code(Invalid, "invalid_model_answer"):
            read_proposals(" " * (MOST_CHARACTERS + 1))


class TestSaid:
    def test_summary_lists_written_and_rejected_drafts(self) -> None:
        assert summary(["a/b"], ["taken"]) == "wrote a/b; left out: taken"
        assert summary([], []) == "wrote nothing"
