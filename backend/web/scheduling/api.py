"""Signals for autoscalers and alarms: for Prometheus as text, for others as JSON."""

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
    """Get how much waits, runs and is free, by provider; a few seconds old at most.

    `desktops_wanted` is what an autoscaler counts workers or nodes by.
    """
    found = edge.signals.signals()
    return SignalsView(
        providers={
            name: ProviderSignals(
                waiting={reason: found.waiting(name, reason) for reason in REASONS},
                oldest_wait_seconds=found.oldest.get(name, 0.0),
                running=found.running(name),
                desktops_wanted=found.wanted(name),
                slots={state: found.in_state(name, state) for state in ("free", "leased", "closed")},
                leases_per_second=found.leases.get(name, 0.0),
            )
            for name in found.providers
        },
        lost_last_hour=dict(found.lost),
    )


@metrics_router.get("/metrics", include_in_schema=False)
def metrics(edge: EdgeDep) -> Response:
    """The same for Prometheus."""
    return Response(text(families(edge.signals.signals())), media_type=MEDIA_TYPE)
