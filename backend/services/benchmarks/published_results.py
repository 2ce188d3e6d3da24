"""Reported results: what papers say of a suite, stored beside it and never mixed with what is measured here."""

from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import Benchmark
from backend.db.repositories.benchmarks import benchmark_parts as repository
from backend.domain.benchmarks import reported_results


def load_reported(session: Session, benchmark: Benchmark, suite: str) -> int:
    """Stores what papers report of that suite with the benchmark, in the place of what was stored before.

    Returns:
        How many numbers there are.
    """
    rows = [
        {
            "id": uuid7(),
            "source": row.source,
            "agent": row.agent,
            "observation": row.inputs,
            "domain": row.domain,
            "measure": row.measure,
            "value": row.value,
            "unit": row.unit,
            "group_kind": row.group_kind,
            "group_name": row.group,
            "note": row.note,
        }
        for row in reported_results(suite)
    ]
    repository.replace_reported(session, benchmark.id, rows)
    return len(rows)
