"""One family of plug-ins, one file; who searches for a name finds it."""

import ast
from pathlib import Path

from backend.domain import registry
from backend.domain.registry import PluginKind
from tests.architecture.plugins import ENTRIES, MODULES, PACKAGES
from tests.architecture.tree import calls, dotted, imported, parsed


def path_of(module: str) -> Path:
    """The file of a plug-in's module."""
    return Path(*module.split(".")).with_suffix(".py")


def literals(tree: ast.Module) -> set[str]:
    """The names that a file's decorators register, as they are written there."""
    return {
        argument.value
        for call in calls(tree)
        if dotted(call.func) == "register"
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }


def siblings_imported(module: str) -> list[str]:
    """Imports of a plug-in from others of its kind."""
    kind = next(package for package in PACKAGES if module.startswith(f"{package}."))
    siblings = {other for other in MODULES if other.startswith(f"{kind}.") and other != module}
    names = {name for _, name in imported(parsed(path_of(module)))}
    return sorted(name for name in names if name in siblings or name.rpartition(".")[0] in siblings)


class TestNames:
    def test_the_registered_name_stands_in_the_file(self) -> None:
        """Literally, in the decorator: a family's members are found by searching for their names."""
        plugins = [(name, registry.entries(kind)[dialect, name].__module__) for kind, dialect, name in ENTRIES]
        assert [(name, module) for name, module in plugins if name not in literals(parsed(path_of(module)))] == []

    def test_the_file_bears_a_name_that_it_registers(self) -> None:
        last = {module: module.rsplit(".", 1)[1] for module in MODULES}
        assert [module for module in MODULES if last[module] not in literals(parsed(path_of(module)))] == []

    def test_there_are_plugins_of_each_kind_that_a_run_needs(self) -> None:
        found = {kind for kind, _, _ in ENTRIES}
        needed = {
            PluginKind.BENCHMARK,
            PluginKind.SETUP,
            PluginKind.GETTER,
            PluginKind.METRIC,
            PluginKind.OBSERVATION,
            PluginKind.ACTION_SPACE,
            PluginKind.AGENT,
        }
        assert needed <= found


class TestFiles:
    def test_every_plugin_file_registers_its_plugin(self) -> None:
        registered = {plugin.__module__ for kind in PluginKind for plugin in registry.entries(kind).values()}
        assert set(MODULES) - registered == set(), "they register nothing; a shared helper starts with an underscore"

    def test_a_plugin_never_imports_its_sibling(self) -> None:
        """Shared code goes into a file that begins with an underscore, so that a plug-in can be removed alone."""
        assert {module: names for module in MODULES if (names := siblings_imported(module))} == {}
