"""ProSoftArena's task metadata. Source: its paper, tables 6 and 9.

The paper publishes the fields, not a file. Accepted are the paper's names (`Core Operations`) and their plain form
(`core_operations`), in the task file under `metadata` or in a `metadata.json` above the tasks. Damaged fields are
skipped with a warning and never prevent an import.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from backend.domain.benchmarks._files import short
from backend.domain.benchmarks._prosoft_software import Software, software_of
from backend.domain.model.task import JSON, Difficulty, Frozen

LEVELS = ("L1", "L2", "L3", "L4")
"""Operation, software, pipeline, creative. L5 (project) is future work in the paper."""
SUBFIELDS: Mapping[str, tuple[str, ...]] = {
    "Art & Design": ("art", "design"),
    "Business": ("accounting", "management", "marketing", "finance"),
    "Science": ("biology", "chemistry", "geography", "mathematics", "physics"),
    "Health & Medicine": ("diagnostics and laboratory medicine", "pharmacy", "public health"),
    "Humanities & Social Science": ("sociology",),
    "Technology & Engineering": (
        "architecture and engineering",
        "computer science",
        "electronics",
        "energy and power",
        "materials",
        "mechanical engineering",
    ),
}
"""The paper's six disciplines and their twenty-one subfields as listed in the protocols reference, section 8."""
_ID_LEVEL = re.compile(r"(?:^|_)(L[1-5])(?:_|$)")
_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,3}):(\d{2})")
_SPOKEN = re.compile(r"(?:(\d+(?:\.\d+)?)\s*(?:min|minutes?|m))?\s*(?:(\d+(?:\.\d+)?)\s*(?:s|sec|seconds?))?")
_MAX_TEXT = 5000
_MAX_ITEMS = 100
Tell = Callable[[str], None]


class Metadata(Frozen):
    """A task's metadata; missing and invalid fields are empty.

    Attributes:
        operation: for an L1 task, the name of its operation.
        core_operations: for an L2 or L3 task, ids or names of the L1 operations that it needs.
        human_seconds: time that a person needs.
        demonstration: a video of the whole task.
        expert_work: asset with a human expert's result of an L4 task.
    """

    level: str = ""
    discipline: str = ""
    subfield: str = ""
    software: tuple[Software, ...] = ()
    operation: str = ""
    core_operations: tuple[str, ...] = ()
    context_resources: tuple[str, ...] = ()
    task_source: str = ""
    expected_output: str = ""
    difficulty: Difficulty | None = None
    demonstration: str = ""
    human_steps: int | None = None
    human_seconds: float | None = None
    expert_work: str = ""
    os: str = "windows"


def read_metadata(task_id: str, raw: JSON, apps: tuple[str, ...], tell: Tell) -> Metadata:
    """Reads the metadata of one task.

    Args:
        task_id: id from the file; it contains the level (`AI_L1_001`).
        raw: the fields; anything else is reported.
        apps: applications of the task file, used if the metadata names no software.
        tell: called with a warning for each damaged or missing field.
    """
    if raw is not None and not isinstance(raw, Mapping):
        tell(f"metadata: expected an object, got {short(raw)}; left out")
    fields = {_plain(name): value for name, value in raw.items()} if isinstance(raw, Mapping) else {}
    human = fields.get("human_reference")
    if isinstance(human, Mapping):
        fields |= {_HUMAN.get(_plain(name), _plain(name)): value for name, value in human.items()}
    reader = _Reader(fields, tell)
    discipline, subfield = _field(reader)
    metadata = Metadata(
        level=_level(reader, task_id),
        discipline=discipline,
        subfield=subfield,
        software=software_of(fields.get("software"), apps, tell),
        operation=reader.text("operation"),
        core_operations=reader.texts("core_operations"),
        context_resources=reader.texts("context_resources"),
        task_source=reader.text("task_source"),
        expected_output=reader.text("expected_output"),
        difficulty=_difficulty(reader),
        demonstration=reader.text("demonstration"),
        human_steps=reader.count("human_steps"),
        human_seconds=_seconds(reader),
        expert_work=reader.text("expert_work"),
        os=reader.one_of("os", ("windows", "linux")) or "windows",
    )
    _missing(metadata, tell)
    return metadata


_HUMAN = {
    "video": "demonstration",
    "demo_video": "demonstration",
    "demonstration_video": "demonstration",
    "steps": "human_steps",
    "time": "human_time",
    "seconds": "human_time",
    "work": "expert_work",
}
_EXPECTED = ("level", "discipline", "subfield", "software", "expected_output", "difficulty", "demonstration",
             "human_steps", "human_seconds")  # fmt: skip


