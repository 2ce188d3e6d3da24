from random import Random

from hypothesis import given
from hypothesis import strategies as st

from backend.domain.model.checkpoints import CheckpointTurns
from backend.domain.model.task import EvaluatorSpec, Part
from tests.factories.checkpoints import file_says, part


def turns(*parts: Part, patience: int | None = None) -> CheckpointTurns:
    return CheckpointTurns(EvaluatorSpec(calls=(file_says("/end", "done"),), parts=parts, patience=patience))


class TestOpen:
    def test_sources_are_open_from_the_start(self) -> None:
        assert [one.name for one in turns(part("a"), part("b"), part("c", "a")).open()] == ["a", "b"]

    def test_checkpoint_opens_when_its_predecessors_are_reached(self) -> None:
        state = turns(part("a"), part("b"), part("c", "a", "b"))
        state.reach("a", 0)
        assert [one.name for one in state.open()] == ["b"]
        state.reach("b", 3)
        assert [one.name for one in state.open()] == ["c"]

    def test_checkpoints_of_the_end_state_have_no_turn(self) -> None:
        assert turns(part("a", each_step=False)).open() == ()

    @given(st.integers(1, 12), st.randoms(use_true_random=False))
    def test_every_graph_can_be_finished_in_its_own_order(self, size: int, draw: Random) -> None:
        parts = [part(f"p{n}", *(f"p{m}" for m in range(n) if draw.random() < 0.4)) for n in range(size)]
        state = turns(*parts)
        for step in range(size):
            state.reach(draw.choice(state.open()).name, step)
        assert state.finished
        assert state.open() == ()


class TestReach:
    def test_the_first_step_counts(self) -> None:
        state = turns(part("a"))
        state.reach("a", 2)
        state.reach("a", 5)
        assert state.reached == {"a": 2}


class TestStalled:
    def test_never_stalled_without_patience(self) -> None:
        assert not turns(part("a")).stalled(10_000)

    def test_stalled_after_the_patience_without_progress(self) -> None:
        state = turns(part("a"), part("b"), patience=3)
        assert not state.stalled(1)
        assert state.stalled(2)
        state.reach("a", 2)
        assert not state.stalled(4)
        assert state.stalled(5)

    def test_not_stalled_when_all_are_reached(self) -> None:
        state = turns(part("a"), patience=1)
        state.reach("a", 0)
        assert not state.stalled(50)
