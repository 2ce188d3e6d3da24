"""All routers of the API."""

from backend.web.api import (
    agent,
    artifacts,
    assets,
    benchmarks,
    checkpoints,
    comparisons,
    drafts,
    episodes,
    failures,
    licences,
    rescore,
    runs,
    studies,
    training,
    workers,
)

ROUTERS = (
    runs.router,
    studies.router,
    episodes.router,
    failures.router,
    agent.router,
    rescore.router,
    artifacts.router,
    benchmarks.router,
    checkpoints.router,
    assets.router,
    drafts.router,
    training.router,
    workers.router,
    licences.router,
    comparisons.router,
    workers.health_router,
)
