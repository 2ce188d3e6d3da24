import sys
from types import ModuleType

import pytest

from backend.domain import registry
from backend.domain.registry import PluginKind
from tools import plugins_page


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A plug-in's module whose docstring a test writes."""
    module = ModuleType("a_plugin")
    monkeypatch.setitem(sys.modules, "a_plugin", module)
    return module


class ExamplePlugin:
    __module__ = "a_plugin"


class TestWordsOf:
    @pytest.mark.parametrize(
        ("docstring", "words"),
        [
            ("`noop`: does nothing.", "Does nothing."),
            ("Does nothing.", "Does nothing."),
            ("`x`: one\nparagraph.\n\nAnd more.", "One paragraph."),
            ("`x`: a | b.", "A \\| b."),
        ],
    )
    def test_takes_the_first_paragraph_without_the_name(self, said: ModuleType, docstring: str, words: str) -> None:
        said.__doc__ = docstring
        assert plugins_page.words_of(PluginKind.AGENT, ExamplePlugin) == words


class TestPart:
    def test_names_every_plugin_of_the_kind(self) -> None:
        registry.load()
        text = "\n".join(plugins_page.part(PluginKind.AGENT))
        assert [name for name in registry.names(PluginKind.AGENT) if f"| `{name}` |" not in text] == []

    def test_empty_kind_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(registry, "entries", lambda _: {})
        assert "None yet." in plugins_page.part(PluginKind.AGENT)


def test_the_page_of_applications_is_the_table() -> None:
    assert plugins_page.APPLICATIONS.read_text() == plugins_page.applications_page()
