"""Studies: a grid of conditions over one base configuration, read as paired differences (protocols §9)."""

import json
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import product
from typing import NamedTuple

from pydantic import Field, ValidationError

from backend.domain.errors import Invalid
from backend.domain.model.run import RunConfig
from backend.domain.model.task import JSON, Frozen
from backend.domain.model.validation_words import problem_words
from backend.domain.statistics.intervals import LEVEL, RESAMPLES

MOST_CELLS = 200
MOST_FACTORS = 20
NOTHING = "none"
"""Name of the level `null`: the field's default."""
TASKS = "tasks"
"""The factor whose levels are task sets: every other cell is measured on each of them, and compared within each."""
_SAME = frozenset({"where", "repeats", "seed"})
"""Settings that pairs share, so that no factor may change them."""
_SIZES = frozenset({"screen", "image.fit"})
_NAME = re.compile(r"\w[\w-]*(\.\w[\w-]*)*", re.ASCII)
_SIZE = re.compile(r"(\d{1,5})x(\d{1,5})")


class Design(StrEnum):
    """Which cells a study has."""

    ONE_AT_A_TIME = "one_at_a_time"
    FULL = "full"


class Factor(Frozen):
    """A property that differs between cells.

    Attributes:
        name: a field of `RunConfig`, with dots into it: `image.scale`, `params.history`, `perturbation`, `variant`.
        levels: values of the field, the first one being the base cell's. A size may be written `1280x800`, a task set
            as its patterns with spaces between; null leaves the field out.
    """

    name: str = Field(min_length=1, max_length=100)
    levels: tuple[JSON, ...] = Field(max_length=MOST_CELLS)


class StudyConfig(Frozen):
    """Configuration of a study.

    Attributes:
        name: for people.
        benchmark: its name; the newest task set counts.
        base: common configuration of all cells: agent, provider, tasks, repeats, seed and all fields without a factor.
        factors: what differs between cells.
        design: `one_at_a_time`: the base cell, and one cell for each further level of each factor. `full`: every
            combination; a level is then compared with the first one under each combination of the others.
        sample: a share of the chosen tasks, drawn from `base.seed`; None = all of them.
        level: confidence of intervals.
        resamples: without effect; intervals were drawn by a bootstrap in version 0.1.
    """

    name: str = Field(default="", max_length=200)
    benchmark: str = Field(min_length=1, max_length=100)
    base: RunConfig
    factors: tuple[Factor, ...] = Field(min_length=1, max_length=MOST_FACTORS)
    design: Design = Design.ONE_AT_A_TIME
    sample: float | None = Field(default=None, gt=0, le=1)
    level: float = Field(default=LEVEL, ge=0.5, le=0.999)
    resamples: int = Field(default=RESAMPLES, ge=100, le=20_000)

    @property
    def cell_count(self) -> int:
        """Number of cells of the design."""
        numbers = [len(factor.levels) for factor in self.factors if factor.name != TASKS]
        sets = math.prod(len(factor.levels) for factor in self.factors if factor.name == TASKS)
        return sets * (math.prod(numbers) if self.design is Design.FULL else 1 + sum(number - 1 for number in numbers))

    @property
    def compared(self) -> tuple[Factor, ...]:
        """The factors whose levels are compared: all but the task sets."""
        return tuple(factor for factor in self.factors if factor.name != TASKS)

    def in_order(self, levels: Mapping[str, JSON]) -> dict[str, JSON]:
        """A cell's levels in the order of the factors, which a database does not keep."""
        return {factor.name: levels[factor.name] for factor in self.factors}


