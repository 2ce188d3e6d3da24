import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.protocols.omnibench import OmniBenchScores
from backend.domain.model.score import PartResult, Verdict
from backend.domain.model.task import EvaluatorSpec, PartKind
from tests.error_codes import raises_code
from tests.factories.checkpoints import part

SHAPE = {"a": ("x", ()), "b": ("x", ("a",)), "c": ("y", ("a",)), "d": ("x", ("b", "c")), "e": ("y", ("c",))}


def judged(steps: dict[str, int], score: float | None = None, progress: float | None = None) -> Verdict:
    parts = tuple(part(name, *after, app=app) for name, (app, after) in SHAPE.items())
    result = [
        PartResult(
            name=name,
            kind=PartKind.NODE,
            value=float(name in steps),
            app=app,
            step=steps.get(name),
            progress=progress,
        )
        for name, (app, _) in SHAPE.items()
    ]
    return OmniBenchScores()(EvaluatorSpec(calls=(), parts=parts, protocol="omnibench"), score, result)


class TestOmnibench:
    def test_cr_and_lc_equal_the_worked_example(self) -> None:
        """Depths 1, 2, 2, 3, 3; reached a, b, c, so x x y: CR = 5/11, LC = 1 of the 2 pairs that are possible."""
        result = judged({"a": 2, "b": 5, "c": 9})
        assert result.score == 0.0
        assert result.measures == {"CR": pytest.approx(5 / 11), "LC": 0.5}

    def test_all_reached_is_solved(self) -> None:
        result = judged({"a": 0, "b": 1, "c": 2, "e": 3, "d": 4})
        assert (result.score, dict(result.measures)) == (1.0, {"CR": 1.0, "LC": 1.0})

    def test_a_final_state_that_is_wrong_is_not_solved(self) -> None:
        assert judged({"a": 0, "b": 1, "c": 2, "e": 3, "d": 4}, score=0.5).score == 0.0

    def test_progress_does_not_change_the_measures(self) -> None:
        assert judged({"a": 1}, progress=0.9) == judged({"a": 1}, progress=None)

    def test_a_graph_in_which_no_two_can_be_side_by_side_has_no_consistency(self) -> None:
        spec = EvaluatorSpec(calls=(), parts=(part("a", app="x"), part("b", "a", app="y")), protocol="omnibench")
        result = [PartResult(name=n, kind=PartKind.NODE, value=1.0, app=a, step=1) for n, a in (("a", "x"), ("b", "y"))]
        assert dict(OmniBenchScores()(spec, None, result).measures) == {"CR": 1.0}

    def test_task_without_nodes_gives_no_verdict(self) -> None:
        with pytest.raises(EvaluatorFailed):
            OmniBenchScores()(EvaluatorSpec(calls=(), protocol="omnibench"), 1.0, [])

    def test_node_without_a_known_step_gives_no_verdict(self) -> None:
        spec = EvaluatorSpec(calls=(), parts=(part("a", app="x"),), protocol="omnibench")
        with raises_code(EvaluatorFailed, "checkpoint_steps_unknown"):
            OmniBenchScores()(spec, None, [PartResult(name="a", kind=PartKind.NODE, value=1.0, app="x")])


class TestReleased:
    """Results of the authors' released code, which `strict_upstream` reproduces."""

    def strict(self, steps: dict[str, int]) -> dict[str, float]:
        parts = tuple(part(name, *after, app=app) for name, (app, after) in SHAPE.items())
        results = [
            PartResult(name=name, kind=PartKind.NODE, value=float(name in steps), app=app, step=steps.get(name))
            for name, (app, _) in SHAPE.items()
        ]
        spec = EvaluatorSpec(calls=(), parts=parts, protocol="omnibench", strict_upstream=True)
        return dict(OmniBenchScores()(spec, None, results).measures)

    def test_strict_cr_counts_levels_without_the_deepest(self) -> None:
        """Depth 3: levels 1 and 2 are done, so all 3 count, though d and e are open. No run exceeds x x."""
        assert self.strict({"a": 2, "b": 5, "c": 9}) == {"CR": 1.0, "LC": 1.0}

    def test_an_open_node_ends_the_count(self) -> None:
        assert self.strict({"a": 2, "c": 3}) == {"CR": pytest.approx(1 / 3), "LC": 0.0}

    def test_strict_measures_of_no_reached_node_are_0(self) -> None:
        assert self.strict({}) == {"CR": 0.0, "LC": 0.0}
