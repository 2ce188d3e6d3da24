"""Form that starts a run: its choices."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from backend.db.repositories.benchmarks import benchmark_parts as parts
from backend.db.repositories.benchmarks import benchmarks as benchmark_repository
from backend.db.repositories.benchmarks import task_groups as repository
from backend.db.repositories.benchmarks.task_groups import ALL, TaskFilter, TaskGroup, TaskNeeds
from backend.db.repositories.common_queries import AnyRow
from backend.domain.model.presets import PRESETS
from backend.domain.model.reason import Reason
from backend.domain.model.task import UNLABELLED
from backend.services.benchmarks.benchmarks import latest_task_set
from backend.services.benchmarks.labels import LabelCounts, label_counts
from backend.services.benchmarks.variants import known_variants
from backend.services.capacity.views.capabilities import AgentView, RunOptions, abilities
from backend.services.capacity.views.endpoints import EndpointState, endpoints_page

MOST_TASKS = 500
"""The form lists all tasks of a benchmark with at most so many."""
MOST_LISTED = 2000
"""Of a larger one, it lists at most so many."""
WhyNot = Callable[[TaskNeeds], Reason | None]


@dataclass(frozen=True)
class Parameter:
    """One field of an agent's parameters, from its JSON schema.

    Attributes:
        kind: text, integer, number, boolean, choice, json, endpoint or model.
        low, high: bounds, if the schema has them.
    """

    name: str
    label: str
    kind: str
    help: str
    default: str
    required: bool
    choices: tuple[str, ...]
    low: float | None
    high: float | None


@dataclass(frozen=True)
class TaskChoice:
    """A task that can be selected."""

    key: str
    name: str
    instruction: str
    difficulty: str
    why_not: Reason | None


@dataclass(frozen=True)
class DomainChoice:
    """A domain that can be selected.

    Attributes:
        tasks: number of its tasks.
        blocked: number of those that cannot run on the chosen desktops.
        choices: its tasks, as far as they are listed.
        shown: it has tasks that are searched for, or nothing is searched for.
    """

    name: str
    tasks: int
    blocked: int
    choices: Sequence[TaskChoice]
    shown: bool

    @property
    def whole(self) -> str:
        """The pattern that selects all of its tasks."""
        return f"{self.name}/*"


@dataclass(frozen=True)
class ListedTasks:
    """Which tasks the form of a large benchmark lists, besides the ticked ones.

    Attributes:
        ticked: keys of the ticked tasks.
        domains: those that are opened.
        words: searched for in keys and instructions.
    """

    ticked: Sequence[str] = ()
    domains: Sequence[str] = ()
    words: str = ""


@dataclass(frozen=True)
class EndpointChoice:
    """A model endpoint that can be chosen, with the models that were used there.

    Attributes:
        usable: it is set up, so that requests to it are sent.
    """

    name: str
    state: str
    usable: bool
    models: tuple[str, ...]


@dataclass(frozen=True)
class NewRun:
    """Choices of the form.

    Attributes:
        judged: number of tasks that need a judge.
        complete: every task is listed; else those that were opened, searched for or ticked.
        endpoints: of models, with their state.
    """

    benchmarks: list[tuple[str, str]]
    benchmark: str
    agents: list[tuple[AgentView, list[Parameter]]]
    able: RunOptions
    presets: Mapping[str, str]
    domains: Sequence[DomainChoice] = ()
    selections: Mapping[str, int] = field(default_factory=dict)
    variants: Mapping[str, int] = field(default_factory=dict)
    labels: LabelCounts = field(default_factory=dict)
    judged: int = 0
    complete: bool = True
    endpoints: Sequence[EndpointChoice] = ()

    @property
    def tasks(self) -> int:
        """Tasks of the chosen benchmark."""
        return sum(domain.tasks for domain in self.domains)


def new_run(
    session: Session, benchmark: str, provider: str, image: str = "", listed: ListedTasks = ListedTasks()
) -> NewRun:
    """The form for a benchmark (default: the first), with what can run on that provider's image."""
    known = [(row.name, row.title or row.name) for row in benchmark_repository.all_of(session, None)]
    names = [name for name, _ in known]
    chosen = benchmark if benchmark in names else (names[0] if names else "")
    able = abilities(session)
    page = NewRun(
        benchmarks=known,
        benchmark=chosen,
        agents=[(agent, parameters(agent.schema)) for agent in able.agents],
        able=able,
        presets={name: preset.about for name, preset in PRESETS.items()},
        endpoints=_endpoints(session),
    )
    return _with_tasks(session, page, partial(able.why_not, provider, image=image or None), listed) if chosen else page


