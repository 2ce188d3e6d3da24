"""Every registered getter: bytes in the worker, the value from the bytes alone, absence is evidence."""

import random
from pathlib import Path
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.errors import GuestLost, Invalid
from backend.domain.model.score import Blob
from backend.domain.registry import PluginKind
from tests.factories.getter_cases import all_cases
from tests.sampling import runs_everything, seed
from tools.mutations import mutated

registry.load()
CASES = all_cases()
DAMAGE = (b"", b"x", b"[]", b"null", b'{"profile": 5}', b"[" * 100_000, b"\0" * 100, b"PK\3\4", b"SQLite format 3\0")
MUTATIONS = 200 if runs_everything() else 8
EACH = pytest.mark.parametrize(("dialect", "name"), sorted(CASES))


def made(dialect: str, name: str) -> Any:
    plugin = registry.entries(PluginKind.GETTER)[dialect, name]
    return plugin() if isinstance(plugin, type) else plugin


def shown(value: Any, folder: Path) -> Any:
    """The value with the folder's name taken out."""
    if isinstance(value, str):
        return value.replace(str(folder), "{folder}")
    if isinstance(value, list | tuple):
        return [shown(item, folder) for item in value]
    return {key: shown(item, folder) for key, item in value.items()} if isinstance(value, dict) else value


def test_every_getter_is_tried() -> None:
    assert sorted(set(registry.entries(PluginKind.GETTER)) - set(CASES)) == []


def test_every_case_is_of_a_getter() -> None:
    assert sorted(set(CASES) - set(registry.entries(PluginKind.GETTER))) == []


@EACH
class TestGetters:
    def test_present_evidence_gives_its_value(self, dialect: str, name: str, tmp_path: Path) -> None:
        case = CASES[dialect, name]
        getter = made(dialect, name)
        getter.check(case.parameters)
        blobs = getter.collect(case.found(), case.parameters)
        stored = [Blob.model_validate(blob.model_dump()) for blob in blobs]
        assert shown(getter.read(stored, case.parameters, tmp_path), tmp_path) == case.value

    def test_absent_evidence_gives_its_value(self, dialect: str, name: str, tmp_path: Path) -> None:
        case = CASES[dialect, name]
        if case.absent is None:
            return
        getter = made(dialect, name)
        blobs = getter.collect(case.absent(), case.parameters)
        assert all(blob.data is not None or blob.note for blob in blobs)
        if isinstance(case.absent_value, type) and issubclass(case.absent_value, Exception):
            with pytest.raises(case.absent_value):
                getter.read(blobs, case.parameters, tmp_path)
        else:
            assert shown(getter.read(blobs, case.parameters, tmp_path), tmp_path) == case.absent_value

    def test_content_written_by_an_agent_is_never_an_error(self, dialect: str, name: str, tmp_path: Path) -> None:
        """Files in the desktop are the agent's: damage there must not make an attempt one that does not count."""
        case = CASES[dialect, name]
        getter = made(dialect, name)
        for number, data in enumerate(DAMAGE if case.found().desktop.files else ()):
            context = case.found()
            context.desktop.files |= dict.fromkeys(context.desktop.files, data)
            (folder := tmp_path / str(number)).mkdir()
            getter.read(getter.collect(context, case.parameters), case.parameters, folder)

    def test_mutated_files_raise_no_errors(self, dialect: str, name: str, tmp_path: Path) -> None:
        case = CASES[dialect, name]
        getter, rng = made(dialect, name), random.Random(f"{seed()}-{name}")  # noqa: S311 - it shall be repeatable.
        for number in range(MUTATIONS if case.found().desktop.files else 0):
            context = case.found()
            context.desktop.files = {path: mutated(rng, data) for path, data in context.desktop.files.items()}
            (folder := tmp_path / str(number)).mkdir()
            getter.read(getter.collect(context, case.parameters), case.parameters, folder)

    def test_a_dead_desktop_is_lost(self, dialect: str, name: str) -> None:
        case = CASES[dialect, name]
        if case.absent is None or not case.in_desktop:
            return
        context = case.found()
        context.desktop.die()
        with pytest.raises(GuestLost):
            made(dialect, name).collect(context, case.parameters)

    def test_a_wrong_parameter_is_refused(self, dialect: str, name: str) -> None:
        with pytest.raises(Invalid):
            made(dialect, name).check({**CASES[dialect, name].parameters, "nonsense": 1})
