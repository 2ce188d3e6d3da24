"""Signals for autoscalers and alarms, as JSON; as Prometheus metrics: `backend.web.monitoring.api`."""

from backend.services.scheduling.autoscaling_signals import REASONS
from backend.web.api_common import api_router
from backend.web.dependencies import EdgeDep
from backend.web.scheduling.schemas import ProviderSignals, SignalsView

router = api_router("workers")


@router.get("/signals")
def signals(edge: EdgeDep) -> SignalsView:
    """Get numbers of waiting, running and free by provider; at most a few seconds old.

    Autoscalers size workers or nodes by `desktops_wanted`.
    """
    signals = edge.signals.value()
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
