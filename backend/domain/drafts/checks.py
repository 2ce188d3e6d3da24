"""What is looked at before people review a draft: facts beside the draft, never a verdict."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from backend.domain.benchmarks import TaskLintFinding, external_assets, findings
from backend.domain.drafts.content import DraftContent, assets_of, task_of
from backend.domain.drafts.criteria import unclear, unsaid
from backend.domain.drafts.preconditions import addresses, undeclared, unmade
from backend.domain.drafts.similarity import near_duplicates


@dataclass(frozen=True)
class ContentCheck:
    """One thing that was looked at.

    Attributes:
        name: `duplicates`, `files`, `names`, `preconditions` or `criteria`.
        title: for people.
        found: what a reviewer should see, one sentence each; empty = nothing.
        stops: a draft with this cannot be tried or submitted.
    """

    name: str
    title: str
    found: tuple[str, ...]
    stops: bool = False


def review_checks(
    content: DraftContent, others: Iterable[tuple[str, str]], stored: Collection[str] = ()
) -> tuple[ContentCheck, ...]:
    """All checks of one draft.

    Args:
        content: the draft.
        others: (name, instruction) of the tasks and drafts that it must not repeat.
        stored: addresses of files of the web that are stored already.
    """
    problems = findings(task_of(content), assets_of(content))
    wrong = [one for one in problems if one.severity == "error"]
    names = [one for one in wrong if one.unknown]
    rest = [one for one in wrong if not one.unknown]
    alike = near_duplicates(content.instruction, others)
    return (
        ContentCheck("duplicates", "Near-duplicates", tuple(f"{name}: cosine {value:.2f}" for name, value in alike)),
        ContentCheck("names", "Names and parameters", _texts([*names, *rest]), stops=bool(wrong)),
        ContentCheck("files", "Addresses and files", tuple(_files(content, stored))),
        ContentCheck("preconditions", "Declared preconditions", (*undeclared(content), *unmade(content))),
        ContentCheck("criteria", "Clear criteria", (*unclear(content.instruction), *unsaid(content))),
    )


def _texts(problems: Sequence[TaskLintFinding]) -> tuple[str, ...]:
    return tuple(str(one) for one in problems)


def _files(content: DraftContent, stored: Collection[str]) -> list[str]:
    """Addresses that cannot be right, files that are not stored yet, and files that nothing uses."""
    wrong = [f"{url} is not a valid URL." for url in addresses(content) if not _valid(url)]
    absent = [
        f"{url} is not stored yet: fetch it once the task is published."
        for url in external_assets(task_of(content))
        if _valid(url) and url not in stored
    ]
    text = content.model_dump_json()
    idle = [f"asset:{name} is stored and nothing names it." for name in content.assets if f"asset:{name}" not in text]
    return [*wrong, *absent, *idle]


def _valid(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return (
            bool(parts.hostname)
            and (parts.hostname == "localhost" or "." in (parts.hostname or ""))
            and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        return False
