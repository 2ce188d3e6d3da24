import pytest

from backend.domain.errors import Invalid
from backend.domain.formats.accessibility import Widget, widgets
from tests.error_codes import raises_code

UBUNTU = "https://accessibility.ubuntu.example.org/ns"
TREE = f"""<desktop-frame xmlns:st="{UBUNTU}/state" xmlns:cp="{UBUNTU}/component" xmlns:val="{UBUNTU}/value">
<application name="editor">
  <frame name="a.txt" st:active="true">
    <push-button name="Save" st:showing="true" st:sensitive="true" cp:screencoord="(10, 20)" cp:size="(30, 40)"/>
    <spin-button name="" st:showing="true" cp:screencoord="(-2147483648, 0)" cp:size="(1, 1)"
      val:value="2.0">2</spin-button>
  </frame>
  <frame name="b.txt"><label name="hidden"/></frame>
</application></desktop-frame>"""


def one(role: str) -> Widget:
    return next(widget for widget in widgets(TREE) if widget.role == role)


class TestWidgets:
    def test_name_states_and_rectangle(self) -> None:
        button = one("push-button")
        assert (button.name, button.rect) == ("Save", (10, 20, 30, 40))
        assert button.states == {"showing", "sensitive"}
        assert button.on_screen

    def test_where_it_is(self) -> None:
        assert (one("push-button").app, one("push-button").windows) == ("editor", ("a.txt",))
        assert one("push-button").in_active
        assert not one("label").in_active

    def test_text_and_value(self) -> None:
        assert (one("spin-button").text, one("spin-button").value) == ("2", 2.0)

    def test_a_widget_far_outside_is_not_on_the_screen(self) -> None:
        assert not one("spin-button").on_screen

    def test_other_namespaces_are_read_alike(self) -> None:
        assert widgets(TREE.replace(UBUNTU, "uri:deskat:x")) == widgets(TREE)

    @pytest.mark.parametrize("xml", ["", "<a", '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>'])
    def test_xml_with_declarations_is_rejected(self, xml: str) -> None:
        with raises_code(Invalid, "invalid_accessibility_tree"):
            widgets(xml)


WINDOWS = """<desktop xmlns:st="urn:st" xmlns:cp="urn:cp">
<notepad name="a.txt - Notepad" st:active="true" st:visible="true" cp:screencoord="(0, 0)" cp:size="(400, 300)">
  <edit name="" st:visible="true" st:focused="true" cp:screencoord="(4, 40)" cp:size="(390, 250)">milk</edit>
</notepad>
<dialog name="Font"><button name="OK" cp:screencoord="(4, 40)" cp:size="(9, 9)"/></dialog></desktop>"""


class TestWindows:
    """In a tree of Windows, windows are the root's children, whatever their role."""

    def test_a_windows_class_is_the_application_and_its_name_the_windows(self) -> None:
        (edit,) = [widget for widget in widgets(WINDOWS) if widget.role == "edit"]
        assert (edit.app, edit.windows, edit.in_active, edit.text) == ("notepad", ("a.txt - Notepad",), True, "milk")

    def test_visible_windows_are_listed(self) -> None:
        shown = {widget.role: widget.on_screen for widget in widgets(WINDOWS)}
        assert shown == {"notepad": True, "edit": True, "dialog": False, "button": False}

    def test_a_window_behind_is_not_the_active_one(self) -> None:
        assert [widget.in_active for widget in widgets(WINDOWS)] == [True, True, False, False]
