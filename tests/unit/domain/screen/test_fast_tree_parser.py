"""The quick reader says what the parser says, or nothing."""

import random

import pytest

from backend.domain.errors import Invalid
from backend.domain.screen.fast_tree_parser import UnsupportedTree, quick_nodes
from backend.domain.screen.tree import nodes, parsed_nodes
from tests.factories.trees import UBUNTU, WAA, WINDOWS, large_tree, node, tree

SIGNS = [
    *"<>/\"'= &;!?-[]:\n\t\r\x01aé\u2028(),01", "]]>", "&amp;", "&#65;", "&#10;", "&#09;", "&#13;", "&b;",
    "<!-- -->", "<?pi?>", ' xmlns:st="x"',
    ' name="twice"', "true", "false", ' st:visible="true"', " st:visible='true'", 'st:visible = "true"', "(10, 20)",
    "( 10 ,20)", "</label>", "<label/>", "<a>", "\ufffe", "\ud800",
]  # fmt: skip
ROLES = ("label", "push-button", "menu-item", "table-cell", "panel", "text", "document-web")
STATES = ("enabled", "editable", "expandable", "checkable", "showing", "visible", "focusable")


def made(chance: random.Random, depth: int = 3) -> str:
    """Random elements with optional attributes and children."""
    inner = "".join(made(chance, depth - 1) for _ in range(chance.randrange(4))) if depth else ""
    text = chance.choice(["", "words", "two\nlines", "a & b", "x < y > z", "Ünï", '"quoted"', "it's", "]] >"])
    more = {"attr_class": chance.choice(["", "B", "EditWrapper"]), "attr_description": chance.choice(["", "what"])}
    return node(
        chance.choice(ROLES), chance.choice(["", "Save", "a & b", "it's", "a>b", "ü"]), text,
        states=tuple(state for state in STATES if chance.random() < 0.8),
        at=(chance.randrange(-5, 900), chance.randrange(0, 900)), size=(chance.randrange(3), chance.randrange(9)),
        inner=inner, **more,
    )  # fmt: skip


def quick(text: str, platform: str = "") -> object:
    """The quick reader's result; None where it leaves the tree to the parser."""
    try:
        return quick_nodes(text, platform)
    except UnsupportedTree:
        return None


def parsed(text: str, platform: str = "") -> object:
    """The parser's result; a word where it refuses."""
    try:
        return parsed_nodes(text, platform)
    except Invalid:
        return "refused"


class TestQuickNodes:
    @pytest.mark.parametrize("names", [UBUNTU, WINDOWS, WAA], ids=["ubuntu", "windows", "waa"])
    @pytest.mark.parametrize("platform", ["", "Linux", "Windows"])
    def test_reads_what_guests_write_as_the_parser_does(self, names: dict[str, str], platform: str) -> None:
        chance = random.Random(f"{platform}{sorted(names)}")
        for _ in range(40):
            text = tree(*(made(chance) for _ in range(5)), names=names)
            result = quick(text, platform)
            assert result is not None
            assert result == parsed(text, platform)

    def test_never_says_anything_else_of_a_damaged_one(self) -> None:
        chance, read = random.Random(5), 0
        for _ in range(4000):
            text = tree(*(made(chance, 1) for _ in range(2)))
            for _ in range(chance.randrange(1, 4)):
                start = chance.randrange(len(text))
                text = text[:start] + chance.choice(["", *SIGNS]) + text[start + chance.randrange(3) :]
            result = quick(text)
            read += result is not None
            assert result is None or result == parsed(text), text
        assert read > 200

    @pytest.mark.parametrize(
        "damaged",
        ["", "<a>", "<a></b>", "<a/><b/>", "<a></a>after", "before<a/>", "<a b='c'/>", '<a b="c" b="c"/>', "<a b/>",
         '<a b="c"d="e"/>', "<a>]]></a>", "<a>&b;</a>", '<a b="&#0;"/>', "<a>\x01</a>", "<1a/>", "< a/>", "<a><</a>",
         '<a b="c', '<?xml version="1.0"?>', '<?xml version="1.0"?><?x?><a/>', "<a></a ></a>"],
    )  # fmt: skip
    def test_trees_left_to_the_full_parser(self, damaged: str) -> None:
        assert quick(damaged) is None

    def test_ends_of_line_in_names(self) -> None:
        text = tree(node("push-button", "X").replace('"X"', '"two&#10;lines&#09;and&#13;more"'))
        assert quick(text) == parsed(text)
        assert [each.name for each in nodes(text)] == ["two\nlines\tand\rmore"]

    def test_a_pair_with_other_blanks_is_the_parsers(self) -> None:
        button = node("push-button", "Save").replace("(10, 20)", "( 10,20 )")
        assert quick(tree(button)) is None
        assert [each.name for each in nodes(tree(button))] == ["Save"]

    def test_a_large_tree(self) -> None:
        result = quick(large_tree(3000))
        assert isinstance(result, list)
        assert len(result) == 2998
        assert result == parsed(large_tree(3000))
