"""Writes docs/reports/plugins.md from the plug-ins' own words, and applications.md from their table: `make docs`.

A plug-in's description is the first sentence of its file's docstring. A twin in another plug-in's file is described by
its own docstring.
"""

import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from typing import Any

from backend.domain import registry
from backend.domain.machines.applications import table
from backend.domain.registry import COMMON, PluginKind

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reports" / "plugins.md"
APPLICATIONS = ROOT / "docs" / "reports" / "applications.md"
OUTSIDE_THE_DOMAIN = ("worker.providers", "worker.models")
ABOUT = {
    PluginKind.BENCHMARK: "Read a benchmark's files into tasks.",
    PluginKind.AGENT: "Observe and decide.",
    PluginKind.OBSERVATION: "What an agent sees.",
    PluginKind.ACTION_SPACE: "How an agent's reply is parsed.",
    PluginKind.SETUP: "Prepare a desktop for a task.",
    PluginKind.GETTER: "Collect the evidence of a metric.",
    PluginKind.METRIC: "Score a result, with reasons.",
    PluginKind.PROTOCOL: "Compute score and measures from a task's metrics and parts.",
    PluginKind.TRAINING: "Convert trajectories to training data.",
    PluginKind.PROVIDER: "Create desktops.",
    PluginKind.MODEL: "Call a model's API.",
}


def load() -> None:
    """Loads every plug-in that is there."""
    registry.load(*(package for package in OUTSIDE_THE_DOMAIN if importlib.util.find_spec(package)))


def words_of(kind: PluginKind, plugin: Any) -> str:
    """The first paragraph about a plug-in, without the leading name."""
    family = [entry for entry in registry.entries(kind).values() if entry.__module__ == plugin.__module__]
    described_by = importlib.import_module(plugin.__module__) if plugin in family[:1] or not family else plugin
    text = inspect.getdoc(described_by) or ""
    paragraph = " ".join(text.split("\n\n")[0].split())
    description = paragraph.split(":", 1)[1] if paragraph.startswith("`") and ":" in paragraph else paragraph
    description = description.strip()
    return f"{description[:1].upper()}{description[1:]}".replace("|", "\\|")


def part(kind: PluginKind) -> list[str]:
    """One kind's heading and table."""
    title = kind.name.lower().replace("_", " ")
    lines = [f"## {title[0].upper()}{title[1:]}", "", ABOUT[kind], ""]
    entries = sorted(registry.entries(kind).items(), key=lambda entry: (entry[0][1], entry[0][0]))
    if not entries:
        return [*lines, "None yet.", ""]
    rows = [
        f"| `{name}` | {'every' if dialect == COMMON else f'`{dialect}`'} | {words_of(kind, plugin)} |"
        for (dialect, name), plugin in entries
    ]
    return [*lines, "| name | dialect | what it does |", "|---|---|---|", *rows, ""]


def page() -> str:
    head = [
        "# Plug-ins",
        "",
        "Written by `make docs` from the first sentence of each plug-in's file. To add one, see",
        "[Extending Deskarena](../README.md#extending-deskarena). Names that exist in OSWorld or WAA have the same",
        "meaning here; where the two differ, each dialect has its own.",
        "",
    ]
    return "\n".join([*head, *(line for kind in ABOUT for line in part(kind))]).rstrip() + "\n"


def applications_page() -> str:
    """The page of the table of applications."""
    head = [
        "# Applications",
        "",
        "Written by `make docs`: what tasks of published benchmarks require on a desktop, by the applications that",
        "they name ([needs of a task](../run-a-benchmark.md#needs-of-a-task)). Case and punctuation of a name do not",
        "matter.",
        "",
        "| system | command | applications | licence |",
        "|---|---|---|---|",
    ]
    rows = [f"| {system} | `{command}` | {names} | {licence} |" for system, command, names, licence in table()]
    return "\n".join([*head, *rows]) + "\n"


def main() -> int:
    load()
    PAGE.write_text(page())
    APPLICATIONS.write_text(applications_page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
