"""Tables for studies and their results."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from backend.cli.output import Columns, print_facts, print_table, rate
from backend.cli.tables.runs import moment

Row = Mapping[str, Any]


def level(value: Any) -> str:
    """A level as text."""
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def levels(values: Mapping[str, Any]) -> str:
    """A cell's levels as text."""
    return ", ".join(f"{name}={level(value)}" for name, value in values.items())


def counts(numbers: Mapping[str, int]) -> str:
    """`done 4, steps 1`."""
    return ", ".join(f"{name} {number}" for name, number in numbers.items())


def difference(row: Row | None) -> str:
    """A difference in points with its interval, such as `-40.0 (-80.0 to 0.0)`."""
    if row is None:
        return "-"
    low, high = row["interval"]
    return f"{row['difference'] * 100:+.1f} ({low * 100:+.1f} to {high * 100:+.1f})"


def drop(row: Row | None) -> str:
    """The relative drop in percent."""
    return "-" if row is None or row["relative_drop"] is None else f"{row['relative_drop'] * 100:.1f} %"


STUDIES: Columns = {
    "study": lambda study: study["id"],
    "name": lambda study: study["name"],
    "benchmark": lambda study: study["benchmark"],
    "agents": lambda study: ", ".join(study["agents"]),
    "cells": lambda study: study["cells"],
    "ended": lambda study: f"{study['ended']}/{study['episodes']}",
    "created": lambda study: moment(study["created_at"]),
}
COMPARISONS: Columns = {
    "level": lambda row: f"{row['factor']}={level(row['level'])}",
    "against": lambda row: level(row["base"]),
    "success rate, points": lambda row: difference(row["success_rate"]),
    "relative drop": lambda row: drop(row["success_rate"]),
    "mean score, points": lambda row: difference(row["mean_score"]),
    "pairs": lambda row: row["pairs"],
    "tasks": lambda row: row["tasks"],
    "first:this only": lambda row: f"{row['only_base']}:{row['only_level']}",
    "p adjusted": lambda row: row["p_adjusted"],
    "left out": lambda row: counts(row["excluded"]) or "none",
}
MEASURES: Columns = {
    "level": lambda row: f"{row['factor']}={level(row['level'])}",
    "against": lambda row: level(row["base"]),
    "measure": lambda row: row["of"],
    "difference, points": lambda row: difference(row["difference"]),
    "pairs": lambda row: row["pairs"],
    "undefined": lambda row: row["undefined"],
}
SENSITIVITY: Columns = {
    "factor": lambda row: row["factor"],
    "levels": lambda row: row["levels"],
    "of": lambda row: row["of"],
    "deviation within task, points": lambda row: f"{row['mean_deviation'] * 100:.1f}",
    "tasks": lambda row: row["tasks"],
}
SHAPES: Columns = {
    "cell": lambda row: levels(row["levels"]),
    "of": lambda row: row["of"],
    "graphs minus chains, points": lambda row: difference(row["difference"]),
    "p": lambda row: row["p_value"],
    "pairs": lambda row: row["pairs"],
    "unmatched": lambda row: row["unmatched"],
}
CELLS: Columns = {
    "cell": lambda cell: levels(cell["levels"]),
    "configuration": lambda cell: cell["configuration"]["name"],
    "success rate": lambda cell: rate(cell["summary"]["success_rate"], cell["summary"]["success_interval"]),
    "mean score": lambda cell: rate(cell["summary"]["mean_score"], cell["summary"]["mean_interval"]),
    "steps (median)": lambda cell: cell["steps"]["median"] if cell["steps"] else None,
    "ended by": lambda cell: counts(cell["ended_by"]),
    "of": lambda cell: cell["summary"]["counts_text"],
    "run": lambda cell: cell["run"],
}


def study_facts(study: Row) -> dict[str, Any]:
    """Facts about a study."""
    factors: Sequence[Row] = study["factors"]
    return {
        "study": study["id"],
        "name": study["name"],
        "benchmark": study["benchmark"],
        "agents": ", ".join(study["agents"]),
        "design": study["design"],
        **{f"factor {factor['name']}": ", ".join(map(level, factor["levels"])) for factor in factors},
        "cells": study["cells"],
        "ended": f"{study['ended']} of {study['episodes']} episodes",
    }


