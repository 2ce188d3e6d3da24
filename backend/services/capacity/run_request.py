"""The request for a run, and values derived from it."""

import fnmatch
import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence

from pydantic import Field

from backend.db.models import Task
from backend.db.models.enums import Purpose
from backend.domain.errors import Invalid
from backend.domain.model.label_filter import cut_labels, label_filter, matches
from backend.domain.model.presets import with_preset
from backend.domain.model.run import RunConfig
from backend.domain.model.task import digest
from backend.services.capacity.scheduling_fields import SchedulingUpdate

_NOT_CONDITION = {"tasks", "where", "repeats", "seed"}
_LATER: Mapping[str, object] = {
    "where": [],
    "variant": None,
    "preset": None,
    "observation_params": None,
    "action_params": None,
    "image": None,
    "perturbation": None,
    "judge": None,
    "desktop_image": None,
    "priority": 0,
    "concurrency": None,
    "run_usd": None,
    "run_tokens": None,
    "run_desktop_hours": None,
    "without_episodes": False,
}
"""Fields added after the first runs were stored: with default values, hashes stay as before."""
SELECTION = "@"


class RunRequest(RunConfig, SchedulingUpdate):
    """A run to submit: configuration, benchmark, purpose, and initial scheduling settings.

    Attributes:
        benchmark: its name; the newest task set is used.
        name: display name.
        accepts_episodes: stays running until closed, so that episodes can be added.
        without_episodes: begins without any; only with `accepts_episodes`.
        idempotency_key: repeating the request with the same key returns the same run.
    """

    benchmark: str = Field(min_length=1)
    name: str = Field(default="", max_length=200)
    purpose: Purpose = Purpose.MEASURE
    accepts_episodes: bool = False
    without_episodes: bool = False
    idempotency_key: str | None = Field(default=None, min_length=1, max_length=200)

    def config(self, known_params: Collection[str] = ()) -> RunConfig:
        """Everything that determines results: the request, and the preset's values for the rest.

        Args:
            known_params: names of the agent's parameters; a preset sets no others.

        Raises:
            Invalid: There is no such preset.
        """
        fields = self.model_dump(include=set(RunConfig.model_fields), exclude_unset=True)
        return RunConfig.model_validate(with_preset(fields, frozenset(known_params)))

    def request_hash(self) -> str:
        """SHA-256 (hex) of everything but the key. With a preset, an explicit default and an omitted field differ."""
        return _hash(self, exclude={"idempotency_key"}, exclude_unset=self.preset is not None)


def config_hash(config: RunConfig) -> str:
    """SHA-256 (hex) of everything that determines the results."""
    return _hash(config)


def condition_hash(config: RunConfig) -> str:
    """Like `config_hash`, without selection, repeats and seed: equal for runs that measure the same thing."""
    return _hash(config, exclude=_NOT_CONDITION)


def _hash(config: RunConfig, exclude: Collection[str] = (), *, exclude_unset: bool = False) -> str:
    values = config.model_dump(mode="json", exclude=set(exclude), exclude_unset=exclude_unset)
    if values.get("budget", {}).get("level_steps", ...) is None:
        del values["budget"]["level_steps"]
    return digest({name: value for name, value in values.items() if name not in _LATER or value != _LATER[name]})


def episode_seed(run_seed: int, task_key: str, repeat: int) -> int:
    """An episode's own seed, in [0, 2**31): depends only on run seed, task and repeat."""
    text = f"{run_seed}\n{task_key}\n{repeat}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


def select_tasks(
    tasks: Sequence[Task],
    patterns: Iterable[str],
    selections: Mapping[str, Collection[str]] | None = None,
    where: Sequence[str] = (),
) -> list[Task]:
    """Tasks whose `domain/name` matches one of the patterns, in the task set's order; no pattern = all.

    A pattern `@name` means the tasks of a named selection (`selections`: keys by name). `where` are conditions on
    labels, all of which must hold (see `label_filter`).

    Raises:
        Invalid: a pattern or condition matches no task, or there is no task; `path` says which one.
    """
    matching = [_matching(tasks, pattern, position, selections or {}) for position, pattern in enumerate(patterns)]
    keys = set().union(*matching)
    selection = [task for task in tasks if not matching or task.key in keys]
    if not selection:
        raise Invalid("the benchmark has no tasks", code="no_task_selected", path="benchmark")
    return _with_labels(selection, where)


def _with_labels(tasks: Sequence[Task], where: Sequence[str]) -> list[Task]:
    """Those of the tasks that meet the conditions; each condition alone must be met by some task."""
    for position, condition in enumerate(where):
        conditions = label_filter([condition])
        if not any(matches(task.labels, conditions) for task in tasks):
            name = next(iter(conditions))
            values = sorted({value for task in tasks for value in task.labels.get(name, ())})
            labels = sorted(cut_labels(task.labels for task in tasks))
            raise Invalid(
                f"{condition!r} matches none of the {len(tasks)} tasks",
                code="no_task_selected",
                path=f"where.{position}",
                hint=f"Values of {name}: {', '.join(values[:20])}." if values else f"Labels: {', '.join(labels)}.",
            )
    conditions = label_filter(where)
    selection = [task for task in tasks if matches(task.labels, conditions)]
    if not selection:
        raise Invalid("no task has all of these labels", code="no_task_selected", path="where")
    return selection


def _matching(
    tasks: Sequence[Task], pattern: str, position: int, selections: Mapping[str, Collection[str]]
) -> set[str]:
    """Keys of tasks for one pattern or named selection."""
    if pattern.startswith(SELECTION):
        return _selection(pattern.removeprefix(SELECTION), position, selections)
    keys = {task.key for task in tasks if fnmatch.fnmatchcase(task.key, pattern)}
    if not keys:
        raise Invalid(
            f"{pattern!r} matches none of the {len(tasks)} tasks",
            code="no_task_selected",
            path=f"tasks.{position}",
            hint="A pattern is matched against domain/name, for example files/* or */rename-report.",
        )
    return keys


def _selection(name: str, position: int, selections: Mapping[str, Collection[str]]) -> set[str]:
    if name not in selections:
        names = ", ".join(sorted(selections)) or "none"
        raise Invalid(
            f"there is no selection {name!r}",
            code="unknown_selection",
            path=f"tasks.{position}",
            hint=f"Known: {names}.",
        )
    return set(selections[name])
