"""States are written in one place only."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
FILES = sorted(
    str(path.relative_to(ROOT))
    for folder in ("backend/services", "backend/web", "backend/cli", "worker")
    for path in (ROOT / folder).rglob("*.py")
)


RECORDS = {"run", "episode", "attempt", "thing"}


def writes_state(source: str) -> list[int]:
    """Lines that assign to the `state` of something called a run, an episode or an attempt."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts = [part for target in targets for part in ast.walk(target)]
            found += [node.lineno for part in parts if isinstance(part, ast.Attribute) and _is_record_state(part)]
    return found


def _is_record_state(part: ast.Attribute) -> bool:
    owner = part.value
    name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    return part.attr == "state" and name in RECORDS


class TestMoves:
    def test_finds_what_it_looks_for(self) -> None:
        assert writes_state("run.state = 'x'\nself.state = 1\na, held.episode.state = 1, 2\n") == [1, 3]

    @pytest.mark.parametrize(
        "name", [name for name in FILES if name != "backend/services/lifecycle/state_transitions.py"]
    )
    def test_no_other_module_writes_a_state(self, name: str) -> None:
        assert writes_state((ROOT / name).read_text()) == []