def check(study: StudyConfig) -> None:
    """Raises Invalid with the path of the first invalid factor, or if the design is too large."""
    names = [factor.name for factor in study.factors]
    for factor in study.factors:
        _check_factor(factor)
        clash = [name for name in names if name.startswith(f"{factor.name}.")]
        if names.count(factor.name) > 1 or clash:
            other_factor = clash[0] if clash else factor.name
            raise Invalid(
                "two factors set the same field",
                code="invalid_study",
                path=f"factors.{factor.name}",
                hint=f"The other: {other_factor}.",
            )
    if study.factors and not study.compared:
        raise Invalid(
            "task sets are not compared with each other",
            code="invalid_study",
            path=f"factors.{TASKS}",
            hint="Add a factor, for example agent.",
        )
    if len(study.compared) < len(study.factors) and study.sample is not None:
        hint = "Leave it out, or list the tasks of each set."
        raise Invalid("a sample is drawn from one selection of tasks", code="invalid_study", path="sample", hint=hint)
    if study.cell_count > MOST_CELLS:
        hint = "Take fewer factors or levels, or one factor at a time."
        raise Invalid(
            f"{study.cell_count} cells are more than {MOST_CELLS}", code="study_too_large", path="factors", hint=hint
        )


def _check_factor(factor: Factor) -> None:
    path, field = f"factors.{factor.name}", factor.name.split(".")[0]
    if not _NAME.fullmatch(factor.name):
        raise Invalid(
            "a factor is a field of a run, with dots into it",
            code="invalid_study",
            path=path,
            hint="For example image.scale.",
        )
    if field in _SAME:
        raise Invalid(
            f"pairs share {field}, so it cannot be a factor",
            code="invalid_study",
            path=path,
            hint="Set it in the base.",
        )
    if field not in RunConfig.model_fields:
        known = ", ".join(sorted(set(RunConfig.model_fields) - _SAME))
        raise Invalid(f"a run has no field {field!r}", code="invalid_study", path=path, hint=f"It has {known}.")
    if len(factor.levels) < 2:  # noqa: PLR2004 - with one level there is nothing to compare
        raise Invalid(
            "a factor has two levels or more", code="invalid_study", path=path, hint="The first one is the base cell's."
        )
    words = [level_label(level) for level in factor.levels]
    twice = sorted({word for word in words if words.count(word) > 1})
    if twice:
        raise Invalid(f"the level {twice[0]} occurs twice", code="invalid_study", path=path)


class DesignCell(NamedTuple):
    """One condition of a study.

    Attributes:
        levels: the level of every factor.
        config: the run that measures it.
    """

    levels: Mapping[str, JSON]
    config: RunConfig

    @property
    def label(self) -> str:
        """`image.scale = 0.5, observation = screenshot`."""
        return cell_label(self.levels)


def cell_label(levels: Mapping[str, JSON]) -> str:
    """A cell as text."""
    return ", ".join(f"{factor} = {level_label(level)}" for factor, level in levels.items())


def level_label(level: JSON) -> str:
    """A level as text: text verbatim, anything else as JSON."""
    if level is None:
        return NOTHING
    return level if isinstance(level, str) else json.dumps(level, sort_keys=True)


def cells(study: StudyConfig, tasks: Sequence[str] | None = None) -> list[DesignCell]:
    """All cells, the base cell first.

    Args:
        study: the design.
        tasks: patterns of the chosen tasks, the same for all cells; None = those of the base.

    Raises:
        Invalid: see `check`; or a level is invalid for its field: `path` names it, as `factors.image.scale.1`.
    """
    check(study)
    # What the request left open stays open, so that a preset may fill it in.
    base = study.base.model_dump(mode="json", exclude_unset=True)
    if tasks is not None:
        base["tasks"] = list(tasks)
    return [_cell(study, base, levels) for levels in _combinations(study)]


def _combinations(study: StudyConfig) -> Iterator[dict[str, JSON]]:
    sets = next((factor.levels for factor in study.factors if factor.name == TASKS), None)
    for levels in _conditions(study):
        yield from [levels] if sets is None else ({**levels, TASKS: level} for level in sets)


