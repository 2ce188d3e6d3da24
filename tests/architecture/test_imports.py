"""The arrows of docs/architecture.md. Most of them are import-linter contracts in pyproject.toml."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.tree import ROOT, imported, parsed, python_files

OURS = {"backend", "deskarena", "worker", "tests", "tools", "migrations"}


def importing(packages: set[str], *folders: str) -> list[str]:
    """Where modules in the folders import one of the packages."""
    return [
        f"{path}:{line} imports {name}"
        for path in python_files(*folders)
        for line, name in imported(parsed(path))
        if name.split(".")[0] in packages
    ]


class TestContracts:
    def test_every_contract_of_import_linter_is_kept(self) -> None:
        program = Path(sys.executable).with_name("lint-imports")
        done = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


class TestGuestServer:
    def test_imports_nothing_of_ours(self) -> None:
        """It runs inside the desktop, on another Python, where nothing of the service exists."""
        assert importing(OURS, "vm_images") == []


class TestProduct:
    def test_imports_nothing_that_only_tests_or_tools_have(self) -> None:
        foreign = {"tests", "tools", "pytest", "hypothesis", "playwright", "schemathesis"}
        assert importing(foreign, "backend", "worker") == []

    def test_the_guest_server_is_run_never_imported(self) -> None:
        assert importing({"guest_server", "vm_images"}, "backend", "worker") == []


MODULES = {
    ".".join(path.with_suffix("").parts).removesuffix(".__init__"): path
    for path in python_files("backend", "deskarena", "worker")
}
CIRCLES = {
    frozenset({"backend.domain.formats._sheet_reader", "backend.domain.formats.workbook"}),
    frozenset(
        {f"backend.domain.formats.{name}" for name in ("slides", "slides_fills", "slides_reader", "slides_text")}
    ),
    frozenset({f"backend.domain.evaluators.metrics.table.{name}" for name in ("_formulas", "_functions")}),
    frozenset({"deskarena.controller", "deskarena.desktop_env"}),
}
"""Files that import each other, in types or late. None is added; whoever mends one takes it out."""


def ours_imported(name: str) -> set[str]:
    """Our modules that a module imports, late imports included."""
    named = {line_and_name[1] for line_and_name in imported(parsed(MODULES[name]))}
    return {each if each in MODULES else each.rpartition(".")[0] for each in named} & set(MODULES) - {name}


def circles(graph: dict[str, set[str]]) -> Iterator[frozenset[str]]:
    """Modules each of which reaches all others of its group, by Kosaraju's two walks."""
    back: dict[str, set[str]] = {name: set() for name in graph}
    for name, targets in graph.items():
        for each in targets:
            back[each].add(name)
    order: list[str] = []
    left = set(graph)
    while left:
        order += _reached(graph, min(left), left)
    left = set(graph)
    for name in reversed(order):
        if name in left:
            group = frozenset(_reached(back, name, left))
            if len(group) > 1:
                yield group


def _reached(graph: dict[str, set[str]], start: str, left: set[str]) -> list[str]:
    """What can be reached from there among those that are left, each after all that it reaches. Takes them out."""
    done: list[str] = []
    left.discard(start)
    walk = [(start, iter(sorted(graph[start])))]
    while walk:
        name, targets = walk[-1]
        target = next((each for each in targets if each in left), None)
        if target is None:
            done.append(name)
            walk.pop()
        else:
            left.discard(target)
            walk.append((target, iter(sorted(graph[target]))))
    return done


class TestCircles:
    def test_no_files_import_each_other_in_a_circle(self) -> None:
        assert set(circles({name: ours_imported(name) for name in MODULES})) == CIRCLES

    def test_a_circle_is_seen(self) -> None:
        graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set[str](), "e": {"a", "d"}}
        assert set(circles(graph)) == {frozenset({"b", "c"})}


class TestPrivateModules:
    def test_are_used_by_their_own_package_only(self) -> None:
        strangers = [
            f"{name} imports {each}"
            for name in MODULES
            for each in ours_imported(name)
            if (owner := each.partition("._")[0]) != each and name != owner and not name.startswith(f"{owner}.")
        ]
        assert strangers == [], "name it without the underscore, or put it beside who uses it"
