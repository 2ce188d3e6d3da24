"""Recomputes cubes outside the run's lock: one of 36,000 tasks takes seconds, while episodes start and end."""

import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.results import rollup_jobs as repository
from backend.db.repositories.results.costs import ORACLE
from backend.db.session import SessionFactory, unit_of_work
from backend.domain.errors import Unavailable
from backend.services.results import measure_rollups, pass_rollups, rollups
from backend.services.results.rollups import RollupRows

logger = logging.getLogger(__name__)
Read = TypeVar("Read")


@dataclass(frozen=True)
class RollupResults:
    """A run's cube, and the columns of all passes of its configuration; None if it enters no leaderboard."""

    cube: RollupRows
    passes: Mapping[str, Any] | None


class _NewerRollup(Exception):  # noqa: N818 - rolls back a cube whose turn somebody else has.
    pass


def renew_due(factory: SessionFactory, limit: int = 20) -> int:
    """Recomputes due cubes, at most `limit`. Returns the number stored.

    A failure is logged and does not affect others.
    """
    with unit_of_work(factory) as session:
        due = repository.due(session, limit)
    return sum(_renewed(factory, run_id) for run_id in due)


def _renewed(factory: SessionFactory, run_id: UUID) -> bool:
    try:
        return renew(factory, run_id)
    except Unavailable:
        raise
    except Exception:
        logger.exception("the roll-ups of run %s could not be computed", run_id)
        return False


def renew(factory: SessionFactory, run_id: UUID) -> bool:
    """Recomputes and stores a run's cube if due. Safe to call concurrently: one caller does it.

    The run's lock is held for two short updates: at the start, and to store the result. The data are read as of one
    moment after the first, so any change is in the cube or marks the run as stale again.

    Returns:
        True if a cube was stored.
    """
    with unit_of_work(factory) as session:
        began_at = repository.begin(session, run_id)
    if began_at is None:
        return False
    try:
        return _claim_run(factory, run_id, began_at)
    except BaseException:
        with unit_of_work(factory) as session:
            repository.give_back(session, run_id, began_at)
        raise


def _claim_run(factory: SessionFactory, run_id: UUID, began_at: datetime) -> bool:
    start = time.monotonic()
    with ThreadPoolExecutor(1, "measures") as beside, unit_of_work(factory) as session:
        # Measures and facts take the database as long as everything else: another of its processes reads them
        # meanwhile, the facts while the cube is computed.
        snapshot = repository.one_snapshot(session)
        sums = beside.submit(_read_beside, factory, run_id, snapshot, measure_rollups.task_sums)
        row = beside.submit(_read_beside, factory, run_id, snapshot, pass_rollups.pass_facts)
        gathered = rollups.gather(session, run_id, sums.result)
        cube = rollups.compute(gathered)
        facts = row.result()
        passes = None if facts is None else pass_rollups.gather(session, run_id, gathered, facts)
    computed = RollupResults(cube, None if passes is None else pass_rollups.compute(passes, cube))
    try:
        _store(factory, run_id, computed, began_at, start)
    except _NewerRollup:
        logger.info("run %s: another process computes its roll-ups", run_id)
        return False
    with unit_of_work(factory) as session:
        repository.mark_others_of_oracle(session, run_id, ORACLE)
    return True


def _read_beside(factory: SessionFactory, run_id: UUID, snapshot: str, read: Callable[[Session, UUID], Read]) -> Read:
    with unit_of_work(factory) as session:
        repository.one_snapshot(session, snapshot)
        return read(session, run_id)


def _store(factory: SessionFactory, run_id: UUID, computed: RollupResults, began_at: datetime, start: float) -> None:
    with unit_of_work(factory) as session:
        rollups.store(session, run_id, computed.cube)
        if computed.passes is not None:
            pass_rollups.store(session, computed.passes, began_at)
        # Last, so that the run is locked for this update only.
        if not repository.end(session, run_id, began_at, time.monotonic() - start):
            raise _NewerRollup
