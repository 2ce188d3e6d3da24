"""Reads a folder of results in OSWorld's form; see `osworld` for what it looks like.

Symbolic links are not followed, and everything that is wrong is listed at once.
"""

import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from backend.domain.errors import Invalid
from backend.domain.model.episode import EndedBy
from backend.domain.model.outside_results import LONGEST_ERROR, OutsideResults
from backend.domain.model.run import ScreenSize
from backend.domain.model.validation_words import problem_words

MOST_LISTED = 20
_MARKERS = frozenset({"result.txt", "traj.jsonl"})
_PASS = re.compile(r"pass_([1-9]\d{0,2})")
_SECRET = re.compile(r"password|secret|token$|api_?key", re.IGNORECASE)
_NAMES = ("action_space", "observation", "model")
_DEEPEST = 6
_LONGEST_RESULT = 1000
LARGEST_TRAJECTORY = 2**28
_LARGEST_ARGUMENTS = 2**18
_ENDS = {"DONE": EndedBy.DONE, "FAIL": EndedBy.INFEASIBLE}
_WORDS = {"True": 1.0, "False": 0.0}
"""OSWorld's own reader accepts Python's words for them."""


@dataclass(frozen=True)
class _Problems:
    """Problems by file."""

    texts: list[str] = field(default_factory=list)

    def add(self, path: Path, text: str) -> None:
        self.texts.append(f"{path}: {text}")

    def raise_any(self, folder: Path) -> None:
        if not self.texts:
            return
        more = len(self.texts) - MOST_LISTED
        listed = "; ".join(self.texts[:MOST_LISTED]) + (f"; and {more} more" if more > 0 else "")
        raise Invalid(listed, code="invalid_results", path=str(folder), hint="Nothing was imported.")


def read_results(folder: Path, names: Mapping[str, str] | None = None) -> OutsideResults:
    """The results in a folder.

    Args:
        folder: the folder of results, or one below it down to that of one model.
        names: `model`, `action_space`, `observation`, where the folders' names are not right.

    Raises:
        Invalid: it has no results, those of several models, or files that are not as they have to be; all are listed.
    """
    if not folder.is_dir():
        raise Invalid("this is not a folder", code="invalid_results", path=str(folder))
    problems = _Problems()
    examples = _examples(folder, problems)
    problems.raise_any(folder)
    base = _base(folder, examples)
    arguments = _arguments(folder / base, problems)
    steps = arguments.get("max_steps")
    episodes = [_episode(folder, example, steps, problems) for example in examples]
    problems.raise_any(folder)
    values = {
        **dict(zip(_NAMES, _parents(folder, base), strict=True)),
        **{name: value for name, value in (names or {}).items() if value},
        "max_steps": steps if isinstance(steps, int) and 1 <= steps <= 1000 else None,  # noqa: PLR2004 - the budget's own limits
        "screen": _screen(arguments),
        "arguments": arguments,
        "episodes": episodes,
    }
    try:
        return OutsideResults.model_validate(values)
    except ValidationError as error:
        for problem in error.errors(include_url=False):
            problems.add(Path(*map(str, problem["loc"])), problem_words(problem))
    problems.raise_any(folder)
    raise AssertionError("a validation error names what is wrong")


def _screen(arguments: Mapping[str, Any]) -> ScreenSize | None:
    """Size of the screen; None if the arguments do not say it."""
    try:
        return ScreenSize(width=arguments.get("screen_width"), height=arguments.get("screen_height"))
    except ValidationError:
        return None


def _examples(folder: Path, problems: _Problems) -> list[Path]:
    """Folders of examples, relative: those with a file of results, and their neighbours without one."""
    below_of: dict[Path, list[str]] = {}
    examples: set[Path] = set()
    for path, below, files in os.walk(folder):
        directory = Path(path).relative_to(folder)
        below[:] = sorted(name for name in below if not name.startswith("."))
        below_of[directory] = list(below)
        for name in below:
            if (Path(path) / name).is_symlink():
                problems.add(directory / name, "symbolic links are not followed")
        if _MARKERS & set(files):
            examples.add(directory)
        if directory in examples or len(directory.parts) >= _DEEPEST:
            below.clear()
    if not examples:
        hint = "Expected ACTION_SPACE/OBSERVATION/MODEL/DOMAIN/EXAMPLE/result.txt."
        raise Invalid("there are no results in this folder", code="invalid_results", path=str(folder), hint=hint)
    for domain in {example.parent for example in examples}:
        examples |= {domain / name for name in below_of.get(domain, ()) if not (folder / domain / name).is_symlink()}
    for example in sorted(examples):
        if len(example.parts) < 2:  # noqa: PLR2004 - domain and example
            problems.add(example, "expected DOMAIN/EXAMPLE below the folder of a model")
    return sorted(examples)


