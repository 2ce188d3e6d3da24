"""Accessibility trees for observation spaces: nodes with a place on the screen, in the namespaces of each project."""

from collections.abc import Iterable, Mapping
from xml.sax.saxutils import escape, quoteattr


def _example(system: str) -> dict[str, str]:
    parts = {"st": "state", "attr": "attributes", "cp": "component", "val": "value", "class": "class"}
    return {prefix: f"https://accessibility.{system}.example.org/ns/{part}" for prefix, part in parts.items()}


UBUNTU, WINDOWS = _example("ubuntu"), _example("windows")
WAA = {
    **{
        prefix: f"uri:deskat:{part}.at-spi.gnome.org"
        for prefix, part in {"st": "state", "attr": "attributes", "cp": "component", "val": "value"}.items()
    },
    "class": "uri:deskat:uia.windows.microsoft.org",
}


def node(  # noqa: PLR0913 - as many things as a node can say
    tag: str,
    name: str = "",
    text: str = "",
    *,
    at: tuple[int, int] = (10, 20),
    size: tuple[int, int] = (30, 40),
    states: Iterable[str] = ("enabled", "showing", "visible"),
    inner: str = "",
    **more: str,
) -> str:
    """One element. `more`: attributes with `_` for the colon: `attr_class="..."`."""
    states_text = "".join(f' st:{state}="true"' for state in states)
    other = "".join(f" {key.replace('_', ':', 1)}={quoteattr(value)}" for key, value in more.items())
    return (
        f'<{tag} name={quoteattr(name)}{states_text} cp:screencoord="{at}" cp:size="{size}"{other}>'
        f"{escape(text)}{inner}</{tag}>"
    )


def tree(*nodes: str, names: Mapping[str, str] = UBUNTU) -> str:
    """A desktop with these nodes."""
    declared = " ".join(f"xmlns:{prefix}={quoteattr(uri)}" for prefix, uri in names.items())
    inner = f'<application name="app">{"".join(nodes)}</application>'
    return f'<desktop-frame {declared} name="main">{inner}</desktop-frame>'


def large_tree(count: int) -> str:
    """A tree of this many nodes as of a spreadsheet: visible cells, each with its states and actions."""
    states = ("enabled", "focusable", "multi-line", "selectable", "sensitive", "showing", "transient", "visible")
    cells = (
        node(
            "table-cell", f"Cell {number}", f"value {number}",
            at=(number * 37 % 1800, number * 17 % 1000), size=(84, 17),
            states=states, cp_windowcoord="(12, 34)", cp_parentcoord="(5, 6)", attr_toolkit="calc",
        )
        for number in range(count - 2)
    )  # fmt: skip
    return tree(*cells)
