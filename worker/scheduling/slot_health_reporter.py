"""Reports unusable slots of a cluster to the database within seconds, even without waiting work."""

import logging
import time
from collections.abc import Iterable, Mapping
from functools import partial

from backend.domain.ports.cluster import ClusterProvider, SlotTrouble
from backend.domain.ports.desktop import Provider
from backend.services.capacity.slot_health import note_troubles
from backend.services.periodic_thread import PeriodicThread
from worker.base.database import Database

LOOK_SECONDS = 2.0
AGAIN_SECONDS = 30.0
"""Interval at which everything is reported again: another worker may have reported something else, or slots changed."""
logger = logging.getLogger(__name__)


class SlotHealthReporter(PeriodicThread):
    """Background thread for all providers with a cluster's slots; does nothing without them."""

    def __init__(self, database: Database, providers: Iterable[Provider], *, every: float = LOOK_SECONDS) -> None:
        super().__init__("troubles", self.look, every=every, broken="slot health not recorded")
        self._database = database
        self._providers = [provider for provider in providers if isinstance(provider, ClusterProvider)]
        self._reported: dict[str, tuple[float, Mapping[str, SlotTrouble]]] = {}

    def start(self) -> None:
        if self._providers:
            super().start()

    def look(self) -> None:
        """One round. Raises Unavailable if the database is."""
        for provider in self._providers:
            cluster, troubles = provider.cluster, provider.troubles()
            at, previous = self._reported.get(cluster, (0.0, {}))
            again = not at or time.monotonic() - at >= AGAIN_SECONDS
            if not cluster or troubles is None or (troubles == previous and not again):
                continue
            work = partial(note_troubles, cluster=cluster, provider=provider.name, troubles=troubles)
            if self._database.once(work):
                logger.warning("%d slots of %s unusable: %s", len(troubles), cluster, _first(troubles))
            self._reported[cluster] = time.monotonic(), dict(troubles)


def _first(troubles: Mapping[str, SlotTrouble]) -> str:
    return next((trouble.why for trouble in troubles.values()), "none is left")
