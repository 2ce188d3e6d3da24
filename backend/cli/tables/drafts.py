"""Tables and lines for drafts."""

from collections.abc import Mapping
from typing import Any

from backend.cli.output import Columns, plain, print_facts
from backend.cli.tables.runs import moment

Row = Mapping[str, Any]

DRAFTS: Columns = {
    "draft": lambda row: row["id"],
    "task": lambda row: row["key"],
    "benchmark": lambda row: row["benchmark"],
    "state": lambda row: row["state"].replace("_", " "),
    "approvals": lambda row: row["approvals"],
    "author": lambda row: row["author"] if row["author_kind"] == "person" else f"{row['author']} (by {row['model']})",
    "changed": lambda row: moment(row["updated_at"]),
}
FORMS: Columns = {
    "name": lambda row: row["name"],
    "parameters": lambda row: parameters(row["parameters"]),
    "about": lambda row: row["about"].splitlines()[0] if row["about"] else None,
}
REQUESTS: Columns = {
    "request": lambda row: row["id"],
    "persona": lambda row: row["persona"],
    "model": lambda row: row["model"],
    "state": lambda row: row["state"],
    "drafts": lambda row: f"{row['created_count']} of {row['requested_count']}",
    "message": lambda row: row["message"] or None,
}


def parameters(schema: Row | None) -> str:
    """Names of parameters; optional ones have a question mark."""
    if schema is None:
        return "any"
    needed = set(schema.get("required") or ())
    return ", ".join(name if name in needed else f"{name}?" for name in schema.get("properties") or {}) or "none"


def tried_words(trial: Row | None) -> str:
    """Result of a trial on one line."""
    if trial is None:
        return "not tried"
    scores = ", ".join(f"{agent} {plain(score)}" for agent, score in trial["scores"].items())
    verdict = "sound" if trial["sound"] else "; ".join(trial["wrong"]) or trial["unknown"] or "still running"
    return f"{scores}: {verdict}{'' if trial['current'] else ' (of an older version)'}"


def show_draft(row: Row) -> None:
    """Prints a draft's facts."""
    reasons = [(row["rejection_reason"] or "").replace("_", " "), row["rejection_comment"]]
    print_facts(
        {
            "draft": row["id"],
            "task": row["key"],
            "benchmark": row["benchmark"],
            "state": row["state"].replace("_", " "),
            "version": row["version"],
            "author": row["author"],
            "written by": row["model"] or "a person",
            "instruction": row["instruction"],
            "missing": " ".join(row["missing"]) or "nothing",
            "trial": tried_words(row["trial"]),
            "approvals": row["approvals"],
            "rejected": ": ".join(filter(None, reasons)) or None,
            "published": row["published"],
        }
    )


def show_review(row: Row) -> None:
    """Prints what a reviewer needs."""
    show_draft(row)
    if row["noop_justification"]:
        print(f"Doing nothing scores because: {row['noop_justification']}")
    for check in row["checks"]:
        print(f"\n{check['title']}: {'nothing found' if not check['findings'] else ''}".rstrip())
        for line in check["findings"]:
            print(f"  {line}")
    for review in row["reviews"]:
        print(f"\n{review['by']}, version {review['version']}: {review['verdict']} {review['comment']}".rstrip())
