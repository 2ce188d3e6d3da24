"""A team lead's board: complete, partial and unlike runs of four configurations."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from backend.db.models import AgentConfiguration, Episode, Run
from backend.domain.model.episode import EpisodeState, RunState
from backend.domain.model.score import is_solved
from tests.databases import copied
from tests.factories.records import World, world
from tests.factories.tasks import make_benchmark, make_task

TASKS = 25
FIFTEEN, FIFTY = {"max_steps": 15}, {"max_steps": 50}


def play(installation: World, name: str, results: list[float | None], **more: Any) -> UUID:
    """A run of a configuration called `name`, whose runnable episodes end with these scores in order; None = lost.

    Results are written as they are stored at the end, without the attempts before: a board reads nothing else.
    """
    settings = {"budget": FIFTEEN, "image": {"scale": SCALES[name]}, **more}
    run_id: UUID = installation.submit("random", name=name, **settings).id
    with installation.work() as session:
        waiting = select(Episode).where(Episode.run_id == run_id, Episode.state == EpisodeState.WAITING)
        episodes = session.scalars(waiting.order_by(Episode.id)).all()
        for episode, score in zip(episodes, results, strict=True):
            for column, value in (LOST if score is None else _scored(score, STEPS[name])).items():
                setattr(episode, column, value)
        run = session.get_one(Run, run_id)
        run.state, run.rollup_stale = RunState.COMPLETED, True
    return run_id


def _scored(score: float, steps: int) -> dict[str, Any]:
    return {"state": "scored", "outcome": "scored", "score": score, "solved": is_solved(score), "steps": steps}


LOST = {"state": "lost", "outcome": "lost", "failure_class": "evaluator"}
SCALES = {"alpha": 0.9, "beta": 0.8, "gamma": 0.7, "delta": 0.6}
"""One image preparation for each configuration."""
NAMES = {scale: name for name, scale in SCALES.items()}
STEPS = {"alpha": 5, "beta": 9, "gamma": 8, "delta": 12}
"""Of each of its scored episodes."""


def scores(solved: int, of: int = TASKS, lost: int = 0) -> list[float | None]:
    return [1.0] * solved + [0.0] * (of - solved - lost) + [None] * lost


@contextmanager
def team_installation(postgres_server: str) -> Iterator[World]:
    """An installation with that board, of its own; its agent `random` is ranked like any other."""
    with copied(postgres_server) as url, world(url) as installation, pytest.MonkeyPatch.context() as patch:
        patch.setattr("backend.services.results.leaderboards.FLOORS", frozenset())
        team_board(installation)
        yield installation


def team_board(installation: World) -> None:
    """Twelve runs of four configurations.

    alpha: three passes; beta: one pass and a repetition of its lost task; gamma: 8 % lost; delta: two partial runs.
    Besides, alpha, beta and gamma with 50 steps, the last two on few tasks, and alpha on another screen.
    """
    installation.worker()
    installation.benchmark(make_benchmark(*(make_task("files", f"t{number:02}") for number in range(TASKS))))
    for solved in (10, 12, 14):
        play(installation, "alpha", scores(solved))
    play(installation, "beta", scores(16, lost=1))
    play(installation, "beta", [1.0], tasks=("files/t24",))
    play(installation, "gamma", scores(20, lost=2))
    play(installation, "delta", scores(7, of=7), tasks=("files/t0[0-6]",))
    play(installation, "delta", [1.0], tasks=("files/t10",))
    play(installation, "alpha", scores(20), budget=FIFTY)
    play(installation, "beta", scores(3, of=3), budget=FIFTY, tasks=("files/t0[0-2]",))
    play(installation, "gamma", [1.0], budget=FIFTY, tasks=("files/t00",))
    play(installation, "alpha", [1.0, 1.0], screen={"width": 1280, "height": 800}, tasks=("files/t0[0-1]",))
    installation.roll_up()
    with installation.work() as session:
        for configuration in session.scalars(select(AgentConfiguration)):
            configuration.own_name = NAMES[configuration.definition["image"]["scale"]]
