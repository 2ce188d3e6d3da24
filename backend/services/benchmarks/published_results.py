"""Published results of a suite, stored with its benchmark and never mixed with measurements."""

from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import Benchmark
from backend.db.repositories.benchmarks import benchmark_parts as repository
from backend.domain.benchmarks import reported_results


def load_reported(session: Session, benchmark: Benchmark, suite: str) -> int:
    """Stores a suite's published results with the benchmark, replacing previous ones.

    Returns:
        Number of figures.
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
