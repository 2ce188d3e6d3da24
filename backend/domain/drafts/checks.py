"""Automatic checks of a draft before people review it. They inform reviewers and decide nothing."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from backend.domain.benchmarks import TaskLintFinding, external_assets, findings
from backend.domain.drafts.content import DraftContent, assets_of, task_of
from backend.domain.drafts.criteria import unclear, unsaid
from backend.domain.drafts.preconditions import addresses, undeclared_steps, unmade
from backend.domain.drafts.similarity import near_duplicates


@dataclass(frozen=True)
class ContentCheck:
    """Result of one check.

    Attributes:
        name: `duplicates`, `files`, `names`, `preconditions` or `criteria`.
        title: its title for people.
        findings: findings for the reviewer, one sentence each; may be empty.
        stops: a draft with this cannot be tried or submitted.
    """

    name: str
    title: str
    findings: tuple[str, ...]
    stops: bool = False


def review_checks(
    content: DraftContent, other_tasks: Iterable[tuple[str, str]], stored: Collection[str] = ()
) -> tuple[ContentCheck, ...]:
    """Runs all checks on one draft.

    Args:
        content: the draft.
        other_tasks: (name, instruction) of tasks and drafts that it must not duplicate.
        stored: addresses of files of the web that are already stored.
    """
    problems = findings(task_of(content), assets_of(content))
    wrong = [problem for problem in problems if problem.severity == "error"]
    names = [problem for problem in wrong if problem.unknown]
    mistakes = [problem for problem in wrong if not problem.unknown]
    alike = near_duplicates(content.instruction, other_tasks)
    return (
        ContentCheck("duplicates", "Near-duplicates", tuple(f"{name}: cosine {value:.2f}" for name, value in alike)),
        ContentCheck("names", "Names and parameters", _texts([*names, *mistakes]), stops=bool(wrong)),
        ContentCheck("files", "Addresses and files", tuple(_files(content, stored))),
        ContentCheck("preconditions", "Declared preconditions", (*undeclared_steps(content), *unmade(content))),
        ContentCheck("criteria", "Clear criteria", (*unclear(content.instruction), *unsaid(content))),
    )


def _texts(problems: Sequence[TaskLintFinding]) -> tuple[str, ...]:
    return tuple(str(problem) for problem in problems)


def _files(content: DraftContent, stored: Collection[str]) -> list[str]:
    """Finds invalid addresses, files that are not stored yet, and unused files."""
    wrong = [f"{url} is not a valid URL." for url in addresses(content) if not _is_valid(url)]
    absent = [
        f"{url} is not stored yet: fetch it once the task is published."
        for url in external_assets(task_of(content))
        if _is_valid(url) and url not in stored
    ]
    text = content.model_dump_json()
    idle = [f"asset:{name} is stored and nothing names it." for name in content.assets if f"asset:{name}" not in text]
    return [*wrong, *absent, *idle]


def _is_valid(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return (
            bool(parts.hostname)
            and (parts.hostname == "localhost" or "." in (parts.hostname or ""))
            and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        return False
