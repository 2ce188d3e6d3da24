from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.omnibench.consistency import by_rules, edges_of, problems
from backend.domain.omnibench.instructions import task_of
from backend.domain.omnibench.task_file import GraphTask, read_task
from tests.factories.omnibench import small_pool, subtask, task_json
from tests.unit.domain.omnibench.test_compose import WIDE, some

POOL = small_pool()


def task(text: str, **more: str) -> GraphTask:
    raw = task_json(["write", "pack", "draw"], {"write": ["pack"]}, **more) | {"task_instruction": text}
    return read_task(raw, "1", POOL)


WORDS = {node.name: POOL[node.subtask].instruction(node.values) for node in task("x").graph.nodes}
RIGHT = f"There are 3 things to do. (1) {WORDS['write']} (2) After (1): {WORDS['pack']} (3) {WORDS['draw']}"


class TestProblems:
    def test_a_text_that_says_the_same(self) -> None:
        assert problems(task(RIGHT), POOL) == []

    def test_a_dependency_that_is_not_said(self) -> None:
        text = RIGHT.replace("After (1): ", "")
        assert problems(task(text), POOL) == ["instruction: it does not say that pack comes after write"]

    def test_a_dependency_that_is_not_there(self) -> None:
        text = RIGHT.replace("(3) ", "(3) After (2): ")
        assert problems(task(text), POOL) == ["instruction: it says that draw comes after pack"]

    def test_a_subtask_that_is_missing_or_another(self) -> None:
        unclear = ["instruction: it does not ask for exactly the subtasks of the graph"]
        assert problems(task(RIGHT.partition(" (3)")[0]), POOL) == unclear
        assert problems(task(RIGHT.replace("Do draw", "Do sing")), POOL) == unclear
        assert problems(task(RIGHT + " (4) Do draw."), POOL) == unclear
        assert problems(task("Do it all."), POOL) == unclear
        assert problems(task(RIGHT.replace("After (1)", "After (7)")), POOL) == unclear

    def test_the_other_texts_are_read_too(self) -> None:
        result = problems(task(RIGHT, task_instruction_low="Click."), POOL)
        assert result == ["low level: it does not ask for exactly the subtasks of the graph"]

    @settings(max_examples=20)
    @given(st.integers(0, 10**6))
    def test_composed_tasks_agree_with_their_graph(self, seed: int) -> None:
        for made in some(3, seed=seed):
            assert problems(task_of(made, "1", WIDE), WIDE) == []

    def test_two_subtasks_with_the_same_words_cannot_be_told_apart(self) -> None:
        pool = {**POOL, "draw": subtask("draw", instruction_template=POOL["write"].instruction_template,
                                        available_parameters=(POOL["write"].available_parameters[0],))}  # fmt: skip
        text = f"There are 3 things to do. (1) {WORDS['write']} (2) {WORDS['write']} (3) After (2): {WORDS['pack']}"
        raw = task_json(["write", "draw", "pack"], {"write": ["pack"]}) | {"task_instruction": text}
        assert problems(read_task(raw, "1", pool), pool) != []


class TestByRules:
    def test_numbers_inside_words_are_words(self) -> None:
        words = {"a": "Press F(2) twice", "b": "Write (1) into it"}
        text = "There are 2 things to do. (1) Press F(2) twice. (2) After (1): Write (1) into it."
        assert by_rules(text, words) == frozenset({("a", "b")})

    def test_text_of_one_subtask_has_no_order(self) -> None:
        assert by_rules("Do draw.", {"draw": "Do draw"}) == frozenset()
        assert by_rules("Do sing.", {"draw": "Do draw"}) is None


class TestEdgesOf:
    def test_edges_are_read_from_the_graph(self) -> None:
        assert edges_of(task("x").graph) == {("write", "pack")}
