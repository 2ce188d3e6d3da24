"""The contract of every scoring protocol with the parts of a task."""

from typing import Any

import pytest

from backend.domain import registry
from backend.domain.model.score import SCORE, PartResult, Verdict
from backend.domain.model.task import EvaluatorSpec, PartKind
from backend.domain.ports.task import ScoringProtocol
from backend.domain.registry import PluginKind
from tests.factories.checkpoints import file_says, part

registry.load()
KINDS = {"windowsworld": PartKind.CHECKPOINT, "prosoftarena": PartKind.PHASE, "omnibench": PartKind.NODE}
EACH = pytest.mark.parametrize("name", sorted(name for _, name in registry.entries(PluginKind.PROTOCOL)))
PARTS = tuple(part(name, *after, app=app) for name, after, app in (("a", (), "x"), ("b", ("a",), "x"), ("c", (), "y")))


def judged(name: str, values: dict[str, float], score: float | None) -> Verdict:
    kind = KINDS[name]
    spec = EvaluatorSpec(
        calls=(file_says("/end", "done"),) if score is not None else (),
        parts=[one.model_copy(update={"kind": kind}) for one in PARTS],
        protocol=name,
    )
    steps: Any = {"a": 1, "b": 2, "c": 4}
    found = [
        PartResult(name=n, kind=kind, value=v, app=one.app, step=steps[n] if v == 1.0 else None)
        for (n, v), one in zip(values.items(), PARTS, strict=True)
    ]
    protocol: ScoringProtocol = registry.lookup(PluginKind.PROTOCOL, name)()
    return protocol(spec, score, found)


def test_every_protocol_is_tried() -> None:
    assert sorted(name for _, name in registry.entries(PluginKind.PROTOCOL)) == sorted(KINDS)


@EACH
class TestVerdict:
    def test_everything_reached_is_solved(self, name: str) -> None:
        found = judged(name, {"a": 1.0, "b": 1.0, "c": 1.0}, 1.0)
        assert found.score == 1.0
        assert set(found.measures.values()) == {1.0}

    def test_nothing_reached_is_zero(self, name: str) -> None:
        found = judged(name, {"a": 0.0, "b": 0.0, "c": 0.0}, 0.0)
        assert found.score == 0.0
        assert set(found.measures.values()) == {0.0}

    def test_primary_measure_is_its_own_or_the_score(self, name: str) -> None:
        verdict = judged(name, {"a": 1.0, "b": 1.0, "c": 1.0}, 1.0)
        protocol: ScoringProtocol = registry.lookup(PluginKind.PROTOCOL, name)()
        assert protocol.primary in {*verdict.measures, SCORE}

    def test_half_way_is_not_solved_and_is_measured(self, name: str) -> None:
        found = judged(name, {"a": 1.0, "b": 0.0, "c": 0.0}, 0.0)
        assert found.score < 1.0
        assert all(0.0 <= value <= 1.0 for value in found.measures.values())
        assert "score" not in found.measures
