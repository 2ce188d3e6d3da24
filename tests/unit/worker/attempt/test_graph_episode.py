"""Episodes of tasks in OmniBench's form, from the files to the measures, on a desktop in memory."""

import dataclasses
from collections.abc import Sequence

import pytest

from backend.domain import registry
from backend.domain.model.episode import EndedBy
from backend.domain.model.run import Budget
from backend.domain.model.score import Evaluation
from backend.domain.model.task import Task
from backend.domain.model.trajectory import Action, ActionType, Decision
from backend.domain.omnibench.build import build
from backend.domain.omnibench.task_file import read_task
from tests.factories.attempt import AttemptCase
from tests.factories.omnibench import subtask, task_json

APPS = {"a": "mousepad", "b": "mousepad", "c": "calc", "d": "mousepad", "e": "calc"}
EDGES = {"a": ["b", "c"], "b": ["d"], "c": ["d", "e"]}
"""Depths 1, 2, 2, 3, 3. The best order is a b | c e | d, with two pairs of one application."""


@pytest.fixture(autouse=True, scope="module")
def _plugins() -> None:
    registry.load()


def graph_task() -> Task:
    pool = {
        name: subtask(
            name,
            application=app,
            evaluation=f"check_file_exists('/{name}') and not check_file_exists('/spoiled')",
            oracle=({"wait_gone": {"name": "a window that is not there"}}, {"type": f"make {name}"}),
        )
        for name, app in APPS.items()
    }
    raw = task_json(list(APPS), EDGES)
    return build(read_task(raw, "1", pool), pool, raw)


def played(steps: Sequence[str] | None, agent: str = "replay") -> tuple[Evaluation, EndedBy | None]:
    """Result of typing these texts, one per step; `make x` makes the file of x. None = the agent's own end."""
    attempt = AttemptCase(graph_task(), agent, budget=Budget(max_steps=40))
    if steps is not None:
        trajectory = tuple(Decision(actions=(Action(type=ActionType.TYPING, text=text),)) for text in steps)
        attempt.claim = dataclasses.replace(attempt.claim, trajectory=trajectory)

    def make(action: Action) -> None:
        verb, _, name = action.text.partition(" ")
        if verb == "make":
            attempt.desktop.files[f"/{name}"] = b""

    attempt.on_perform = make
    attempt.run()
    assert attempt.book.evaluation is not None
    return attempt.book.evaluation, attempt.book.ended_by


class TestMeasures:
    def test_oracle_completes_every_node(self) -> None:
        found, ended_by = played(None, "oracle")
        assert dict(found.measures) == {"score": 1.0, "CR": 1.0, "LC": 1.0}
        assert [part.step for part in found.parts] == [0, 1, 2, 4, 3]
        assert ended_by is EndedBy.DONE

    def test_noop_completes_no_node(self) -> None:
        found, _ = played(None, "noop")
        assert dict(found.measures) == {"score": 0.0, "CR": 0.0, "LC": 0.0}

    @pytest.mark.parametrize(
        ("steps", "completion", "consistency"),
        [
            (["make a", "make b", "make c"], 5 / 11, 0.5),
            (["make a", "wait", "make c", "make b"], 5 / 11, 0.0),
            (["make a", "make c", "make e"], 6 / 11, 0.5),
            (["make b", "make e"], 0.0, 0.0),
        ],
    )
    def test_partial_progress_scores_its_share(self, steps: list[str], completion: float, consistency: float) -> None:
        found, _ = played(steps)
        assert found.score == 0.0
        assert dict(found.measures) == {"score": 0.0, "CR": pytest.approx(completion), "LC": consistency}

    def test_stops_after_twenty_steps_without_progress(self) -> None:
        found, ended_by = played(["make a", *["wait"] * 25, "make b"])
        assert ended_by is EndedBy.STALLED
        assert dict(found.measures) == {"score": 0.0, "CR": pytest.approx(1 / 11), "LC": 0.0}

    def test_node_reports_its_progress(self) -> None:
        found, _ = played(["make a", "make spoiled"])
        assert [(part.name, part.value, part.progress) for part in found.parts[:2]] == [
            ("a", 1.0, 1.0),
            ("b", 0.0, 0.0),
        ]