def _missing(metadata: Metadata, tell: Tell) -> None:
    """One warning for all missing fields."""
    lacking = [name.replace("_", " ") for name in _EXPECTED if not getattr(metadata, name)]
    if metadata.level in {"L2", "L3"} and not metadata.core_operations:
        lacking.append("core operations")
    if lacking:
        tell(f"metadata: no {', '.join(lacking)}")


class _Reader:
    """Reads fields of the right type and reports all others."""

    def __init__(self, fields: Mapping[str, Any], tell: Tell) -> None:
        self.fields = fields
        self.tell = tell

    def wrong(self, name: str, expected: str) -> None:
        self.tell(f"metadata {name}: expected {expected}, got {short(self.fields[name])}; left out")

    def text(self, name: str) -> str:
        value = self.fields.get(name)
        if value is None or (isinstance(value, str) and len(value) <= _MAX_TEXT):
            return (value or "").strip()
        self.wrong(name, f"a text of at most {_MAX_TEXT} characters")
        return ""

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; a single text is split at semicolons."""
        value = self.fields.get(name)
        if isinstance(value, str):
            value = value.split(";")
        if value is None:
            return ()
        good = isinstance(value, list) and len(value) <= _MAX_ITEMS
        if not good or not all(isinstance(item, str) and len(item) <= _MAX_TEXT for item in value):
            self.wrong(name, f"a list of at most {_MAX_ITEMS} texts")
            return ()
        return tuple(dict.fromkeys(item.strip() for item in value if item.strip()))

    def one_of(self, name: str, words: tuple[str, ...]) -> str:
        value = self.fields.get(name)
        if value is None:
            return ""
        for word in words:
            if isinstance(value, str) and value.strip().lower() == word.lower():
                return word
        self.wrong(name, f"one of {', '.join(words)}")
        return ""

    def count(self, name: str) -> int | None:
        value = self.fields.get(name)
        if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}", value.strip()):
            value = int(value)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 < value <= 10**6):
            return value
        self.wrong(name, "a number of steps")
        return None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.strip().lower()).strip("_")


def _level(reader: _Reader, task_id: str) -> str:
    """The level in the metadata, else the one in the task's id."""
    written = _ID_LEVEL.search(task_id)
    in_id = written.group(1) if written and written.group(1) in LEVELS else ""
    level = reader.one_of("level", LEVELS)
    if level and in_id and level != in_id:
        reader.tell(f"metadata level: it is {level}, the id {task_id} says {in_id}; the metadata counts")
    return level or in_id


def _field(reader: _Reader) -> tuple[str, str]:
    """Discipline and subfield. A subfield implies its discipline; a contradictory pair is reported."""
    owners = {subfield: discipline for discipline, subfields in SUBFIELDS.items() for subfield in subfields}
    discipline = reader.one_of("discipline", tuple(SUBFIELDS))
    subfield = reader.one_of("subfield", tuple(owners))
    if subfield and discipline and owners[subfield] != discipline:
        reader.tell(f"metadata subfield: {subfield} belongs to {owners[subfield]}, not to {discipline}; both are kept")
    return discipline or owners.get(subfield, ""), subfield


def _difficulty(reader: _Reader) -> Difficulty | None:
    word = reader.one_of("difficulty", tuple(Difficulty))
    return Difficulty(word) if word else None


def _seconds(reader: _Reader) -> float | None:
    """A person's time in seconds, from seconds, `m:ss`, `h:mm:ss` or `3 min 20 s`."""
    value = reader.fields.get("human_time", reader.fields.get("human_seconds"))
    if value is None:
        return None
    seconds = _seconds_of(value.strip().lower()) if isinstance(value, str) else value
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds <= 10**6:
        return float(seconds)
    reader.tell(f"metadata human_time: expected a time such as 200, 3:20 or 3 min 20 s, got {short(value)}; left out")
    return None


def _seconds_of(text: str) -> float | None:
    if clock := _CLOCK.fullmatch(text[:50]):
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        return hours * 3600.0 + minutes * 60.0 + seconds
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text):
        return float(text)
    words = _SPOKEN.fullmatch(text[:50])
    if words is None or not any(words.groups()):
        return None
    return float(words.group(1) or 0) * 60.0 + float(words.group(2) or 0)