def _conditions(study: StudyConfig) -> Iterator[dict[str, JSON]]:
    """Levels of the compared factors."""
    factors = study.compared
    if study.design is Design.FULL:
        for levels in product(*(factor.levels for factor in factors)):
            yield dict(zip((factor.name for factor in factors), levels, strict=True))
        return
    first = {factor.name: factor.levels[0] for factor in factors}
    yield first
    for factor in factors:
        for level in factor.levels[1:]:
            yield {**first, factor.name: level}


def _cell(study: StudyConfig, base: Mapping[str, JSON], levels: Mapping[str, JSON]) -> DesignCell:
    config: dict[str, JSON] = json.loads(json.dumps(base))
    for factor, level in levels.items():
        _set(config, factor, level, study)
    try:
        return DesignCell(levels, RunConfig.model_validate(config))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise _misfit(study, levels, ".".join(map(str, first["loc"])), problem_words(first)) from error


def _set(config: dict[str, JSON], factor: str, level: JSON, study: StudyConfig) -> None:
    """Puts a level into its field; on the way objects that are not there yet are made."""
    *folders, last = factor.split(".")
    section = config
    for name in folders:
        if section.get(name) is None:
            section[name] = {}
        if not isinstance(section[name], dict):
            raise Invalid(f"a run's {name} has no fields in it", code="invalid_study", path=f"factors.{factor}")
        section = section[name]
    if level is None:
        section.pop(last, None)
    else:
        section[last] = _value(factor, level, study)


def _value(factor: str, level: JSON, study: StudyConfig) -> JSON:
    """The field's value; a size or a task set as text becomes what the field takes."""
    if factor == TASKS and isinstance(level, str):
        return list(level.split())
    if factor not in _SIZES or not isinstance(level, str):
        return level
    match = _SIZE.fullmatch(level)
    if match is None:
        raise Invalid(f"{level!r} is not a size like 1280x800", code="invalid_study", path=_path(study, factor, level))
    width, height = int(match[1]), int(match[2])
    return {"width": width, "height": height} if factor == "screen" else [width, height]


def _misfit(study: StudyConfig, levels: Mapping[str, JSON], where: str, message: str) -> Invalid:
    """The error of the factor that set the field, or of the base where none did."""
    for factor, level in levels.items():
        if where == factor or where.startswith(f"{factor}.") or factor.startswith(f"{where}."):
            path, hint = _path(study, factor, level), f"Given: {level_label(level)[:80]}."
            return Invalid(message, code="invalid_study", path=path, hint=hint)
    return Invalid(message, code="invalid_study", path=f"base.{where}")


def _path(study: StudyConfig, factor: str, level: JSON) -> str:
    levels = next(study_factor.levels for study_factor in study.factors if study_factor.name == factor)
    return f"factors.{factor}.{[level_label(value) for value in levels].index(level_label(level))}"


def sample_tasks(keys: Sequence[str], share: float, seed: int) -> list[str]:
    """A seeded share of the tasks, one at least, in their own order; the same for the same tasks and seed."""
    size = max(1, round(len(keys) * share))
    sampled = set(random.Random(f"{seed}\n{share}").sample(sorted(keys), size))  # noqa: S311 - no secret.
    return [key for key in keys if key in sampled]


def matched_cells(cells: Sequence[Mapping[str, JSON]], factor: str, level: JSON, base: JSON) -> list[tuple[int, int]]:
    """Pairs of cells that differ only in that factor, as (index with `base`, index with `level`)."""

    def rest(levels: Mapping[str, JSON]) -> str:
        return json.dumps({name: value for name, value in levels.items() if name != factor}, sort_keys=True)

    first = {rest(levels): at for at, levels in enumerate(cells) if level_label(levels[factor]) == level_label(base)}
    others = [
        (at, rest(levels)) for at, levels in enumerate(cells) if level_label(levels[factor]) == level_label(level)
    ]
    return [(first[key], at) for at, key in others if key in first]
