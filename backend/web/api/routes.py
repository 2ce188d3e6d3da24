"""All routers of the API."""

from backend.web.api import agent, artifacts, assets, benchmarks, episodes, rescore, runs, workers

ROUTERS = (
    runs.router,
    episodes.router,
    agent.router,
    rescore.router,
    artifacts.router,
    benchmarks.router,
    assets.router,
    workers.router,
    workers.health_router,
)
