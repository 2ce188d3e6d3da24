"""Cases of OmniBench's checks and of what joins them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from backend.domain.evaluators.facts import FactValue
from tests.factories.metric_cases import Call, MetricCase


def of(*args: Any, **options: Any) -> Callable[[Path], Call]:
    return lambda _: Call(args, options)


def facts(*there: bool) -> list[FactValue]:
    return [
        FactValue(fact={"type": "check_file_exists", "file_path": f"/{number}"}, value=value)
        for number, value in enumerate(there)
    ]


TREE = {"and": [{"fact": 0}, {"not": {"fact": 1}}]}

CASES = {
    "check_file_exists@omnibench": MetricCase(passing=of(True), near_miss=of(False), of_file=False),
    "check_expression@omnibench": MetricCase(
        passing=of(facts(True, False), tree=TREE), near_miss=of(facts(True, True), tree=TREE), of_file=False
    ),
}
