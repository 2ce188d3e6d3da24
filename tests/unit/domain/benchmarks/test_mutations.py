"""Broken task files give a task set or an error that names file and key, never a traceback.

Every task file of the suites is changed in several ways: 3 a file in `make test`, 50 in `make test-all` (of each kind
of change, with places drawn by the run's seed).
"""

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.domain.benchmarks import external_assets, findings
from backend.domain.errors import Invalid
from backend.domain.model.task import LoadedBenchmark
from tests.factories.suites import OSWORLD_TASKS, OSWORLD_WINDOWS, SAMPLES, WAA_TASKS, WAA_WITHOUT, read, task_files
from tests.sampling import runs_everything, seed

WAYS = 50 if runs_everything() else 3
PARTS = 6 if runs_everything() else 1
FOLDERS = {"osworld": OSWORLD_TASKS, "osworld-windows": OSWORLD_WINDOWS, "waa": WAA_TASKS, "waa-hard": WAA_WITHOUT}
OTHER_TYPES: list[Any] = [
    None, True, False, 0, -1, 1.5, 10**30, 10**400, "", " ", "text", "\u0000", "\ud800", [], {}, [None], [[]], {"": 0},
    [1, 2], {"type": 7}, [{"type": "x"}], float("inf"), float("nan"),
]  # fmt: skip
Spot = tuple[Any, Any]
"""A container and a key or index in it."""


def spots(value: Any) -> Iterator[Spot]:
    """Every place in a JSON value."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield value, key
        yield from spots(part)


def drop(spot: Spot, draw: random.Random) -> None:
    del spot[0][spot[1]]


def retype(spot: Spot, draw: random.Random) -> None:
    spot[0][spot[1]] = copy.deepcopy(draw.choice(OTHER_TYPES))


def enlarge(spot: Spot, draw: random.Random) -> None:
    spot[0][spot[1]] = draw.choice(["x", "\u00e4", "{SCREEN_WIDTH}", "../"]) * draw.choice([5_000, 200_000])


def nest(spot: Spot, draw: random.Random) -> None:
    value = spot[0][spot[1]]
    for _ in range(draw.choice([1, 40, 60, 400])):
        value = draw.choice([[value], {"a": value}])
    spot[0][spot[1]] = value


def duplicate(spot: Spot, draw: random.Random) -> None:
    spot[0][spot[1]] = [copy.deepcopy(spot[0][spot[1]]) for _ in range(draw.choice([2, 700]))]


def rename(spot: Spot, draw: random.Random) -> None:
    if isinstance(spot[0], dict):
        spot[0][draw.choice(["", "type:", "_note", spot[1] + "s", "expected", "rules"])] = spot[0].pop(spot[1])


CHANGES: list[Callable[[Spot, random.Random], None]] = [drop, retype, enlarge, nest, duplicate, rename]


def mutated(value: Any, way: int, draw: random.Random) -> Any:
    """A copy of a task file with one place changed."""
    changed = copy.deepcopy(value)
    CHANGES[way % len(CHANGES)](draw.choice(list(spots(changed))), draw)
    return changed


def wrong_bytes(text: str, draw: random.Random) -> bytes:
    """The file's bytes, cut or overwritten somewhere."""
    data = bytearray(text.encode())
    at = draw.randrange(len(data))
    data[at : at + draw.choice([0, 1, len(data)])] = draw.choice([b"", b"\xff", b"\x00", b'"', b"{", b"]"])
    return bytes(data)


def loaded_or_told(kind: str, root: Path, name: str) -> LoadedBenchmark | None:
    """A reader's result for a folder; None where it says calmly that the file of that name is wrong."""
    told = ""
    try:
        return read(kind, root)
    except Invalid as error:
        told = error.message
    assert name in told
    assert len(told) < 2000
    return None


def check(kind: str, file: Path, root: Path) -> None:
    """Reads the folder with the one file in it and says what is wrong with its tasks."""
    loaded = loaded_or_told(kind, root, file.name)
    if loaded is None:
        return
    loaded.content_hash()
    for task in loaded.tasks:
        json.dumps(task.model_dump(mode="json"), allow_nan=False).encode()
        external_assets(task)
        broken = [str(result) for result in findings(task, []) if "the check of" in result.message]
        assert broken == []


def try_file(kind: str, file: Path, root: Path, tmp_path: Path) -> None:
    text, draw = file.read_text(), random.Random(f"{seed()} {file.name} {file.parent.name}")
    target = tmp_path / root.name / file.parent.name / file.name
    target.parent.mkdir(parents=True)
    for way in range(WAYS):
        if way % 10 == 9:
            target.write_bytes(wrong_bytes(text, draw))
        else:
            # The kinds of change are gone through in turn, from one of each file's own.
            offset = way + draw.randrange(len(CHANGES)) if way == 0 else way
            target.write_text(json.dumps(mutated(json.loads(text), offset, draw)))
        check(kind, target, tmp_path / root.name)
    target.unlink()
    target.parent.rmdir()


class TestMutations:
    def test_mutated_samples_are_read_or_rejected(self, tmp_path: Path) -> None:
        for kind, file in task_files(SAMPLES):
            try_file(kind, file, file.parents[1], tmp_path)

    @pytest.mark.timeout(900)
    @pytest.mark.parametrize("part", range(PARTS))
    @pytest.mark.parametrize("suite", list(FOLDERS))
    def test_every_published_file(self, suite: str, part: int, shared_dir: Path, tmp_path: Path) -> None:
        folder = shared_dir / "benchmarks" / FOLDERS[suite]
        files = sorted(folder.glob("*/*.json"))[part::PARTS]
        assert files
        for file in files:
            try_file("waa" if suite.startswith("waa") else "osworld", file, folder, tmp_path)

    @pytest.mark.parametrize("name", ["test_all.json", "test_small.json"])
    def test_mutated_task_lists_are_read_or_rejected(self, name: str, tmp_path: Path) -> None:
        draw = random.Random(seed())
        good = json.loads((SAMPLES / OSWORLD_TASKS.parent / name).read_text())
        task = (SAMPLES / OSWORLD_TASKS / "os" / "sample-quiet.json").read_text()
        (tmp_path / "examples" / "os").mkdir(parents=True)
        (tmp_path / "examples" / "os" / "sample-quiet.json").write_text(task)
        for way in range(60):
            (tmp_path / name).write_text(json.dumps(mutated(good, way, draw)))
            loaded = loaded_or_told("osworld", tmp_path, name)
            if loaded is not None:
                assert {key for keys in loaded.selections.values() for key in keys} <= {"os/sample-quiet"}