def _base(folder: Path, examples: Sequence[Path]) -> Path:
    """Folder of the domains, relative; of the first pass, if there are several."""
    bases = {example.parent.parent for example in examples}
    models = {_without_pass(base) for base in bases}
    if len(models) > 1:
        listed = ", ".join(sorted(map(str, models))[:MOST_LISTED])
        raise Invalid(
            f"it has results of several models: {listed}",
            code="invalid_results",
            path=str(folder),
            hint="Import each of these folders by itself.",
        )
    return min(bases)


def _without_pass(base: Path) -> Path:
    return Path(*(part for part in base.parts if not _PASS.fullmatch(part)))


def _parents(folder: Path, base: Path) -> Sequence[str]:
    """Names of action space, observation and model: the three folders above the domains."""
    parts = (folder.resolve() / base).parts[1:]
    return ["unknown"] * max(0, len(_NAMES) - len(parts)) + list(parts[-len(_NAMES) :])


def _arguments(base: Path, problems: _Problems) -> dict[str, Any]:
    """Content of `args.json` without passwords; empty without one."""
    file = base / "args.json"
    if not file.is_file() or file.is_symlink():
        return {}
    try:
        values = json.loads(file.read_bytes()[: _LARGEST_ARGUMENTS + 1], parse_constant=lambda _: None)
    except (OSError, ValueError, RecursionError):
        problems.add(file, "not JSON, or too large")
        return {}
    known = values.items() if isinstance(values, dict) else ()
    return {name: value for name, value in known if not _SECRET.search(name)}


def _episode(folder: Path, example: Path, max_steps: object, problems: _Problems) -> dict[str, Any]:
    """Fields of an `OutsideEpisode`."""
    example_folder = folder / example
    score = _score(example_folder / "result.txt", example / "result.txt", problems)
    steps, ended_by, error = _trajectory(example_folder / "traj.jsonl", example / "traj.jsonl", problems)
    if ended_by is None and score is not None and isinstance(max_steps, int) and steps >= max_steps > 0:
        ended_by = EndedBy.STEPS
    passes = [match for part in example.parts[:-2] if (match := _PASS.fullmatch(part))]
    return {
        "task": "/".join(example.parts[-2:]),
        "repeat": int(passes[0][1]) if passes else 1,
        "score": score,
        "steps": steps,
        "ended_by": None if score is None else ended_by,
        "error": "" if score is not None else (error or "no result.txt")[:LONGEST_ERROR],
    }


def _score(file: Path, name: Path, problems: _Problems) -> float | None:
    """The number in `result.txt`; None if there is none."""
    text = _text(file, name, _LONGEST_RESULT, problems)
    if text is None:
        return None
    try:
        score = _WORDS[text] if text in _WORDS else float(text)
    except ValueError:
        problems.add(name, f"{text[:40]!r} is not a number")
        return None
    if not math.isfinite(score) or not 0 <= score <= 1:
        problems.add(name, f"{text[:40]} is not between 0 and 1")
        return None
    return score


def _text(file: Path, name: Path, most: int, problems: _Problems) -> str | None:
    """A small file's text; None if it is missing or wrong."""
    if file.is_symlink():
        problems.add(name, "symbolic links are not followed")
        return None
    if not file.is_file():
        return None
    if file.stat().st_size > most:
        problems.add(name, f"larger than {most} bytes")
        return None
    try:
        return file.read_text().strip()
    except (OSError, UnicodeDecodeError):
        problems.add(name, "cannot be read as text")
        return None


def _trajectory(file: Path, name: Path, problems: _Problems) -> tuple[int, EndedBy | None, str]:
    """Number of steps, what ended them, and the last error."""
    steps, ended_by, error = 0, None, ""
    for number, line in enumerate(_lines(file, name, problems), 1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            problems.add(name, f"line {number} is not a JSON object")
            return 0, None, ""
        error = str(row.get("Error") or row.get("error") or error)
        if "step_num" in row or "action" in row:
            steps = _step(row, steps)
            ended_by = _ENDS.get(_type_of(row.get("action")))
        ended_by = _stated_end(row.get("info")) or ended_by
    return steps, ended_by, error


def _stated_end(info: object) -> EndedBy | None:
    """The end that our own exports state."""
    stated = info.get("ended_by") if isinstance(info, dict) else None
    return EndedBy(stated) if isinstance(stated, str) and stated in set(EndedBy) else None


def _lines(file: Path, name: Path, problems: _Problems) -> Iterator[bytes]:
    if file.is_symlink():
        problems.add(name, "symbolic links are not followed")
    elif file.is_file() and file.stat().st_size > LARGEST_TRAJECTORY:
        problems.add(name, f"larger than {LARGEST_TRAJECTORY // 2**20} MiB")
    elif file.is_file():
        with file.open("rb") as lines:
            yield from (line for line in lines if line.strip())


def _step(row: Mapping[str, Any], before: int) -> int:
    number = row.get("step_num")
    return max(before, number) if type(number) is int and 0 <= number <= 10**6 else before + 1


def _type_of(action: object) -> str:
    """Name of an action, which is a word, code, or an object with its type."""
    if isinstance(action, Mapping):
        action = action.get("action_type")
    return str(action).strip().upper()[:20]
