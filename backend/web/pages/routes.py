"""All page routers."""

from backend.web.pages import (
    benchmarks,
<<<<<<< HEAD
    comparisons,
=======
    checkpoints,
>>>>>>> ca24ce9 (WindowsWorld's analyses: S_int against S_final, step gap, latency, languages, as service, endpoint and page; assertions are no parts of the pooled measure)
    docs,
    episode,
    exports,
    failures,
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

<<<<<<< HEAD
MODULES = (
    home,
    new_run,
    human,
    failures,
    runs,
    studies,
    exports,
    episode,
    benchmarks,
    task,
    comparisons,  # Before the leaderboards, whose addresses end in the name of any dimension.
    leaderboard,
    workers,
    docs,
    login,
=======
ROUTERS = tuple(
    module.router
    for module in (
        home,
        new_run,
        human,
        runs,
        studies,
        episode,
        benchmarks,
        checkpoints,
        task,
        leaderboard,
        workers,
        docs,
        login,
    )
>>>>>>> ca24ce9 (WindowsWorld's analyses: S_int against S_final, step gap, latency, languages, as service, endpoint and page; assertions are no parts of the pooled measure)
)
ROUTERS = tuple(module.router for module in MODULES)
