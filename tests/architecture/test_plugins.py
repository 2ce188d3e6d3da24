"""One plug-in, one file, one name."""

from pathlib import Path

import pytest

from backend.domain import registry
from backend.domain.registry import COMMON, PluginKind
from tests.architecture.plugins import ENTRIES, MODULES, PACKAGES
from tests.architecture.tree import imported, parsed


class TestNames:
    @pytest.mark.parametrize(("kind", "dialect", "name"), ENTRIES)
    def test_the_file_bears_the_registered_name(self, kind: PluginKind, dialect: str, name: str) -> None:
        plugin = registry.entries(kind)[dialect, name]
        file = plugin.__module__.rsplit(".", 1)[1]
        allowed = {name} if dialect == COMMON else {name, f"{name}_{dialect}"}
        assert file in allowed, f"{kind.name.lower()} {name!r} ({dialect}) lives in {plugin.__module__}"

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
    @pytest.mark.parametrize("module", MODULES)
    def test_every_plugin_file_registers_its_plugin(self, module: str) -> None:
        registered = {plugin.__module__ for kind in PluginKind for plugin in registry.entries(kind).values()}
        assert module in registered, f"{module} registers nothing; a shared helper starts with an underscore"

    @pytest.mark.parametrize("module", MODULES)
    def test_a_plugin_never_imports_its_sibling(self, module: str) -> None:
        """Shared code goes into a file that begins with an underscore, so that a plug-in can be removed alone."""
        kind = next(package for package in PACKAGES if module.startswith(f"{package}."))
        siblings = {other for other in MODULES if other.startswith(f"{kind}.") and other != module}
        names = {name for _, name in imported(parsed(Path(*module.split(".")).with_suffix(".py")))}
        found = sorted(name for name in names if name in siblings or name.rpartition(".")[0] in siblings)
        assert found == []
