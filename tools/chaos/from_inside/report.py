"""Results of the deaths: the table, and the page docs/reports/from-inside.md."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tools.bench.figures import machine
from tools.chaos.from_inside.campaign import DeathOutcome, summary

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reports" / "from-inside.md"
_HEAD = """# Deaths from inside

Written by `make chaos ARGS="--from-inside --write"`: each line is one attempt of the worker's own code on a real
desktop, whose agent carries the deed out at its first step and then looks at the screen. Right is a score of 0: neither
lost nor tried again ([who caused it](../internals/worker.md#who-caused-it)). A desktop that survived was
evaluated as usual. A provider that could not be tried on the last machine keeps its section of an earlier one.

"""


def table(provider: str, outcomes: Sequence[DeathOutcome]) -> str:
    """One provider's section."""
    at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    lines = [f"## {provider}", "", f"**{summary(outcomes)}**. {at}, {machine()}.", ""]
    lines += ["| deed | ended by | cause | score | seconds |", "|---|---|---|---|---|"]
    for outcome in outcomes:
        end = outcome.ended_by if outcome.ended == "scored" else f"{outcome.ended}: {outcome.message[:200]}"
        cause = outcome.cause.replace("_", " ") or "survived"
        score = "none" if outcome.score is None else f"{outcome.score:g}"
        lines.append(f"| {outcome.death.name} | {end} | {cause} | {score} | {outcome.seconds:.1f} |")
    return "\n".join([*lines, ""])


def write(results: Mapping[str, Sequence[DeathOutcome]]) -> None:
    """Writes the page: new sections take the place of those of the same provider."""
    _, *former = f"\n{PAGE.read_text()}".split("\n## ") if PAGE.exists() else [""]
    sections = {section.partition("\n")[0]: f"## {section.rstrip()}\n" for section in former}
    sections |= {name: table(name, outcomes) for name, outcomes in results.items()}
    PAGE.write_text("\n".join([_HEAD.rstrip() + "\n", *sections.values()]))
