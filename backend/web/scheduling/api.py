"""Signals for autoscalers and alarms, as Prometheus text or JSON."""

from fastapi import APIRouter, Response

from backend.domain.scheduling.prometheus_text import MEDIA_TYPE, text
from backend.services.scheduling.autoscaling_signals import REASONS, families
from backend.web.api_common import api_router
from backend.web.dependencies import EdgeDep
from backend.web.scheduling.schemas import ProviderSignals, SignalsView

router = api_router("workers")
metrics_router = APIRouter()


@router.get("/signals")
def signals(edge: EdgeDep) -> SignalsView:
    """Get numbers of waiting, running and free by provider; at most a few seconds old.

    Autoscalers size workers or nodes by `desktops_wanted`.
    """
    signals = edge.signals.signals()
    return SignalsView(
        providers={
            name: ProviderSignals(
                waiting={reason: signals.waiting(name, reason) for reason in REASONS},
                oldest_wait_seconds=signals.oldest.get(name, 0.0),
                running=signals.running(name),
                desktops_wanted=signals.demand(name),
                slots={state: signals.in_state(name, state) for state in ("free", "leased", "closed")},
                leases_per_second=signals.leases.get(name, 0.0),
            )
            for name in signals.providers
        },
        lost_last_hour=dict(signals.lost),
    )


@metrics_router.get("/metrics", include_in_schema=False)
def metrics(edge: EdgeDep) -> Response:
    """All signals as Prometheus metrics."""
    return Response(text(families(edge.signals.signals())), media_type=MEDIA_TYPE)
