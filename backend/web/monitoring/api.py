"""Metrics for Prometheus."""

from fastapi import APIRouter, Response
from prometheus_client.core import GaugeMetricFamily

from backend.domain.errors import Unavailable
from backend.services.events import broker_state
from backend.services.monitoring.installation_metrics import families
from backend.telemetry.metrics import MEDIA_TYPE, gauge, metrics_text
from backend.web.dependencies import AppContext, EdgeDep

metrics_router = APIRouter()


@metrics_router.get("/metrics", include_in_schema=False)
def metrics(edge: EdgeDep) -> Response:
    """Metrics of this process and of the installation; without the database those of the process."""
    return Response(metrics_text(_of_installation(edge)), media_type=MEDIA_TYPE)


def _of_installation(edge: AppContext) -> list[GaugeMetricFamily]:
    broker = broker_state()
    try:
        figures, answers = families(edge.installation_metrics.value()), 1
    except Unavailable:
        figures, answers = [], 0
    return [
        *figures,
        gauge("deskarena_database_up", "Whether the database answers this process.", [({}, answers)]),
        gauge("deskarena_broker_up", "Whether the broker answers this process.", [({}, int(broker == "ok"))]),
    ]