def show_results(results: Row) -> None:
    """Prints the summary sentence, the paired comparison, measures and cells."""
    print_facts({"study": results["study"]["id"], "summary": results["conclusion"]})
    tables = (
        (results["comparisons"], COMPARISONS),
        (measure_rows(results["comparisons"]), MEASURES),
        (results["sensitivity"], SENSITIVITY),
        (results["shapes"], SHAPES),
        (results["cells"], CELLS),
    )
    for rows, columns in tables:
        if rows:
            print()
            print_table(rows, columns)
    print()
    print(results["methods"])


def measure_rows(comparisons: Sequence[Row]) -> list[Row]:
    """A row for each measure of each comparison."""
    return [{**row, **measure, "of": name} for row in comparisons for name, measure in row["measures"].items()]


def flat(row: Row) -> dict[str, Any]:
    """A comparison as one row of a CSV."""
    fields: dict[str, Any] = {name: level(row[name]) for name in ("base", "level")}
    fields = {"factor": row["factor"], **fields, "pairs": row["pairs"], "tasks": row["tasks"]}
    for name in ("success_rate", "mean_score"):
        rates = row[name] or {}
        low, high = rates.get("interval", (None, None))
        fields |= {f"{name}_{key}": rates.get(key) for key in ("base", "level", "difference", "relative_drop")}
        fields |= {f"{name}_low": low, f"{name}_high": high}
    more = ("only_base", "only_level", "test", "p_value", "p_adjusted")
    return fields | {key: row[key] for key in more} | {"excluded": counts(row["excluded"])}


SETS: Columns = {
    "set": lambda row: row["name"],
    "form": lambda row: row["form"],
    "demonstrations": lambda row: row["demonstrations"],
    "steps": lambda row: row["steps"],
    "source": lambda row: row["source"],
    "created": lambda row: moment(row["created_at"]),
}
OFFLINE_STUDIES: Columns = {
    "study": lambda study: study["id"],
    "name": lambda study: study["name"],
    "demonstrations": lambda study: study["demonstrations"],
    "agents": lambda study: ", ".join(study["agents"]),
    "cells": lambda study: study["cells"],
    "answers": lambda study: f"{study['ended']}/{study['answers']}",
    "created": lambda study: moment(study["created_at"]),
}


def set_facts(row: Row) -> dict[str, Any]:
    """Facts about a set of demonstrations."""
    return {name: cell(row) for name, cell in SETS.items()}


def offline_facts(study: Row) -> dict[str, Any]:
    """Facts about an offline study."""
    return {
        **{name: cell(study) for name, cell in OFFLINE_STUDIES.items()},
        **{f"factor {factor['name']}": ", ".join(map(level, factor["levels"])) for factor in study["factors"]},
        "states": counts(study["states"]),
    }


def show_offline(results: Row) -> None:
    """Prints the metrics of each cell, by action and by label."""
    print_facts({"study": results["study"]["id"], "metrics": results["protocol"]})
    print()
    columns: Columns = {
        "cell": lambda row: row["number"],
        "configuration": lambda row: row["configuration"]["name"],
        **_metrics(results["cells"]),
        "answered": lambda row: row["answered"],
        "no action": lambda row: row["invalid"],
        "no answer": lambda row: row["failed"],
    }
    print_table(results["cells"], columns)
    for title, rows in (("action", results["by_action"]), (results["label"], results["by_label"])):
        if rows:
            print()
            own: Columns = {"cell": lambda row: row["number"], title: lambda row: row["group"]}
            print_table(rows, {**own, **_metrics(rows)})
    print()
    print(results["methods"])


def _metrics(rows: Sequence[Row]) -> Columns:
    """A column for each metric."""
    names = [metric["title"].lower() for metric in rows[0]["metrics"]] if rows else []
    return {name: partial(_metric, index) for index, name in enumerate(names)}


def _metric(index: int, row: Row) -> str:
    metric = row["metrics"][index]
    return rate(metric["value"], metric["interval"])
