"""Tables for a sample of failures."""

from collections.abc import Mapping
from typing import Any

from backend.cli.output import Columns, print_facts, print_table, rate

Row = Mapping[str, Any]


def labels_text(row: Row) -> str:
    """Labels by people as text."""
    if not row["reviews"]:
        return "not judged"
    return ", ".join(row["labels"]) or "none apply"


def share(row: Row | None) -> str:
    """A share as text: `40.0 % (12.0 to 70.0), 4 of 10`."""
    if row is None or row["share"] is None:
        return "-"
    return f"{rate(row['share'], row['interval'])}, {row['count']} of {row['n']}"


EPISODES: Columns = {
    "task": lambda row: row["task"],
    "score": lambda row: row["score"],
    "ended by": lambda row: row["ended_by"],
    "suggested by rules": lambda row: ", ".join(label["label"] for label in row["suggested"]),
    "labels by people": labels_text,
    "episode": lambda row: row["episode"],
}
SHARES: Columns = {
    "label": lambda row: row["label"],
    "by people": lambda row: share(row["people"]),
    "by rules": lambda row: share(row["rules"]),
    "agreement": lambda row: row["alpha"],
}


def show_failures(sample: Row) -> None:
    """Prints the number drawn, the shares of labels and the episodes."""
    drawn = (
        f"{len(sample['episodes'])} of {sample['failed']} failures, seed {sample['seed']}; {sample['judged']} judged"
    )
    print_facts({"run": sample["run"], "drawn": drawn})
    print()
    rules = {label["label"]: label for label in sample["by_rules"]}
    alphas = {agreement["label"]: agreement["alpha"] for agreement in sample["agreement"]}
    people = sample["by_people"]
    rows = [
        {
            "label": person["label"],
            "people": person,
            "rules": rules.get(person["label"]),
            "alpha": alphas.get(person["label"]),
        }
        for person in people
    ]
    print_table(rows, SHARES)
    print()
    print_table(sample["episodes"], EPISODES)