def _endpoints(session: Session) -> list[EndpointChoice]:
    """Endpoints that workers have, with the models of the last 30 days."""
    return [
        EndpointChoice(
            name=endpoint.name,
            state=endpoint.state.value,
            usable=endpoint.state is not EndpointState.NOT_SET_UP,
            models=tuple(model.model for model in endpoint.models),
        )
        for endpoint in endpoints_page(session, "30d").endpoints
        if endpoint.state is not EndpointState.REMOVED
    ]


def _with_tasks(session: Session, page: NewRun, why_not: WhyNot, listed: ListedTasks) -> NewRun:
    """The form with the tasks of its benchmark."""
    task_set = latest_task_set(session, page.benchmark)
    groups = repository.task_groups(session, task_set.id)
    complete = sum(group.number for group in groups) <= MOST_TASKS
    domains = () if listed.words else listed.domains
    some = complete or listed.ticked or domains or listed.words
    among = ALL if complete else TaskFilter(keys=listed.ticked, domains=domains, words=listed.words)
    rows = repository.task_rows(session, task_set.id, among, limit=MOST_LISTED) if some else ()
    searched = bool(listed.words) and not complete
    return replace(
        page,
        domains=domain_choices(groups, rows, why_not, searched=searched),
        selections=parts.selection_sizes(session, task_set.id),
        variants=known_variants(session, task_set.id),
        labels=label_counts(task_set),
        judged=sum(group.number for group in groups if group.requires_judge),
        complete=complete,
    )


def domain_choices(
    groups: Iterable[TaskGroup], rows: Iterable[AnyRow], why_not: WhyNot, *, searched: bool
) -> list[DomainChoice]:
    """Domains with their numbers and listed tasks.

    Args:
        groups: all tasks, in the order of domains.
        rows: listed tasks (`repositories.benchmarks.task_groups.task_rows`).
        why_not: why a task, or each of a group, cannot run.
        searched: tasks are searched for.
    """
    choices: dict[str, list[TaskChoice]] = {}
    for row in rows:
        choice = TaskChoice(row.key, row.name, row.instruction, row.difficulty or UNLABELLED, why_not(row))
        choices.setdefault(row.domain, []).append(choice)
    numbers, blocked = Counter[str](), Counter[str]()
    for group in groups:
        numbers[group.domain] += group.number
        blocked[group.domain] += group.number if why_not(group) else 0
    return [
        DomainChoice(name, number, blocked[name], choices.get(name, ()), shown=not searched or name in choices)
        for name, number in numbers.items()
    ]


def parameters(schema: Mapping[str, Any]) -> list[Parameter]:
    """The fields of a pydantic model's JSON schema; models and endpoints first, which are chosen most often."""
    required = set(schema.get("required") or ())
    fields = [
        _parameter(name, _resolved(field, schema), required=name in required)
        for name, field in (schema.get("properties") or {}).items()
    ]
    return sorted(fields, key=lambda field: field.kind not in {"endpoint", "model"})


def _resolved(field: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """A field with its reference resolved and its `null` alternative removed."""
    merged = dict(field)
    if "$ref" in merged:
        name = str(merged.pop("$ref")).rpartition("/")[2]
        merged = {**(schema.get("$defs") or {}).get(name, {}), **merged}
    options = [option for option in merged.get("anyOf") or () if option.get("type") != "null"]
    if len(options) == 1:
        merged = {**_resolved(options[0], schema), **merged}
    return merged


def _asking(name: str) -> str:
    """The kind of a parameter that names an endpoint or a model, as `model` and `grounder_endpoint` do."""
    last = name.rpartition("_")[2]
    return last if last in {"endpoint", "model"} else ""


def _parameter(name: str, field: Mapping[str, Any], *, required: bool) -> Parameter:
    kind = {"integer": "integer", "number": "number", "boolean": "boolean", "string": "text"}.get(
        str(field.get("type")), "json"
    )
    default = field.get("default")
    return Parameter(
        name=name,
        label=name.replace("_", " "),
        kind="choice" if field.get("enum") else _asking(name) or kind,
        help=str(field.get("description") or ""),
        default="" if default is None else default if isinstance(default, str) else json.dumps(default),
        required=required,
        choices=tuple(str(choice) for choice in field.get("enum") or ()),
        low=field.get("minimum", field.get("exclusiveMinimum")),
        high=field.get("maximum", field.get("exclusiveMaximum")),
    )
