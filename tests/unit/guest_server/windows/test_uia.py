"""UI Automation's client against objects with the table of the real ones: calls, memory, what goes wrong."""

import ctypes
import gc
from collections.abc import Iterator, Sequence
from ctypes import wintypes
from dataclasses import dataclass, field

import pytest

from guest_server.protocol.machine import TreeRequest
from guest_server.windows import com as windows_com
from guest_server.windows import uia
from guest_server.windows.a11y_tree import ControlWalk, GoneError
from guest_server.windows.com import Com, ComError
from guest_server.windows.uia import Automation
from guest_server.windows.uia_properties import PROPERTIES, Property, Value
from tests.error_codes import raises_fields
from tests.fakes import com

WANTED = TreeRequest(nodes=100, depth=10, children=50, seconds=5.0)


@dataclass
class Control:
    """A control as the fake desktop has it."""

    name: str
    children: Sequence["Control"] = ()
    text: str = ""
    selected: str = ""
    gone: bool = False
    more: dict[Property, Value] = field(default_factory=dict)


class FakeUiaDesktop:
    """The objects of a desktop; `made` are all that were returned."""

    def __init__(self, root: Control, focused: Control) -> None:
        self.root, self.focus = root, focused
        self.strings = com.FakeStrings()
        self.made: list[com.FakeCom] = []
        self.asked: list[int] = []
        self.scope = 0
        self.timeouts: list[int] = []

    def automation(self) -> com.FakeCom:
        give = com.ADDRESS
        return self._new(
            com.AUTOMATION,
            {
                "CreateCacheRequest": ([give], lambda out: self._request().give(out)),
                "CreateTrueCondition": ([give], lambda out: self._new(com.UNKNOWN, {}).give(out)),
                "GetRootElementBuildCache": ([give, give], lambda _request, out: self._element(self.root).give(out)),
                "GetFocusedElementBuildCache": (
                    [give, give],
                    lambda _request, out: self._element(self.focus).give(out),
                ),
                "ElementFromPointBuildCache": ([wintypes.POINT, give, give], self._at),
                "put_ConnectionTimeout": ([wintypes.DWORD], self._timeout),
                "put_TransactionTimeout": ([wintypes.DWORD], self._timeout),
            },
        )

    def _new(self, names: str, methods: dict[str, com.Method]) -> com.FakeCom:
        made = com.FakeCom(names, methods)
        self.made.append(made)
        return made

    def _timeout(self, milliseconds: int) -> int:
        self.timeouts.append(milliseconds)
        return com.OK

    def _at(self, point: wintypes.POINT, _request: int, out: int) -> int:
        if (point.x, point.y) != (3, 4):
            return com.FAILED
        return self._element(self.root.children[0]).give(out)

    def _request(self) -> com.FakeCom:
        def add(number: int) -> int:
            self.asked.append(number)
            return com.OK

        def scope(value: int) -> int:
            self.scope = value
            return com.OK

        return self._new(com.REQUEST, {"AddProperty": ([com.NUMBER], add), "put_TreeScope": ([com.NUMBER], scope)})

    def _element(self, control: Control) -> com.FakeCom:
        def found(scope: int, _condition: int, _request: int, out: int) -> int:
            assert scope == 2
            return com.FAILED if control.gone else self._list([self._element(child) for child in control.children], out)

        def value(number: int, out: int) -> int:
            if number not in self.asked:
                return com.INVALID
            told: dict[Property, Value] = {Property.NAME: control.name, Property.CLASS: "Edit", **control.more}
            return self.strings.variant(told.get(Property(number)), out)

        def box(out: int) -> int:
            if 30001 not in self.asked:
                return com.INVALID
            ctypes.cast(out, ctypes.POINTER(wintypes.RECT))[0] = wintypes.RECT(1, 2, 11, 22)
            return com.OK

        def pattern(number: int, interface: int, out: int) -> int:
            assert number == 10014
            assert ctypes.string_at(interface, 4) == bytes.fromhex("89a2eb32")  # Its first part, in Windows' order.
            return self._pattern(control).give(out) if control.text else com.OK

        return self._new(
            com.ELEMENT,
            {
                "FindAllBuildCache": ([com.NUMBER, com.ADDRESS, com.ADDRESS, com.ADDRESS], found),
                "GetCachedPropertyValue": ([com.NUMBER, com.ADDRESS], value),
                "GetCurrentPatternAs": ([com.NUMBER, com.ADDRESS, com.ADDRESS], pattern),
                "get_CachedBoundingRectangle": ([com.ADDRESS], box),
            },
        )

    def _list(self, items: Sequence[com.FakeCom], out: int) -> int:
        def length(place: int) -> int:
            ctypes.cast(place, ctypes.POINTER(com.NUMBER))[0] = len(items)
            return com.OK

        methods: dict[str, com.Method] = {
            "get_Length": ([com.ADDRESS], length),
            "GetElement": ([com.NUMBER, com.ADDRESS], lambda number, place: items[number].give(place)),
        }
        return self._new(com.ARRAY, methods).give(out)

    def _pattern(self, control: Control) -> com.FakeCom:
        methods: dict[str, com.Method] = {
            "get_DocumentRange": ([com.ADDRESS], lambda out: self._range(control.text, control).give(out)),
            "GetSelection": ([com.ADDRESS], lambda out: self._list([self._range(control.selected, control)], out)),
        }
        return self._new(com.TEXT_PATTERN, methods)

    def _range(self, text: str, control: Control) -> com.FakeCom:
        part = [text]

        def expand(unit: int) -> int:
            assert unit == 3
            part[0] = control.text.partition("\r\n")[0] + "\r\n"
            return com.OK

        methods: dict[str, com.Method] = {
            "Clone": ([com.ADDRESS], lambda out: self._range(text, control).give(out)),
            "ExpandToEnclosingUnit": ([com.NUMBER], expand),
            "GetText": ([com.NUMBER, com.ADDRESS], lambda most, out: self.strings.give(part[0][:most], out)),
        }
        return self._new(com.RANGE, methods)


