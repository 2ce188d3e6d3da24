"""Form that starts a run: its choices."""

import contextlib
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
from backend.db.repositories.runs.new_run_view import used_benchmarks
from backend.domain import registry
from backend.domain.errors import UnknownPlugin
from backend.domain.model.presets import PRESETS, Preset
from backend.domain.model.reason import Reason
from backend.domain.model.run import ImageView
from backend.domain.model.task import UNLABELLED
from backend.domain.registry import PluginKind
from backend.services.benchmarks.benchmarks import latest_task_set
from backend.services.benchmarks.labels import LabelCounts, label_counts
from backend.services.benchmarks.variants import known_variants
from backend.services.capacity.views.capabilities import AgentView, RunOptions, abilities
from backend.services.capacity.views.endpoints import EndpointState, endpoints_page

MOST_TASKS = 500
"""Largest benchmark whose tasks the form lists completely."""
MOST_LISTED = 2000
"""Most tasks that it lists of a larger one."""
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

    def has_default(self, value: Any) -> bool:
        """Whether the value is the default."""
        return value == self.default or json.dumps(value) == self.default


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
        preset: the chosen one.
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
    preset: Preset | None = None

    @property
    def preset_params(self) -> Mapping[str, Any]:
        """Parameters of agents that the chosen preset sets."""
        return self.preset.params if self.preset else {}

    @property
    def budget_defaults(self) -> Mapping[str, str]:
        """Values used for empty budget fields, and their source."""
        own = self.preset.config.get("budget", {}) if self.preset else {}
        steps = f"{own['max_steps']} (preset)" if "max_steps" in own else ""
        by_level = "by level (preset)" if own.get("level_steps") else "the task's, else 30"
        seconds = f"{own['max_seconds']:g} (preset)" if "max_seconds" in own else "1800 (default)"
        return {"max_steps": steps or by_level, "max_seconds": seconds}

    @property
    def screen_default(self) -> str:
        """The screen without a choice, and whose value that is."""
        own = self.preset.config.get("screen") if self.preset else None
        return f"{own['width']}x{own['height']} (preset)" if own else "1920x1080 (default)"

    @property
    def tasks(self) -> int:
        """Tasks of the chosen benchmark."""
        return sum(domain.tasks for domain in self.domains)


def new_run(
    session: Session, benchmark: str, provider: str, image: str = "", listed: ListedTasks = ListedTasks()
) -> NewRun:
    """The form for a benchmark (default: the last used one), with what can run on that provider's image."""
    able = abilities(session)
    why_not = partial(able.why_not, provider, image=image or None)
    benchmarks = _benchmarks(session, why_not)
    names = [name for name, _ in benchmarks]
    selected = benchmark if benchmark in names else (names[0] if names else "")
    page = NewRun(
        benchmarks=benchmarks,
        benchmark=selected,
        agents=[(agent, parameters(agent.schema)) for agent in able.agents],
        able=able,
        presets={name: preset.about for name, preset in PRESETS.items()},
        endpoints=_endpoints(session),
    )
    return _with_tasks(session, page, why_not, listed) if selected else page


def _benchmarks(session: Session, why_not: WhyNot) -> list[tuple[str, str]]:
    """(name, title), last used first; before the first run, the one with the most tasks that can run here."""
    rows = benchmark_repository.all_of(session, None)
    used = {key: index for index, key in enumerate(used_benchmarks(session))}
    if used:
        rows = sorted(rows, key=lambda row: used.get(row.id, len(used)))
    elif len(rows) > 1:
        rows = sorted(rows, key=lambda row: -_runnable(session, row.name, why_not))
    return [(row.name, row.title or row.name) for row in rows]


def _runnable(session: Session, benchmark: str, why_not: WhyNot) -> int:
    """Number of tasks that can run."""
    groups = repository.task_groups(session, latest_task_set(session, benchmark).id)
    return sum(group.number for group in groups if why_not(group) is None)


def agent_parameters(session: Session) -> list[tuple[AgentView, list[Parameter]]]:
    """Agents that workers offer, with the fields of their parameters."""
    return [(agent, parameters(agent.schema)) for agent in abilities(session).agents]


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
        _parameter(name, _resolve(field, schema), required=name in required)
        for name, field in (schema.get("properties") or {}).items()
    ]
    return sorted(fields, key=lambda field: field.kind not in {"endpoint", "model"})


def option_fields(observation: str, action_space: str) -> dict[str, list[Parameter]]:
    """Fields of the options of both spaces and of the screenshot, by their name in a run; none of unknown spaces."""
    registry.load()
    fields = {"image": parameters(ImageView.model_json_schema())}
    for name, kind, space in (
        ("observation_params", PluginKind.OBSERVATION, observation),
        ("action_params", PluginKind.ACTION_SPACE, action_space),
    ):
        with contextlib.suppress(UnknownPlugin):
            fields[name] = parameters(registry.lookup(kind, space).Params.model_json_schema())
    return fields


def _resolve(field: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """A field with its reference resolved and its `null` alternative removed."""
    merged = dict(field)
    if "$ref" in merged:
        name = str(merged.pop("$ref")).rpartition("/")[2]
        merged = {**(schema.get("$defs") or {}).get(name, {}), **merged}
    options = [option for option in merged.get("anyOf") or () if option.get("type") != "null"]
    if len(options) == 1:
        merged = {**_resolve(options[0], schema), **merged}
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
