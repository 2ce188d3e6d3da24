"""All page routers."""

from backend.web.pages import benchmarks, docs, episode, home, leaderboard, login, new_run, runs, task, workers

ROUTERS = tuple(
    module.router for module in (home, new_run, runs, episode, benchmarks, task, leaderboard, workers, docs, login)
)
