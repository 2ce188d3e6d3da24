"""All page routers."""

from backend.web.pages import (
    benchmarks,
    docs,
    episode,
    home,
    human,
    leaderboard,
    login,
    new_run,
    runs,
    studies,
    task,
    workers,
)

ROUTERS = tuple(
    module.router
    for module in (home, new_run, human, runs, studies, episode, benchmarks, task, leaderboard, workers, docs, login)
)
