"""All page routers."""

from backend.web.pages import (
    api_reference,
    benchmarks,
    checkpoints,
    comparisons,
    drafts,
    episode,
    exports,
    failures,
    home,
    human,
    judges,
    leaderboard,
    login,
    new_run,
    operations,
    process,
    runs,
    studies,
    task,
    workers,
)

MODULES = (
    home,
    new_run,
    human,
    failures,
    process,
    runs,
    studies,
    judges,
    exports,
    episode,
    benchmarks,
    checkpoints,
    drafts,  # Before tasks, whose addresses begin alike.
    task,
    comparisons,  # Before the leaderboards, whose addresses end in the name of any dimension; so is the next one.
    operations,
    leaderboard,
    workers,
    api_reference,
    login,
)
ROUTERS = tuple(module.router for module in MODULES)
