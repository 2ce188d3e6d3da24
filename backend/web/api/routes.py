"""All routers of the API."""

from backend.web.api import artifacts, assets, benchmarks, episodes, rescore, runs, workers

ROUTERS = (
    runs.router,
    episodes.router,
    rescore.router,
    artifacts.router,
    benchmarks.router,
    assets.router,
    workers.router,
    workers.health_router,
)
