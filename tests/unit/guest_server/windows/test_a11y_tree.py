"""Accessibility trees of Windows: bounds, names, and what UI Automation's properties mean."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from defusedxml.ElementTree import fromstring

from backend.domain.formats.accessibility import searchable
from guest_server.protocol.machine import Tree, TreeRequest
from guest_server.windows.a11y_tree import ControlInfo, ControlWalk, GoneError, tag_of
from guest_server.windows.text_cursor import around
from guest_server.windows.uia_properties import Property, Value, describe_control, kind_of

WANTED = TreeRequest(nodes=100, depth=10, children=50, seconds=5.0)


class Fixed:
    """Controls as text: `a.b` is in `a`."""

    def __init__(self, *paths: str, gone: str = "") -> None:
        self._paths, self._gone = paths, gone

    def windows(self) -> Sequence[str]:
        return [path for path in self._paths if "." not in path]

    def children(self, node: str) -> Sequence[str]:
        if node == self._gone:
            raise GoneError
        return [path for path in self._paths if path.rpartition(".")[0] == node]

    def control_info(self, node: str) -> ControlInfo:
        return ControlInfo(
            name=node,
            tag="Chrome Widget_1",
            kind="Pane",
            text="content",
            box=(1, 2, 30, 40),
            states={"enabled": True, "focused": False},
            values={"value": "7"},
            identity={"automation_id": "main"},
        )


def walked(wanted: TreeRequest = WANTED, *paths: str, gone: str = "") -> Tree:
    return ControlWalk(Fixed(*(paths or ("a", "a.b", "a.b.c", "d")), gone=gone), wanted).desktop()


class TestWalk:
    def test_the_tree_is_that_of_the_windows(self) -> None:
        tree = walked()
        assert [node.get("name") for node in fromstring(tree.xml).iter()] == [None, "a", "a.b", "a.b.c", "d"]
        assert (tree.nodes, tree.cut) == (5, "")

    @pytest.mark.parametrize("names", ["osworld", "waa"])
    def test_our_readers_find_all_that_a_control_says(self, names: str) -> None:
        root = searchable(walked(replace(WANTED, names=names)).xml)
        spaces = {part: f"https://accessibility.ubuntu.example.org/ns/{name}" for part, name in NAMES.items()}
        (result,) = root.xpath(
            '//chrome-widget_1[@name="d"][@st:enabled="true"][@st:focused="false"]', namespaces=spaces
        )
        assert result.xpath("@cp:screencoord", namespaces=spaces) == ["(1, 2)"]
        assert result.xpath("@cp:size", namespaces=spaces) == ["(30, 40)"]
        assert result.xpath("@val:value", namespaces=spaces) == ["7"]
        assert result.text == "content"

    def test_namespaces_of_attributes(self) -> None:
        assert "uri:deskat:uia.windows.microsoft.org" in walked(replace(WANTED, names="waa")).xml
        assert "https://accessibility.windows.example.org/ns/class" in walked().xml

    @pytest.mark.parametrize(
        ("wanted", "why", "nodes"),
        [
            (replace(WANTED, nodes=3), "more than 3 nodes", 3),
            (replace(WANTED, depth=1), "deeper than 1 levels", 3),
            (replace(WANTED, seconds=-1.0), "the time was over", 1),
        ],
    )
    def test_trees_beyond_a_bound_are_cut(self, wanted: TreeRequest, why: str, nodes: int) -> None:
        tree = walked(wanted)
        assert (tree.cut, tree.nodes) == (why, nodes)

    def test_too_many_children_are_cut(self) -> None:
        tree = walked(replace(WANTED, children=2), "a", "a.1", "a.2", "a.3")
        assert (tree.cut, tree.nodes) == ("a control has more than 2 children", 4)

    def test_a_control_that_goes_leaves_the_others(self) -> None:
        tree = walked(gone="a")
        assert (tree.nodes, tree.cut) == (3, "a control did not answer")


NAMES = {"st": "state", "cp": "component", "val": "value"}


class TestTagOf:
    @pytest.mark.parametrize(
        ("name", "tag"), [("Edit", "edit"), ("Net UI#Tab", "net-ui-tab"), ("", "unknown"), ("#32770", "tag-32770")]
    )
    def test_classes_become_names(self, name: str, tag: str) -> None:
        assert tag_of(name) == tag


BUTTON: dict[Property, Value] = {
    Property.KIND: 50000,
    Property.NAME: "Save",
    Property.CLASS: "Button",
    Property.ENABLED: True,
    Property.HIDDEN: False,
    Property.HAS_INVOKE: True,
}


class TestDescribed:
    def test_button_is_described(self) -> None:
        seen = describe_control(BUTTON, (1, 2, 3, 4))
        assert (seen.name, seen.tag, seen.kind, seen.box) == ("Save", "Button", "Button", (1, 2, 3, 4))
        assert seen.states["enabled"]
        assert seen.states["visible"]
        assert seen.states["pressable"]
        assert "checked" not in seen.states

    def test_controls_without_a_class_are_named_by_their_type(self) -> None:
        assert describe_control({**BUTTON, Property.CLASS: ""}, (0, 0, 0, 0)) == replace(
            describe_control(BUTTON, (0, 0, 0, 0)), tag="Button"
        )
        assert describe_control({**BUTTON, Property.CLASS: "", Property.KIND: 50005}, (0, 0, 1, 1)).tag == "Hyperlink"

    def test_patterns_add_states_and_values(self) -> None:
        seen = describe_control(
            {
                Property.HAS_TOGGLE: True,
                Property.TOGGLED: 1,
                Property.HAS_RANGE: True,
                Property.RANGE_VALUE: 0.5,
                Property.RANGE_MAXIMUM: 1.0,
                Property.HAS_WINDOW: True,
                Property.WINDOW_STATE: 1,
                Property.HAS_EXPAND: True,
                Property.EXPANDED: 0,
            },
            (0, 0, 0, 0),
        )
        assert seen.states["checked"]
        assert seen.states["maximized"]
        assert not seen.states["normal"]
        assert seen.states["collapsed"]
        assert seen.values == {"value": "0.5", "max": "1.0"}
        assert seen.box is None

    def test_an_editor_gives_its_text(self) -> None:
        seen = describe_control(
            {Property.HAS_VALUE: True, Property.VALUE: "abc", Property.VALUE_READ_ONLY: True}, (0, 0, 1, 1)
        )
        assert (seen.text, seen.values, seen.states["editable"]) == ("abc", {"value": "abc"}, False)

    def test_kinds_end_where_windows_ends(self) -> None:
        assert (kind_of(50040), kind_of(50041), kind_of(None)) == ("AppBar", "", "")


class TestAround:
    def test_the_selection_and_the_line_of_its_end(self) -> None:
        assert around("one\r\ntwo\r\nthree", 5, 8) == ("two", "two")
        assert around("one\r\ntwo", 6, 6) == ("", "two")
        assert around("one\r\ntwo", 0, 6) == ("one\nt", "two")

    def test_characters_of_two_units_count_twice(self) -> None:
        assert around("😀\r\nsecond", 4, 10) == ("second", "second")
