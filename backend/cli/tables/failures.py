"""How a sample of failures looks as tables."""

from collections.abc import Mapping
from typing import Any

from backend.cli.output import Columns, print_facts, print_table, rate

Row = Mapping[str, Any]


def said(row: Row) -> str:
    """Labels by people, or that nobody has judged."""
    if not row["reviews"]:
        return "not judged"
    return ", ".join(row["labels"]) or "none applies"


def share(found: Row | None) -> str:
    """`40.0 % (12.0 to 70.0), 4 of 10`."""
    if found is None or found["share"] is None:
        return "-"
    return f"{rate(found['share'], found['interval'])}, {found['count']} of {found['n']}"


EPISODES: Columns = {
    "task": lambda row: row["task"],
    "score": lambda row: row["score"],
    "ended by": lambda row: row["ended_by"],
    "rules suggest": lambda row: ", ".join(one["label"] for one in row["suggested"]),
    "people say": said,
    "episode": lambda row: row["episode"],
}
SHARES: Columns = {
    "label": lambda row: row["label"],
    "by people": lambda row: share(row["people"]),
    "by rules": lambda row: share(row["rules"]),
    "agreement": lambda row: row["alpha"],
}


def show_failures(found: Row) -> None:
    """How many were drawn, the shares of labels, the episodes."""
    drawn = f"{len(found['episodes'])} of {found['failed']} failures, seed {found['seed']}; {found['judged']} judged"
    print_facts({"run": found["run"], "drawn": drawn})
    print()
    rules = {one["label"]: one for one in found["by_rules"]}
    alphas = {one["label"]: one["alpha"] for one in found["agreement"]}
    people = found["by_people"]
    rows = [
        {"label": one["label"], "people": one, "rules": rules.get(one["label"]), "alpha": alphas.get(one["label"])}
        for one in people
    ]
    print_table(rows, SHARES)
    print()
    print_table(found["episodes"], EPISODES)
