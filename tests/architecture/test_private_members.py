"""Tests use what a module or class offers, like the product; what begins with an underscore may change at any time."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.tree import TESTS, parsed, python_files

OF_OSWORLD = {"_get_obs", "_upload_file_setup", "_launch_setup", "_chrome_open_tabs_setup"}
OF_LIBRARIES = {"_replace", "_asdict", "_fields", "_exit", "_element", "_p", "_spTree", "_obj"} | OF_OSWORLD
"""Members of namedtuples, os, python-docx, python-pptx, ctypes, and OSWorld's DesktopEnv and SetupController."""
INSIDE = {
    "tests/unit/egress/test_certificate_authority.py": "no door leads to a stolen key, which is what it tries",
}
"""Files that look inside, each with the reason."""


def is_private(name: object) -> bool:
    """`_name`, and no `__name__`; the last part counts of `module._name`."""
    last = name.rpartition(".")[2] if isinstance(name, str) else ""
    return last.startswith("_") and not last.startswith("__") and last.isidentifier() and last not in OF_LIBRARIES


def private_members(tree: ast.Module) -> Iterator[str]:
    """Private members that code reads or replaces, except those of its own classes."""
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and is_private(node.attr)]
    own = {node.attr for node in attributes if ast.unparse(node.value) in {"self", "cls", "super()"}}
    yield from (ast.unparse(node) for node in attributes if node.attr not in own)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            ("monkeypatch.setattr", "monkeypatch.delattr")
        ):
            names = [each.value for each in node.args[:2] if isinstance(each, ast.Constant)]
            yield from (str(name) for name in names if is_private(name))


class TestPrivateMembers:
    @pytest.mark.parametrize(
        ("code", "members"),
        [
            ("provider._slots", ["provider._slots"]),
            ("monkeypatch.setattr(pods, '_plan', 1)", ["_plan"]),
            ("monkeypatch.setattr('worker.pods._plan', 1)", ["worker.pods._plan"]),
            ("pair._replace(x=1)\nslide._element\na.__class__\n_x = _f()", []),
            ("class A:\n    def f(self):\n        self._x = 1\nA()._x", []),
        ],
    )
    def test_private_members_are_detected(self, code: str, members: list[str]) -> None:
        assert list(private_members(ast.parse(code))) == members


def looks_inside(path: Path) -> bool:
    """Says whether a file of the tests uses private members of others."""
    return any(private_members(parsed(path)))


class TestFiles:
    def test_go_through_doors(self) -> None:
        assert {str(path) for path in python_files(*TESTS) if looks_inside(path)} == set(INSIDE)
