"""Replies that models wrote, or might, and the actions they are: every space (docs/internals/actions.md)."""

import importlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.errors import InvalidAction
from backend.domain.model.trajectory import Action
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.ports.model import ModelReply
from backend.domain.registry import PluginKind
from tests.error_codes import raises_code

FILES = sorted((Path(__file__).parent / "golden").glob("*.json"))
SECONDS = 0.5


def cases() -> Iterator[Any]:
    for file in FILES:
        told = json.loads(file.read_text())
        for case in told["cases"]:
            sight = (
                CoordinateFrame.model_validate(told["sights"][case["sight"]]) if "sight" in case else CoordinateFrame()
            )
            yield pytest.param(file.stem, case, sight, id=f"{file.stem}: {case['name']}")


def filled(value: Any) -> Any:
    """The reply with its long parts written out: `{repeat, times, before, after}`."""
    if isinstance(value, dict) and {"repeat", "times"} <= set(value):
        return f"{value.get('before', '')}{value['repeat'] * value['times']}{value.get('after', '')}"
    if isinstance(value, dict):
        return {key: filled(part) for key, part in value.items()}
    return [filled(part) for part in value] if isinstance(value, list) else value


def reply(value: Any) -> ModelReply | str:
    text = filled(value)
    if isinstance(text, str):
        return text
    calls = [{"id": f"call_{number}", **call} for number, call in enumerate(text["calls"])]
    return ModelReply.model_validate({**text, "calls": calls})


def space(name: str, params: Any) -> Any:
    importlib.import_module(f"backend.domain.actions.{name}")
    plugin = registry.lookup(PluginKind.ACTION_SPACE, name)
    return plugin(plugin.Params.model_validate(params) if params else None)


@pytest.mark.parametrize(("name", "case", "sight"), list(cases()))
class TestGolden:
    def test_reply(self, name: str, case: dict[str, Any], sight: CoordinateFrame) -> None:
        made, given = space(name, case.get("params")), reply(case["reply"])
        before = time.thread_time()
        if "invalid" in case:
            with raises_code(
                InvalidAction, case["invalid"], path=case["path"], mentions=case.get("mentions", "")
            ) as wrong:
                made.parse(given, sight)
            assert len(wrong.value.message) < 500
        else:
            assert made.parse(given, sight) == tuple(Action.model_validate(action) for action in case["actions"])
        # The thread's own seconds: a machine that is busy with something else is not slow reading.
        assert time.thread_time() - before < SECONDS


class TestFiles:
    def test_every_space_has_its_file(self) -> None:
        folder = Path(registry.__file__).parent / "actions"
        assert {file.stem for file in FILES} == {file.stem for file in folder.glob("[!_]*.py")}

    @pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
    def test_has_good_and_broken_replies(self, file: Path) -> None:
        result = json.loads(file.read_text())["cases"]
        assert sum("actions" in case for case in result) >= 8
        assert sum("invalid" in case for case in result) >= 8
