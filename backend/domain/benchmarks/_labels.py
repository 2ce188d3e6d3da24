"""Labels from a published suite's task files, in one spelling."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.domain.benchmarks._assets import external_assets
from backend.domain.machines.applications import ApplicationNeeds
from backend.domain.model.task import JSON, Difficulty, DifficultySource, SetupStep, Task

_APPS = {
    "calc": "libreoffice_calc",
    "writer": "libreoffice_writer",
    "impress": "libreoffice_impress",
    "vscode": "vs_code",
    "edge": "msedge",
    "ppt": "powerpoint",
}
_LIVE = frozenset(
    {
        "active_tab_html_parse",
        "active_tab_info",
        "active_tab_url_parse",
        "active_url_from_accessTree",
        "gotoRecreationPage_and_get_html_content",
        "info_from_website",
        "number_of_search_results",
        "open_tabs_info",
        "page_info",
        "pdf_from_url",
        "url_dashPart",
        "url_path_parse",
    }
)
"""Getters that read a page of the web, in the browser or without it."""
_OPENS = frozenset({"chrome_open_tabs", "edge_open_tabs"})
_ACCOUNT = frozenset({"googledrive", "login", "googledrive_file"})
_LEVELS = {1: Difficulty.EASY, 2: Difficulty.MEDIUM, 3: Difficulty.HARD}


@dataclass(frozen=True)
class Suite:
    """Properties shared by all tasks of a suite, from its paper and layout.

    Attributes:
        name: name of the published suite, the key of its reported results; empty = not published.
        os: operating system of its tasks.
        groups: the paper's group of each domain.
        ratings: mean difficulty per domain, 1 easy to 3 hard, if the paper gives nothing else.
        twins: by domain, the domain of the same task on another system.
        by_app: whether what a task requires follows from its applications, unless its file says it.
        facts: labels of every task.
    """

    name: str = ""
    os: str = "linux"
    groups: Mapping[str, str] = field(default_factory=dict)
    ratings: Mapping[str, float] = field(default_factory=dict)
    twins: Mapping[str, str] = field(default_factory=dict)
    by_app: bool = False
    facts: Mapping[str, JSON] = field(default_factory=dict)


UNKNOWN_NEEDS = "unknown_needs"
PLAIN = Suite()
"""No published suite: our own tasks, which carry their labels in their files."""


def app_of(name: str, *, synonyms: bool) -> str:
    """Normalises spellings of an application: `libreoffice-calc`, `LibreOffice Calc`, `calc`."""
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    return _APPS.get(plain, plain) if synonyms else plain


def difficulty_of(suite: Suite, domain: str) -> tuple[Difficulty | None, DifficultySource | None]:
    """A domain's difficulty: the paper's mean, rounded to the nearest of its three levels."""
    rating = suite.ratings.get(domain)
    return (None, None) if rating is None else (_LEVELS[round(rating)], DifficultySource.PAPER_DOMAIN)


def extra_of(task: Task, suite: Suite, raw: Mapping[str, JSON]) -> dict[str, JSON]:
    """Labels that only some suites have; unknown and false ones are left out.

    Keys: `id` (from the file), `snapshot`, `source`, `group` (of the paper), `rating` (1 to 3, the paper's mean of
    the domain), `twin` (key of the same task on another system), `network` (see `network_of`), `proxy`, `fixed_ip`,
    `drift` (low, medium or high: how likely the world that the task needs changes). See also `unknown_label`.
    """
    key = task.key
    extra: dict[str, JSON] = {
        "id": raw.get("id"),
        "snapshot": raw.get("snapshot"),
        "source": raw.get("source"),
        "group": suite.groups.get(key.domain),
        "rating": suite.ratings.get(key.domain),
        "twin": f"{suite.twins[key.domain]}/{key.name}" if key.domain in suite.twins else None,
        "network": network_of(task),
        "proxy": raw.get("proxy") or None,
        "fixed_ip": raw.get("fixed_ip") or None,
        "drift": raw.get("possibility_of_env_change") or ("medium" if raw.get("env_may_change") else None),
        **suite.facts,
    }
    return {name: value for name, value in extra.items() if value not in (None, [], "")}


def unknown_label(needs: ApplicationNeeds) -> dict[str, JSON]:
    """The label `unknown_needs`: applications that the table of applications does not have."""
    return {UNKNOWN_NEEDS: list(needs.unknown)} if needs.unknown else {}


def unknown_needs(tasks: Iterable[Task]) -> list[str]:
    """Warnings for applications of which it is unknown what a desktop needs for them."""
    counts = Counter(app for task in tasks for app in task.labels.extra.get(UNKNOWN_NEEDS, ()))
    return [
        f"applications: what {app!r} needs on a desktop is unknown ({number} task{'' if number == 1 else 's'}); "
        "name its commands in `requires`"
        for app, number in sorted(counts.items())
    ]


def network_of(task: Task) -> list[str]:
    """Network needs of a task: `assets` (stored files of the web), `web` (live pages), `account` (a login)."""
    steps = [*task.setup, *task.evaluator.postconfig]
    specs = [spec for call in task.evaluator.all_calls for spec in (call.result, call.expected) if spec is not None]
    kinds = {step.type for step in steps} | {str(spec.get("type")) for spec in specs}
    needs = {
        "assets": bool(external_assets(task)),
        "web": bool(kinds & _LIVE) or any(_opens_web(step) for step in steps),
        "account": bool(kinds & _ACCOUNT),
    }
    return [need for need, needed in needs.items() if needed]


def _opens_web(step: SetupStep) -> bool:
    if step.type in _OPENS:
        return any(_is_of_web(text) for text in _texts(step.parameters.get("urls_to_open")))
    return step.type == "launch" and any(_is_of_web(text) for text in _texts(step.parameters.get("command")))


def _is_of_web(text: str) -> bool:
    return text.startswith(("http://", "https://", "www.")) and "localhost" not in text and "127.0.0.1" not in text


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from value.split()
    elif isinstance(value, Sequence):
        yield from (part for part in value if isinstance(part, str))