EDITOR = Control(
    "Editor",
    text="first line\r\nsecond",
    selected="line",
    more={Property.HAS_TEXT: True, Property.HIDDEN: False, Property.KIND: 50030},
)
ROOT = Control("", [Control("Window", [EDITOR, Control("Dead", gone=True)])])


@pytest.fixture
def desktop(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeUiaDesktop]:
    made = FakeUiaDesktop(ROOT, EDITOR)

    def create(identity: str, interface: str) -> Com:
        assert (identity, interface) == (uia.AUTOMATION_8, uia.IUIAUTOMATION_2)
        automation = made.automation()
        automation.held += 1
        return Com(automation.address)

    monkeypatch.setattr(windows_com, "oleaut32", made.strings)
    monkeypatch.setattr(uia, "create", create)
    monkeypatch.setattr(uia, "join_com", lambda: None)
    yield made
    com.FakeCom.kept.clear()


class TestAutomation:
    def test_a_walk_gives_the_tree(self, desktop: FakeUiaDesktop) -> None:
        tree = ControlWalk(Automation(), WANTED).desktop()
        assert 'name="Editor"' in tree.xml
        assert ">first line\nsecond<" in tree.xml
        assert "(1, 2)" in tree.xml
        assert "(10, 20)" in tree.xml
        assert (tree.nodes, tree.cut) == (4, "a control did not answer")

    def test_every_property_is_asked_for_once_and_ahead(self, desktop: FakeUiaDesktop) -> None:
        Automation()
        assert desktop.asked == [*map(int, PROPERTIES), 30001]
        assert desktop.scope == 1
        assert desktop.timeouts == [3000, 3000]

    def test_all_that_was_lent_is_given_back(self, desktop: FakeUiaDesktop) -> None:
        automation = Automation()
        ControlWalk(automation, WANTED).desktop()
        automation.text_cursor(automation.focused())
        del automation
        gc.collect()
        assert [each.held for each in desktop.made if each.held] == []
        assert desktop.strings.lent == {}

    def test_the_selection_and_its_line(self, desktop: FakeUiaDesktop) -> None:
        automation = Automation()
        assert automation.text_cursor(automation.focused()) == ("line", "first line")

    def test_the_control_at_a_point(self, desktop: FakeUiaDesktop) -> None:
        automation = Automation()
        assert automation.control_info(automation.at(3, 4)).name == "Window"
        with raises_fields(GoneError, mentions="0x80040201"):
            automation.at(5, 5)


class TestWithoutIt:
    def test_the_older_one_is_tried(self, monkeypatch: pytest.MonkeyPatch) -> None:
        tried: list[str] = []

        def create(identity: str, interface: str) -> Com:
            tried.append(identity)
            raise ComError(interface, -2147221164)

        monkeypatch.setattr(uia, "create", create)
        monkeypatch.setattr(uia, "join_com", lambda: None)
        with raises_fields(ComError, code=0x80040154):
            Automation()
        assert tried == [uia.AUTOMATION_8, uia.AUTOMATION]
