import time

import pytest

from backend.domain.errors import GuestLost, Invalid
from backend.domain.screen.tree import estimated_tokens, linear, nodes, read_tree
from tests.error_codes import raises_code
from tests.factories.trees import UBUNTU, WAA, WINDOWS, large_tree, node, tree
from tests.fakes.desktop import FakeDesktop

BUTTON = node("push-button", "Save")
SUITES = "tag\tname\ttext\tclass\tdescription\tposition (top-left x&y)\tsize (w&h)"


def names(*some: str, platform: str = "", of: dict[str, str] = UBUNTU) -> list[str]:
    return [each.name for each in nodes(tree(*some, names=of), platform)]


class TestNodes:
    def test_keeps_what_can_be_seen_and_used(self) -> None:
        (result,) = nodes(tree(node("push-button", "Save", "now", attr_class="B", attr_description="keeps it")))
        assert result == ("push-button", "Save", "now", "B", "keeps it", 10, 20, 30, 40)

    @pytest.mark.parametrize(
        "tag",
        ["document-web", "menu-item", "toggle-button", "heading", "label", "link", "textarea", "menu", "alert", "entry",
         "table-cell", "terminal", "text", "start", "netuiribbontab", "uiribboncommandbar", "icon", "canvas"],
    )  # fmt: skip
    def test_these_tags_count(self, tag: str) -> None:
        assert names(node(tag, "x")) == ["x"]

    @pytest.mark.parametrize("tag", ["frame", "panel", "filler", "menu-bar", "scroll-pane", "application", "buttons"])
    def test_these_do_not(self, tag: str) -> None:
        assert names(node(tag, "x")) == []

    @pytest.mark.parametrize("states", [("enabled", "visible"), ("enabled", "showing"), ("showing", "visible"), ()])
    def test_on_linux_it_must_show_and_be_usable(self, states: tuple[str, ...]) -> None:
        assert names(node("link", "x", states=states)) == []

    @pytest.mark.parametrize("state", ["enabled", "editable", "expandable", "checkable"])
    def test_each_way_of_being_usable_will_do(self, state: str) -> None:
        assert names(node("link", "x", states=(state, "showing", "visible"))) == ["x"]

    def test_a_state_that_is_false_is_none(self) -> None:
        assert names(node("link", "x", states=("showing", "visible"), st_enabled="false")) == []

    def test_an_attribute_of_the_application_is_not_a_state(self) -> None:
        assert names(node("link", "x", states=("visible", "enabled"), attr_showing="true")) == []

    def test_needs_a_name_a_text_or_a_picture(self) -> None:
        assert names(node("link")) == []
        assert [each.text for each in nodes(tree(node("link", text="words")))] == ["words"]
        assert len(nodes(tree(node("link").replace(" name=", ' image="true" name=')))) == 1

    @pytest.mark.parametrize(("at", "size"), [((-1, 0), (3, 3)), ((0, -5), (3, 3)), ((0, 0), (0, 3)), ((0, 0), (3, 0))])
    def test_needs_a_place_on_the_screen(self, at: tuple[int, int], size: tuple[int, int]) -> None:
        assert names(node("link", "x", at=at, size=size)) == []

    @pytest.mark.parametrize("wrong", ["", "(1)", "(1, 2, 3", "__import__('os')", "(99999999, 1)", "(1.5, 2)"])
    def test_a_place_that_is_none_is_never_evaluated(self, wrong: str) -> None:
        damaged = tree(BUTTON).replace('cp:screencoord="(10, 20)"', f'cp:screencoord="{wrong}"')
        assert nodes(damaged) == []

    def test_its_text_is_what_comes_before_its_first_child(self) -> None:
        inner = node("link", "inner", "within") + "after"
        assert [(each.name, each.text) for each in nodes(tree(node("section", "outer", "before", inner=inner)))] == [
            ("outer", "before"),
            ("inner", "within"),
        ]

    @pytest.mark.parametrize("of", [WINDOWS, WAA], ids=["windows", "waa"])
    def test_on_windows_nothing_says_showing(self, of: dict[str, str]) -> None:
        assert names(node("button", "x", states=("enabled", "visible")), of=of) == ["x"]

    @pytest.mark.parametrize("of", [UBUNTU, WINDOWS, WAA], ids=["ubuntu", "windows", "waa"])
    def test_the_platform_may_be_given(self, of: dict[str, str]) -> None:
        hidden = node("button", "x", states=("enabled", "visible"))
        assert names(hidden, platform="Linux", of=of) == []
        assert names(hidden, platform="Windows", of=of) == ["x"]

    @pytest.mark.parametrize("of", [WINDOWS, WAA], ids=["windows", "waa"])
    def test_values_of_windows_edit_fields(self, of: dict[str, str]) -> None:
        field = node("document", "Text editor", class_class="EditWrapper", val_value="typed")
        assert [(each.kind, each.text) for each in nodes(tree(field, names=of))] == [("EditWrapper", "typed")]

    def test_namespaces_may_be_declared_anywhere_and_have_any_prefix(self) -> None:
        plain = f"<desktop><app>{BUTTON}</app></desktop>".replace("st:", "a:").replace("cp:", "b:")
        declared = plain.replace("<app>", f'<app xmlns:a="{UBUNTU["st"]}" xmlns:b="{UBUNTU["cp"]}">')
        assert [each.name for each in nodes(declared)] == ["Save"]

    def test_a_text_that_speaks_of_namespaces_changes_nothing(self) -> None:
        assert names(node("terminal", "t", '<a xmlns:st="no">'), BUTTON) == ["t", "Save"]

    def test_a_declaration_of_xml_before_it(self) -> None:
        assert len(nodes('<?xml version="1.0" encoding="UTF-8"?>\n' + tree(BUTTON))) == 1

    @pytest.mark.parametrize(
        "wrong",
        ["", "no tree", "<a>", "<a></b>", "<a/><b/>", "<a>\x01</a>", "<a>&b;</a>",
         '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
         '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "\ud800"],
    )  # fmt: skip
    def test_invalid_trees_are_rejected(self, wrong: str) -> None:
        with raises_code(Invalid, "invalid_accessibility_tree"):
            nodes(wrong)

    def test_depth_is_not_a_danger(self) -> None:
        deep = "<panel>" * 50_000 + "</panel>" * 50_000
        assert names(deep, BUTTON) == ["Save"]


class TestLinear:
    def test_as_the_suites_write_it(self) -> None:
        shown = node("push-button", "Save", attr_class="B", attr_description="keeps it")
        assert linear(tree(shown)) == f'{SUITES}\npush-button\tSave\t""\tB\tkeeps it\t(10, 20)\t(30, 40)'

    def test_as_the_paper_writes_it(self) -> None:
        assert linear(tree(node("label", "Name", "text")), form="paper").split("\n") == [
            "tag\tname\ttext\tposition (top-left x&y)\tsize (w&h)",
            "label\tName\ttext\t(10, 20)\t(30, 40)",
        ]

    def test_one_line_per_element_whatever_it_says(self) -> None:
        hostile = node("label", "a\nb\tc\u2028d", 'say "no"\r\nthen')
        assert linear(tree(hostile)).split("\n")[1:] == ['label\ta b c d\t"say ""no"" then"\t\t\t(10, 20)\t(30, 40)']

    def test_a_whole_book_in_one_element_is_cut(self) -> None:
        line = linear(tree(node("text", "book", "w" * 100_000))).split("\n")[1]
        assert len(line) < 2100
        assert "w…" in line

    def test_whole_lines_within_a_budget(self) -> None:
        xml = tree(*(node("label", f"Number {number}") for number in range(50)))
        all_lines = linear(xml).split("\n")
        found = linear(xml, most_tokens=300).split("\n")
        assert found[:-1] == all_lines[: len(found) - 1]
        assert found[-1] == f"[... {51 - len(found) + 1} more]"
        assert 200 < sum(estimated_tokens(line) + 1 for line in found[:-1]) <= 300

    def test_the_callers_own_tokens_count(self) -> None:
        xml = tree(node("label", "one"), node("label", "two"))
        assert linear(xml, most_tokens=4, count=lambda _: 1).split("\n") == [
            *linear(xml).split("\n")[:2],
            "[... 1 more]",
        ]

    def test_short_tree_is_not_truncated(self) -> None:
        xml = tree(node("label", "one"))
        assert linear(xml, most_tokens=10_000) == linear(xml)

    def test_ten_thousand_nodes(self) -> None:
        xml = large_tree(10_000)
        before = time.process_time()
        assert linear(xml).count("\n") == 9998
        assert time.process_time() - before < 1.0  # `make bench-observe` holds the real limit.


class TestEstimatedTokens:
    @pytest.mark.parametrize(
        ("text", "count"),
        [
            ("", 0),
            ("button", 1),
            ("push-button", 3),
            ("(10, 200)", 5),
            ("internationalisation", 3),
            ("中文", 2),
            ("a\tb", 3),
        ],
    )
    def test_about_as_tokenisers_do(self, text: str, count: int) -> None:
        assert estimated_tokens(text) == count


class TestReadTree:
    def test_gives_it_as_it_is(self) -> None:
        desktop = FakeDesktop()
        desktop.tree = tree(BUTTON)
        assert read_tree(desktop) == desktop.tree

    def test_a_damaged_one_is_the_desktops_failure(self) -> None:
        desktop = FakeDesktop()
        desktop.tree = "<a>"
        with raises_code(GuestLost, "observation_damaged"):
            read_tree(desktop)
