import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain import registry
from backend.domain.benchmarks import lint
from backend.domain.drafts.content import MOST_BYTES, DraftContent, missing, read_content, task_of
from backend.domain.errors import Invalid
from backend.domain.model.task import DifficultySource
from tests.error_codes import raises_code
from tests.factories.drafts import make_content

TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)


class TestReadContent:
    @given(instruction=TEXTS, apps=st.lists(TEXTS.filter(bool), max_size=3))
    def test_gives_back_what_was_written(self, instruction: str, apps: list[str]) -> None:
        made = make_content(instruction=instruction, apps=tuple(apps))
        assert read_content(made.model_dump(mode="json")) == made

    @pytest.mark.parametrize(
        ("wrong", "path"),
        [
            ({"name": "no blanks"}, "name"),
            ({"domain": "../etc"}, "domain"),
            ({"max_steps": 0}, "max_steps"),
            ({"colour": "red"}, "colour"),
            ({"setup": [{"parameters": {}}]}, "setup.0.type"),
            ({"assets": {"a.txt": "short"}}, "assets.a.txt"),
        ],
    )
    def test_says_where_it_is_wrong(self, wrong: dict[str, object], path: str) -> None:
        with pytest.raises(Invalid) as told:
            read_content({"domain": "a", "name": "b", **wrong})
        assert told.value.path == path

    def test_too_large_draft_is_invalid(self) -> None:
        with raises_code(Invalid, "invalid_draft", mentions=("256", "KiB")):
            read_content({"domain": "a", "name": "b", "instruction": "x" * MOST_BYTES})

    @pytest.mark.parametrize("text", ["x\x00", "x\\\x00"])
    def test_refuses_what_no_database_keeps(self, text: str) -> None:
        with raises_code(Invalid, "invalid_draft", mentions="NUL"):
            read_content({"domain": "a", "name": "b", "instruction": text})

    def test_takes_the_escape_as_text(self) -> None:
        assert read_content({"domain": "a", "name": "b", "instruction": r"print \u0000"}).instruction == r"print \u0000"

    def test_refuses_half_a_character(self) -> None:
        steps = [{"type": "launch", "parameters": {"command": ["\ud800"]}}]
        with raises_code(Invalid, "invalid_draft"):
            read_content({"domain": "a", "name": "b", "setup": steps})

    def test_is_bounded_in_bytes(self) -> None:
        steps = [{"type": "launch", "parameters": {"command": ["\N{EURO SIGN}" * (MOST_BYTES // 2)]}}]
        with raises_code(Invalid, "invalid_draft", mentions=("256", "KiB")):
            read_content({"domain": "a", "name": "b", "setup": steps})

    def test_refuses_what_no_json_can_say(self) -> None:
        with raises_code(Invalid, "invalid_draft", mentions="JSON"):
            read_content({"domain": "a", "name": float("nan")})


class TestContentHash:
    def test_changes_with_every_part(self) -> None:
        base = make_content()
        others = [
            make_content(instruction="Do another thing."),
            make_content(oracle=({"press": "enter"},)),
            make_content(assets={"a.txt": "0" * 64}),
            make_content(difficulty="easy"),
        ]
        assert len({base.content_hash(), *(other.content_hash() for other in others)}) == 5


class TestTaskOf:
    def test_is_a_task_that_can_be_run(self) -> None:
        registry.load()
        task = task_of(make_content(difficulty="easy"))
        assert lint(task, ()) == []
        assert task.labels.difficulty_source is DifficultySource.AUTHOR
        assert task.evaluator.infeasible is False

    def test_an_infeasible_one_is_judged_by_the_rule(self) -> None:
        task = task_of(make_content(feasible=False, checks=()))
        assert (task.evaluator.infeasible, task.labels.feasible) == (True, False)


class TestMissing:
    def test_complete_draft_misses_nothing(self) -> None:
        assert missing(make_content()) == []
        assert missing(make_content(feasible=False, checks=(), oracle=())) == []

    def test_missing_lists_all_required_parts(self) -> None:
        assert len(missing(DraftContent(domain="a", name="b"))) == 3

    def test_checks_of_an_infeasible_task(self) -> None:
        assert missing(make_content(feasible=False)) == ["Infeasible tasks have no checks: remove them."]
