"""Stores what this process asked of models: one row per endpoint, model and five minutes, written every few seconds."""

import logging

from backend.domain.errors import DeskarenaError
from backend.services.capacity import model_usage
from backend.services.periodic_thread import PeriodicThread
from worker.base.database import Database
from worker.models.usage_meter import UsageMeter

EVERY = 5.0
logger = logging.getLogger(__name__)


class ModelUsageReporter:
    """Background thread that writes the rows which have changed. A process that is killed loses its last seconds."""

    def __init__(self, database: Database, meter: UsageMeter, every: float = EVERY) -> None:
        """Args: database; meter: counts; every: seconds between two writes."""
        self._database, self._meter = database, meter
        self._thread = PeriodicThread("model-usage", self.report, every=every, broken="use of models not stored")

    def start(self) -> None:
        """Starts its thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stops, after a last write."""
        self._thread.stop()
        try:
            self.report()
        except DeskarenaError as error:
            logger.warning("model usage not stored: %s", error)

    def report(self) -> None:
        """Writes what has changed. Raises Unavailable."""
        rows = self._meter.unwritten()
        if rows:
            self._database.once(lambda session: model_usage.record(session, self._meter.source, rows))
            self._meter.written(rows)
