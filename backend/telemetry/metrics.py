"""Prometheus metrics of this process: counters and histograms that Prometheus adds up over processes.

What is a property of the database is in `services.monitoring.installation_metrics`. Labels have few values: templates
of routes, enumerations, names that an operator configured. Names that users choose are bounded (`model_labels`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4
OTHER = "other"
MOST_MODELS = 100
"""Pairs of endpoint and model; the rest is counted as `other`."""
REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)

HTTP_REQUESTS = Counter(
    "deskarena_http_requests",
    "Answered HTTP requests by template of the route, method and status.",
    ["route", "method", "status"],
    registry=REGISTRY,
)
HTTP_SECONDS = Histogram(
    "deskarena_http_request_seconds",
    "Time from a request to the end of its answer; event streams are left out.",
    ["route", "method"],
    buckets=(0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 10),
    registry=REGISTRY,
)
HTTP_OPEN = Gauge("deskarena_http_requests_open", "HTTP requests that are being answered.", registry=REGISTRY)
SOCKETS_OPEN = Gauge("deskarena_websockets_open", "Open websockets.", registry=REGISTRY)
ATTEMPTS_ENDED = Counter(
    "deskarena_attempts_ended",
    "Attempts that ended, by state and failure class; counted by the process that recorded it.",
    ["provider", "state", "failure_class"],
    registry=REGISTRY,
)
RESET_SECONDS = Histogram(
    "deskarena_reset_seconds",
    "Time until a pristine desktop has shown its screen, by how it was made.",
    ["provider", "path"],
    buckets=(0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 300),
    registry=REGISTRY,
)
RESETS_FAILED = Counter(
    "deskarena_resets_failed", "Desktops that could not be made, or were unhealthy.", ["provider"], registry=REGISTRY
)
PHASE_SECONDS = Counter(
    "deskarena_attempt_phase_seconds", "Seconds that attempts spent, by phase.", ["phase"], registry=REGISTRY
)
MODEL_SECONDS = Histogram(
    "deskarena_model_request_seconds",
    "Time until a model's reply.",
    ["endpoint", "model"],
    buckets=(0.5, 1, 2, 5, 10, 20, 40, 80, 160),
    registry=REGISTRY,
)
MODEL_ERRORS = Counter(
    "deskarena_model_errors", "Requests to a model that failed.", ["endpoint", "model", "kind"], registry=REGISTRY
)
MODEL_TOKENS = Counter(
    "deskarena_model_tokens", "Tokens of replies by kind.", ["endpoint", "model", "kind"], registry=REGISTRY
)
MODEL_USD = Counter("deskarena_model_usd", "Price of replies in USD.", ["endpoint", "model"], registry=REGISTRY)
_models: set[tuple[str, str]] = set()
_lock = Lock()


def model_labels(endpoint: str, model: str) -> tuple[str, str]:
    """Labels of a model: the first `MOST_MODELS` that this process meets have their own."""
    pair = (endpoint[:100], model[:100])
    with _lock:
        if pair in _models or len(_models) < MOST_MODELS:
            _models.add(pair)
            return pair
    return OTHER, OTHER


def gauge(name: str, description: str, values: Iterable[tuple[Mapping[str, str], float]]) -> GaugeMetricFamily:
    """A gauge from (labels, number); one without samples is still declared."""
    family = GaugeMetricFamily(name, description)
    for labels, value in values:
        family.add_sample(name, dict(labels), value)
    return family


@dataclass(frozen=True, eq=False)
class _Gathered(Collector):
    """Families that were read elsewhere."""

    families: Iterable[GaugeMetricFamily]

    def collect(self) -> Iterable[GaugeMetricFamily]:
        return self.families


def metrics_text(families: Iterable[GaugeMetricFamily] = ()) -> bytes:
    """This process's metrics, and those of the installation that it has read, as Prometheus text."""
    gathered = CollectorRegistry()
    gathered.register(_Gathered(tuple(families)))
    return generate_latest(gathered) + generate_latest(REGISTRY)
