"""The arrows of docs/architecture.md. Most of them are import-linter contracts in pyproject.toml."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.tree import PRODUCT, ROOT, TESTS, imported, parsed, python_files

OURS = {"backend", "deskarena", "worker", "tests", "tools", "migrations"}
OWN = OURS | {"guest_server"}


def importing(packages: set[str], *folders: str) -> list[str]:
    """Where modules in the folders import one of the packages."""
    return [
        f"{path}:{line} imports {name}"
        for path in python_files(*folders, containing=tuple(sorted(packages)))
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
    ".".join(path.with_suffix("").parts).removeprefix("vm_images.").removesuffix(".__init__"): path
    for path in python_files("backend", "deskarena", "worker", "tools", "vm_images")
}


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
    """Files that can be reached from there among those left, each after all that it reaches. Takes them out."""
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
        """Neither in types nor late: what two files need of each other belongs into a third one."""
        assert set(circles({name: ours_imported(name) for name in MODULES})) == set()

    def test_a_circle_is_seen(self) -> None:
        graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set[str](), "e": {"a", "d"}}
        assert set(circles(graph)) == {frozenset({"b", "c"})}


def package_of(path: Path) -> str:
    """The package whose private modules a file may import.

    A test may import those of the package that it mirrors, as a helper with an underscore is often worth a test of its
    own. Any other test goes through the package's public modules, like the product.
    """
    parts = path.parts[:-1]
    if parts[0] == "tests":
        roots: list[tuple[str, ...]] = [(), ("backend",), ("worker",), ("vm_images",)]
        mirrored = [(*root, *parts[2:]) for root in roots if parts[2:] and ROOT.joinpath(*root, *parts[2:]).is_dir()]
        parts = mirrored[0] if mirrored else parts
    return ".".join(parts).removeprefix("vm_images.")


def private_imports(path: Path) -> list[str]:
    """Imports of a file from packages or modules that keep them to themselves."""
    within = f"{package_of(path)}."
    private = []
    for line, name in imported(parsed(path)):
        owner, _, rest = name.partition("._")
        if rest and owner.split(".")[0] in OWN and not within.startswith(f"{owner}.") and not rest.startswith("_"):
            private.append(f"{path}:{line} imports {name}")
    return private


class TestPrivateModules:
    def test_are_used_by_their_own_package_only(self) -> None:
        """The same holds for a name with an underscore: only the module that has it uses it."""
        strangers = [each for path in python_files(*PRODUCT, *TESTS) for each in private_imports(path)]
        assert strangers == [], "name it without the underscore, or put it beside who uses it"

    @pytest.mark.parametrize(
        ("path", "package"),
        [
            ("worker/providers/k8s.py", "worker.providers"),
            ("tests/unit/domain/observations/test_som.py", "backend.domain.observations"),
            ("tests/unit/worker/providers/test_qemu.py", "worker.providers"),
            ("tests/unit/guest_server/linux/test_health.py", "guest_server.linux"),
            ("tests/unit/tools/test_x.py", "tools"),
            ("tests/contract/test_models.py", "tests.contract"),
        ],
    )
    def test_a_test_belongs_to_the_package_that_it_mirrors(self, path: str, package: str) -> None:
        assert package_of(Path(path)) == package
