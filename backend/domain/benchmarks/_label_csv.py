"""Task labels by people, as CSV: `task,difficulty,source,human_seconds,human_steps`, and any `label:NAME`.

`task` is `domain/name`, or the name alone if it is unique. `source` says who rated the difficulty (see
DifficultySource). Without a difficulty, it follows from the seconds by OSWorld's rule (its paper, section 3): up to 60
s easy, up to 180 s medium, else hard. A column `label:NAME` has any other label; semicolons separate several values.
Empty cells change nothing.
"""

import csv
import io
import math
from collections.abc import Collection, Iterator, Mapping

from pydantic import Field

from backend.domain.benchmarks._task_labels import LONGEST
from backend.domain.errors import Invalid
from backend.domain.formats.foreign_text import cell
from backend.domain.model.label_filter import LABEL_NAME
from backend.domain.model.task import Difficulty, DifficultySource, Frozen

MOST_ROWS = 20_000
COLUMNS = ("task", "difficulty", "source", "human_seconds", "human_steps")
LABEL = "label:"
EASY_SECONDS, MEDIUM_SECONDS = 60.0, 180.0
_MOST_SECONDS, _MOST_STEPS = 1e6, 1e5


class TaskLabels(Frozen):
    """The labels that one row gives to a task."""

    task: str
    difficulty: Difficulty | None = None
    source: DifficultySource | None = None
    human_seconds: float | None = None
    human_steps: int | None = None
    labels: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)


def by_time(seconds: float) -> Difficulty:
    """The difficulty that corresponds to a person's time in seconds."""
    if seconds <= EASY_SECONDS:
        return Difficulty.EASY
    return Difficulty.MEDIUM if seconds <= MEDIUM_SECONDS else Difficulty.HARD


def read_labels(text: str, keys: Collection[str]) -> list[TaskLabels]:
    """The rows of a CSV text about tasks with these keys.

    Raises:
        Invalid: a column, task or value is unknown; `path` names line and column.
    """
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    try:
        heads = list(reader.fieldnames or ())
        if "task" not in heads or not all(head in COLUMNS or _label_name(head) for head in heads):
            raise Invalid(
                f"expected the columns {', '.join(COLUMNS)} or {LABEL}NAME; `task` is needed",
                code="invalid_labels_file",
                path="line 1",
            )
        rows = list(_rows(reader, _names(keys)))
    except csv.Error as error:
        raise Invalid(
            f"the CSV file cannot be read: {error}", code="invalid_labels_file", path=f"line {reader.line_num}"
        ) from error
    if not rows:
        raise Invalid("there is no row", code="invalid_labels_file", path="line 2")
    return rows


def _names(keys: Collection[str]) -> dict[str, str]:
    """Full keys, as our own tables write them, too, and the bare names of tasks that are unique."""
    by_name: dict[str, list[str]] = {}
    for key in keys:
        by_name.setdefault(key.partition("/")[2], []).append(key)
    return {
        **{name: matches[0] for name, matches in by_name.items() if len(matches) == 1},
        **{cell(key): key for key in keys},
        **{key: key for key in keys},
    }


def _rows(reader: "csv.DictReader[str]", names: Mapping[str, str]) -> Iterator[TaskLabels]:
    for number, row in enumerate(reader, start=1):
        if number > MOST_ROWS:
            raise Invalid(f"there are more than {MOST_ROWS} rows", code="invalid_labels_file", path="file")
        if None in row:
            raise Invalid(
                "it has more cells than there are columns", code="invalid_labels_file", path=f"line {reader.line_num}"
            )
        yield _labels({name: (value or "").strip() for name, value in row.items()}, names, f"line {reader.line_num}")


def _labels(row: Mapping[str, str], names: Mapping[str, str], line: str) -> TaskLabels:
    task = names.get(row["task"])
    if task is None:
        raise Invalid(
            f"there is no task {row['task'][:100]!r}",
            code="invalid_labels_file",
            path=f"{line}, task",
            hint="Write domain/name.",
        )
    seconds = _number(row, "human_seconds", _MOST_SECONDS, line)
    steps = _number(row, "human_steps", _MOST_STEPS, line)
    difficulty = _word(row, "difficulty", Difficulty, line)
    source = _word(row, "source", DifficultySource, line)
    if difficulty is None and seconds is not None and source in {None, DifficultySource.HUMAN_TIME}:
        difficulty, source = by_time(seconds), DifficultySource.HUMAN_TIME
    if (difficulty is None) != (source is None):
        raise Invalid(
            "a difficulty needs a source",
            code="invalid_labels_file",
            path=f"{line}, source",
        )
    return TaskLabels(
        task=task,
        difficulty=None if difficulty is None else Difficulty(difficulty),
        source=None if source is None else DifficultySource(source),
        human_seconds=seconds,
        human_steps=None if steps is None else round(steps),
        labels={name: values for head in row if (name := _label_name(head)) and (values := _values(row, head, line))},
    )


def _label_name(head: str) -> str:
    """Name of the label in a column `label:NAME`; empty for any other column, and for labels that columns set."""
    name = head.removeprefix(LABEL) if head.startswith(LABEL) else ""
    return name if LABEL_NAME.match(name) and name not in {"domain", *COLUMNS} else ""


def _values(row: Mapping[str, str], head: str, line: str) -> tuple[str, ...]:
    """The values of a label, separated by semicolons."""
    values = tuple(dict.fromkeys(text for part in row[head].split(";") if (text := " ".join(part.split()))))
    if any(len(text) > LONGEST for text in values):
        raise Invalid(f"a label has at most {LONGEST} characters", code="invalid_labels_file", path=f"{line}, {head}")
    return values


def _word(row: Mapping[str, str], name: str, allowed: "type[Difficulty | DifficultySource]", line: str) -> str | None:
    text = row.get(name, "")
    if text and text not in list(allowed):
        message = f"expected one of {', '.join(allowed)}, got {text[:50]!r}"
        raise Invalid(message, code="invalid_labels_file", path=f"{line}, {name}")
    return text or None


def _number(row: Mapping[str, str], name: str, most: float, line: str) -> float | None:
    text = row.get(name, "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= most:
        raise Invalid(
            f"expected a number from 0 to {most:g}, got {text[:50]!r}",
            code="invalid_labels_file",
            path=f"{line}, {name}",
        )
    return value
